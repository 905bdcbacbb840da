/**
 * The bulk settlement report without its items: entries, rows, counters (doc 3, Settlement reporting rules 2;
 * A3-21), the days of a window, and the published arithmetic (doc 3, Settlement summary).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  acceptedRow,
  bulkAnswer,
  decodeBulkReport,
  type PlacedRow,
  refusedRow
} from "../../src/machines/settlement/BulkReportBody.ts"
import { dayWindow, everythingUntil, type Span } from "../../src/machines/settlement/dayWindow.ts"
import { interfirmOf, noItems, stateFigures } from "../../src/machines/settlement/SettlementFigures.ts"

const settled = { status: "SETTLED", partnerTxRef: "tx" }

describe("doc 3, Settlement reporting rules 2: the request", () => {
  it.each([
    ["no object", []],
    ["no items", {}],
    ["items null", { items: null }],
    ["items no list", { items: { length: 1 } }],
    ["no entry", { items: [] }],
    ["501 entries", { items: Array.from({ length: 501 }, () => ({ itemId: 1, ...settled })) }]
  ])("%s: the whole request is refused", (_title, body) => {
    const decoded = decodeBulkReport(body)
    assert.isFalse(decoded.ok)
    if (!decoded.ok) assert.strictEqual(decoded.refusal._tag, "Invalid")
  })

  it("1 and 500 entries are accepted, in their order, whatever they report", () => {
    for (const count of [1, 500]) {
      const items = Array.from({ length: count }, (_, n) => ({ itemId: n + 1, status: "WHAT" }))
      const decoded = decodeBulkReport({ items })
      assert.isTrue(decoded.ok)
      if (!decoded.ok) return
      assert.strictEqual(decoded.body.count, count)
      assert.deepStrictEqual(
        decoded.body.entries,
        items.map(({ itemId, status }, place) => ({ place, itemId, report: { status } }))
      )
    }
  })

  it.each([
    ["missing", {}],
    ["null", { itemId: null }],
    ["text", { itemId: "12" }],
    ["a fraction", { itemId: 1.5 }],
    ["beyond exact numbers", { itemId: 2 ** 53 }],
    ["no object at all", 7],
    ["a list", [1]]
  ])("A3-21: an itemId that is %s causes code 4000 for its entry alone", (_title, item) => {
    const decoded = decodeBulkReport({ items: [{ itemId: 3, ...settled }, item] })
    assert.isTrue(decoded.ok)
    if (!decoded.ok) return
    assert.deepStrictEqual(
      decoded.body.entries.map(({ place }) => place),
      [0]
    )
    const [[place, row] = [0, undefined]] = decoded.body.refused
    assert.deepStrictEqual([place, row?.itemId, row?.ok, row?.ok === false && row.code], [1, null, false, 4000])
  })
})

describe("doc 3, Settlement reporting rules 2: the answer", () => {
  const row = fc.oneof(
    fc
      .record({ changed: fc.boolean(), status: fc.constantFrom("SETTLED" as const, "FAILED" as const) })
      .map(({ changed, status }) => acceptedRow(1, changed, status)),
    fc.constantFrom("invalid" as const, "unknown" as const, "conflict" as const).map((why) => refusedRow(1, why, "no"))
  )

  it("every row is counted once, and rows come in the order of the request", () => {
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 20 }), fc.infiniteStream(fc.double()), (rows, keys) => {
        const placed = rows.map((each, place): PlacedRow => [place, each])
        const order = new Map(placed.map((each) => [each, keys.next().value]))
        const answer = bulkAnswer(
          rows.length,
          placed.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0))
        )
        assert.deepStrictEqual(answer.results, rows)
        assert.strictEqual(answer.settled + answer.failed + answer.unchanged + answer.refused, rows.length)
      })
    )
  })

  it("counts by what happened", () => {
    const rows = [
      acceptedRow(1, true, "SETTLED"),
      acceptedRow(2, true, "FAILED"),
      acceptedRow(1, false, "SETTLED"),
      refusedRow(3, "conflict", "no"),
      acceptedRow(4, true, "SETTLED")
    ]
    const {
      settled: done,
      failed,
      unchanged,
      refused
    } = bulkAnswer(
      5,
      rows.map((each, place) => [place, each])
    )
    assert.deepStrictEqual([done, failed, unchanged, refused], [2, 1, 1, 1])
  })

  it("a place without row, or with two, is a defect", () => {
    const one = acceptedRow(1, true, "SETTLED")
    assert.throws(() => bulkAnswer(2, [[0, one]]))
    assert.throws(() =>
      bulkAnswer(2, [
        [0, one],
        [0, one]
      ])
    )
  })
})

describe("A3-22: a window as days and parts of days", () => {
  const day = 86_400_000
  const inside = ({ from, to }: Span, at: number): number => (at >= from && at <= to ? 1 : 0)
  const time = fc.oneof(
    fc.integer({ min: 0, max: 4 * day }),
    fc.integer({ min: 0, max: 4 }).chain((n) => fc.constantFrom(Math.max(0, n * day - 1), n * day, n * day + 1))
  )

  it("every moment of the window up to now is in exactly one part, every other one in none", () => {
    fc.assert(
      fc.property(time, time, time, time, (from, to, now, at) => {
        fc.pre(at <= now)
        const { days, edges } = dayWindow(from, to, now)
        const found = inside(days, Math.floor(at / day)) + inside(edges[0], at) + inside(edges[1], at)
        assert.strictEqual(found, inside({ from, to }, at))
        const { lastDay, part } = everythingUntil(to, now)
        assert.strictEqual((Math.floor(at / day) <= lastDay ? 1 : 0) + inside(part, at), at <= to ? 1 : 0)
      }),
      { numRuns: 2_000 }
    )
  })

  it("everything up to now, the usual query, reads whole days alone", () => {
    const { edges } = dayWindow(0, 3 * day + 5, 3 * day + 5)
    for (const { from, to } of edges) assert.isAbove(from, to)
  })
})

describe("doc 3, Settlement summary: arithmetic", () => {
  it("SET-001: the debts of both firms", () => {
    const items = {
      PENDING: { count: 2, credits: 120_500_000n, debits: 30_250_000n },
      SETTLED: { count: 1, credits: 0n, debits: 10_000_000n },
      FAILED: { count: 1, credits: 5_000_000n, debits: 0n }
    }
    assert.deepStrictEqual(interfirmOf(items, 50_000_000n), {
      currency: "USDC",
      owedToPartner: "125.500000",
      owedByPartner: "40.250000",
      net: "85.250000",
      settlementsRecorded: "50.000000",
      outstanding: "35.250000"
    })
    assert.deepStrictEqual(stateFigures(items.PENDING), {
      count: 2,
      amount: "90.250000",
      credits: "120.500000",
      debits: "30.250000"
    })
    assert.strictEqual(interfirmOf({ ...items, PENDING: noItems }, 0n).net, "-5.000000")
  })
})
