/**
 * The fair limiter with the limits of uploads: which work waits, which lets others pass, which is refused; and the list of
 * documents that has no pages (architecture 8; doc 1, Document).
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import * as fc from "fast-check"
import { yieldToEventLoop } from "../../../src/runtime/engine/yieldToEventLoop.ts"
import { documentsOf, uploadRoom } from "../../../src/runtime/services/clients/document/Documents.ts"
import { FairLimiter } from "../../../src/runtime/services/shared/FairLimiter.ts"
import type { DocumentRow } from "../../../src/runtime/tables/document.ts"

const hour = 3_600_000

/** Uploads that hold their room until they are ended by name. */
const hall = (room: FairLimiter) => {
  const started: Array<string> = []
  const ends = new Map<string, Deferred.Deferred<void>>()
  const enter = (name: string, partnerId: number, size: number) =>
    Effect.suspend(() => {
      const end = Deferred.makeUnsafe<void>()
      ends.set(name, end)
      return Effect.forkDetach(
        room.within(
          partnerId,
          size,
          Effect.andThen(
            Effect.sync(() => started.push(name)),
            Deferred.await(end)
          )
        ),
        { startImmediately: true }
      )
    })
  const leave = (name: string) =>
    Effect.andThen(Deferred.succeed(ends.get(name) as Deferred.Deferred<void>, undefined), yieldToEventLoop)
  return { started, enter, leave }
}

describe("architecture 8: uploads wait for room", () => {
  it.effect("architecture 8: who waits comes in order of arrival; a small one does not overtake", () =>
    Effect.gen(function* () {
      const { started, enter, leave } = hall(
        new FairLimiter({ ...uploadRoom, capacity: 10, share: 10, waitMillis: hour })
      )
      yield* enter("a", 1, 6)
      yield* enter("b", 2, 6)
      yield* enter("c", 3, 2)
      assert.deepStrictEqual(started, ["a"])
      yield* leave("a")
      assert.deepStrictEqual(started, ["a", "b", "c"])
    })
  )

  it.effect("architecture 8: a partner that has its share is passed over", () =>
    Effect.gen(function* () {
      const { started, enter, leave } = hall(
        new FairLimiter({ ...uploadRoom, capacity: 10, share: 5, waitMillis: hour })
      )
      yield* enter("a", 1, 5)
      yield* enter("b", 1, 5)
      yield* enter("c", 2, 5)
      assert.deepStrictEqual(started, ["a", "c"])
      yield* leave("a")
      assert.deepStrictEqual(started, ["a", "c", "b"])
    })
  )

  it.effect("architecture 8: without room in time, or in the queue, the caller is asked to come back", () =>
    Effect.gen(function* () {
      const room = new FairLimiter({
        ...uploadRoom,
        capacity: 10,
        share: 10,
        waiting: 10,
        waitingShare: 6,
        waitMillis: 1
      })
      const { enter, leave } = hall(room)
      yield* enter("a", 1, 10)
      const late = yield* enter("late", 2, 6)
      for (const [partnerId, size] of [
        [2, 1],
        [3, 5]
      ] as const) {
        const exit = yield* Effect.exit(room.within(partnerId, size, Effect.void))
        assert.isTrue(Exit.isFailure(exit))
      }
      assert.isTrue(Exit.isFailure(yield* Fiber.await(late)))
      yield* leave("a")
      assert.strictEqual(yield* room.within(2, 10, Effect.succeed("in")), "in")
    })
  )

  it.effect("architecture 8: who hangs up leaves the queue, and gives back what it had", () =>
    Effect.gen(function* () {
      const { started, enter } = hall(new FairLimiter({ ...uploadRoom, capacity: 10, share: 10, waitMillis: hour }))
      const a = yield* enter("a", 1, 10)
      const b = yield* enter("b", 2, 10)
      yield* enter("c", 3, 10)
      yield* Fiber.interrupt(b)
      yield* Fiber.interrupt(a)
      yield* yieldToEventLoop
      assert.deepStrictEqual(started, ["a", "c"])
    })
  )

  it("architecture 8: whatever comes and goes, nobody holds more than allowed and nothing is lost", async () => {
    const uploads = fc.array(
      fc.record({ partnerId: fc.integer({ min: 1, max: 3 }), size: fc.integer({ min: 1, max: 5 }) }),
      {
        maxLength: 30
      }
    )
    await fc.assert(
      fc.asyncProperty(uploads, async (list) => {
        const room = new FairLimiter({
          ...uploadRoom,
          capacity: 10,
          share: 5,
          waiting: 1_000,
          waitingShare: 1_000,
          waitMillis: hour
        })
        const held = new Map<number, number>()
        const add = (partnerId: number, size: number): void => {
          held.set(partnerId, (held.get(partnerId) ?? 0) + size)
          assert.isAtMost(held.get(partnerId) as number, 5)
          assert.isAtMost(
            [...held.values()].reduce((sum, part) => sum + part, 0),
            10
          )
        }
        const work = ({ partnerId, size }: (typeof list)[number]) =>
          room.within(
            partnerId,
            size,
            Effect.gen(function* () {
              add(partnerId, size)
              yield* Effect.yieldNow
              add(partnerId, -size)
              return size
            })
          )
        const done = await Effect.runPromise(Effect.forEach(list, work, { concurrency: "unbounded" }))
        assert.deepStrictEqual(
          done,
          list.map(({ size }) => size)
        )
      })
    )
  })
})

describe("architecture 8: long work on the only thread", () => {
  it("architecture 8: a pause lets what has arrived be served first", async () => {
    const order: Array<string> = []
    setImmediate(() => order.push("arrived"))
    await Effect.runPromise(
      Effect.andThen(
        yieldToEventLoop,
        Effect.sync(() => order.push("went on"))
      )
    )
    assert.deepStrictEqual(order, ["arrived", "went on"])
  })
})

describe("doc 1, Document: the list", () => {
  it.each([0, 1, 9, 10, 11, 20, 25])(
    "doc 1, Document: of %i documents none is left out, newest first",
    async (count) => {
      const ids = Array.from({ length: count }, (_, n) => 3 * (count - n))
      const page = (_: string, __: unknown, { limit, before = Infinity }: { limit: number; before?: number }) =>
        Effect.succeed(
          ids
            .filter((id) => id < before)
            .slice(0, limit)
            .map((id) => ({ id }))
        )
      const rows = await Effect.runPromise(documentsOf({ page: page as never }, 7, 10))
      assert.deepStrictEqual(
        rows.map(({ id }: DocumentRow) => id),
        ids
      )
    }
  )
})
