/** Keyset pages (A1-09): one row more than the page is read, removed, and shown as hasMore and nextBefore. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { cutPage, onePast, type PageQuery } from "../../../src/runtime/store/paging.ts"

/** The rows of a table with the ids 1 to `count`, newest first. */
const stored =
  (count: number) =>
  ({ limit, before }: PageQuery): ReadonlyArray<{ readonly id: number }> =>
    Array.from({ length: count }, (_, index) => ({ id: count - index }))
      .filter(({ id }) => before === undefined || id < before)
      .slice(0, limit)

describe("pages", () => {
  it("a walk by nextBefore shows every row once, newest first, and only the last page has no next one", () => {
    fc.assert(
      fc.property(fc.nat(40), fc.integer({ min: 1, max: 12 }), (count, limit) => {
        const read = stored(count)
        const seen: Array<number> = []
        let before: number | undefined
        for (;;) {
          const query = before === undefined ? { limit } : { limit, before }
          const { shown, end } = cutPage(read(onePast(query)), limit, ({ id }) => id)
          seen.push(...shown.map(({ id }) => id))
          assert.isAtMost(shown.length, limit)
          assert.strictEqual(end.hasMore, seen.length < count)
          if (end.nextBefore === null) break
          assert.strictEqual(end.nextBefore, shown.at(-1)?.id)
          before = end.nextBefore
        }
        assert.deepStrictEqual(
          seen,
          stored(count)({ limit: count }).map(({ id }) => id)
        )
      })
    )
  })

  it.each([
    ["nothing", 0, 3, { hasMore: false, nextBefore: null }],
    ["exactly a page", 3, 3, { hasMore: false, nextBefore: null }],
    ["one more", 4, 3, { hasMore: true, nextBefore: 2 }]
  ])("%s", (_, count, limit, end) => {
    assert.deepStrictEqual(cutPage(stored(count)(onePast({ limit })), limit, ({ id }) => id).end, end)
  })
})
