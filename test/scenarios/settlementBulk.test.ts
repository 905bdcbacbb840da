/**
 * The bulk settlement report on the real service (doc 3, Settlement reporting rules 2 and Endpoints; A3-21; doc 1,
 * Idempotency; A1-51, A1-52).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Adjustments } from "../../src/runtime/services/money/ledger/Adjustments.ts"
import { AnswerStore } from "../../src/runtime/store/AnswerStore.ts"
import { advance, dayMillis, get, partners, rowCounts, rowsOf } from "../support/Builders.ts"
import { type Answer, operator } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, partner } = await openScenario()
const clients = await Promise.all(Array.from({ length: 3 }, () => service.client(partner.key)))

describe("POST /settlement/report", () => {
  const settled = (itemId: number, partnerTxRef = `tx-${itemId}`) => ({ itemId, status: "SETTLED", partnerTxRef })
  const failed = (itemId: number) => ({ itemId, status: "FAILED", note: "later" })

  /** Ids of new items, distributed over the clients in turn. */
  const owe = async (count: number, of: ReadonlyArray<number> = clients): Promise<ReadonlyArray<number>> => {
    const made = await service.run(
      Effect.flatMap(Adjustments, (adjustments) =>
        Effect.forEach(
          Array.from({ length: count }, (_, n) => of[n % of.length] as number),
          (clientId) => adjustments.adjust(operator, String(clientId), { currency: "USDC", amount: "1", reason: "t" }),
          { concurrency: 32 }
        )
      ).pipe(Effect.provide(Adjustments.layer))
    )
    const txIds = new Set(made.map((verdict) => (verdict.ok ? verdict.value.ledgerTxId : 0)))
    return (await rowsOf(service, "settlementItems")).filter(({ txId }) => txIds.has(txId)).map(({ id }) => id)
  }
  const report = (items: unknown, headers: Readonly<Record<string, string>> = {}, key = partner.key): Promise<Answer> =>
    service.call("POST", "/partner/v1/settlement/report", { key, body: { items }, headers })
  const counters = ({ json }: Answer) => {
    const { settled: done, failed: not, unchanged, refused } = json.data
    return { settled: done, failed: not, unchanged, refused }
  }
  const statusOf = async (id: number) => (await rowsOf(service, "settlementItems", "id = $1", [BigInt(id)]))[0]?.state

  it("SC-SET-06: 500 entries with a bad id, a repeat and a FAILED after SETTLED; the same key replays", async () => {
    const other = await service.partner()
    const [foreign = 0] = await owe(1, [await service.client(other.key)])
    const ids = await owe(494)
    const [first = 0, second = 0] = ids
    const items = [
      ...ids.map((id) => settled(id)),
      settled(first, "another"),
      failed(second),
      settled(foreign),
      settled(999_999_999),
      { itemId: "x", status: "SETTLED" },
      { itemId: ids[2], status: "DONE" }
    ]
    const answer = await report(items, { "idempotency-key": "bulk-500" })
    assert.strictEqual(answer.status, 200, answer.text)
    assert.deepStrictEqual(counters(answer), { settled: 494, failed: 0, unchanged: 1, refused: 5 })
    const { results } = answer.json.data
    assert.deepStrictEqual(
      results.slice(0, 495),
      [...ids, first].map((itemId, n) => ({ itemId, ok: true, changed: n < 494, status: "SETTLED" }))
    )
    assert.deepStrictEqual(
      results.slice(495).map(({ itemId, ok, code }: Record<string, unknown>) => [itemId, ok, code]),
      [
        [second, false, 4092],
        [foreign, false, 4004],
        [999_999_999, false, 4004],
        [null, false, 4000],
        [ids[2], false, 4000]
      ]
    )
    for (const row of results.slice(495)) assert.hasAllKeys(row, ["itemId", "ok", "code", "msg"])
    const [kept] = await rowsOf(service, "settlementItems", "id = $1", [BigInt(first)])
    assert.strictEqual(kept?.context["partnerTxRef"], `tx-${first}`)
    assert.strictEqual(await statusOf(foreign), "PENDING")
    const before = await rowCounts(service)
    const again = await report(items, { "idempotency-key": "bulk-500" })
    assert.deepStrictEqual([again.status, again.text], [answer.status, answer.text])
    assert.strictEqual(again.headers["idempotency-replayed"], "true")
    const reused = await report(items.slice(1), { "idempotency-key": "bulk-500" })
    assert.deepStrictEqual([reused.status, reused.json.code], [409, 4092])
    assert.deepStrictEqual(await rowCounts(service), before)
  })

  it("SC-SET-05, A3-21: entries of one item act in order: FAILED, again FAILED, SETTLED, then FAILED is refused", async () => {
    const [id = 0, other = 0] = await owe(2)
    const answer = await report([failed(id), failed(id), settled(other), settled(id), failed(id)])
    assert.deepStrictEqual(counters(answer), { settled: 2, failed: 1, unchanged: 1, refused: 1 })
    assert.deepStrictEqual(
      answer.json.data.results.map(({ changed, code }: Record<string, unknown>) => changed ?? code),
      [true, false, true, true, 4092]
    )
    const audit = await rowsOf(service, "audit", "object = $1", [`settlementItem:${id}`])
    assert.deepStrictEqual(
      audit.map(({ action, before, after, keyLabel }) => [action, before, after, keyLabel]),
      [
        ["settlement.item", null, "PENDING", "test"],
        ["settlement.report", "PENDING", "FAILED", "test"],
        ["settlement.report", "FAILED", "SETTLED", "test"]
      ]
    )
  })

  it.each([
    ["no reference on SETTLED", { status: "SETTLED" }],
    ["a time in the future", { status: "SETTLED", partnerTxRef: "t", settledAt: 9_000_000_000_000 }],
    ["a long note", { status: "FAILED", note: "x".repeat(501) }],
    ["a status of no report", { status: "PENDING" }],
    ["no status", {}]
  ])("rule 2: %s earns its entry 4000 with the sentence of a single report", async (_title, fields) => {
    const [id = 0] = await owe(1)
    const answer = await report([{ itemId: id, ...fields }])
    const single = await service.call("POST", `/partner/v1/settlement/items/${id}/report`, {
      key: partner.key,
      body: fields
    })
    assert.deepStrictEqual(answer.json.data.results, [{ itemId: id, ok: false, code: 4000, msg: single.json.msg }])
    assert.strictEqual(await statusOf(id), "PENDING")
  })

  it.each([
    ["nothing", { key: "no" }],
    ["an empty list", { items: [] }],
    ["501 entries", { items: Array.from({ length: 501 }, () => settled(1)) }]
  ])("Endpoints: %s is refused as a whole with 400 and writes nothing", async (_title, body) => {
    const before = await rowCounts(service)
    const answer = await service.call("POST", "/partner/v1/settlement/report", { key: partner.key, body })
    assert.deepStrictEqual([answer.status, answer.json.code], [400, 4000])
    assert.deepStrictEqual(await rowCounts(service), before)
  })

  it("A1-53: without a key a repetition is another request: it finds its items changed", async () => {
    const ids = await owe(4)
    const items = ids.map((id) => settled(id))
    const parts = await rowsOf(service, "bulkReportParts")
    assert.deepStrictEqual(counters(await report(items)), { settled: 4, failed: 0, unchanged: 0, refused: 0 })
    assert.deepStrictEqual(counters(await report(items)), { settled: 0, failed: 0, unchanged: 4, refused: 0 })
    assert.deepStrictEqual(await rowsOf(service, "bulkReportParts"), parts)
  })

  it("rule 4: a report never moves the interfirm balance, and fires no event", async () => {
    const ids = await owe(3)
    const summary = async () =>
      (await get(service, partner.key, "/settlement/summary")).json.data.currencies[0].interfirm
    const before = await summary()
    const events = (await rowsOf(service, "events")).length
    await report([settled(ids[0] ?? 0), failed(ids[1] ?? 0)])
    assert.deepStrictEqual(await summary(), before)
    assert.lengthOf(await rowsOf(service, "events"), events)
  })

  it("two bulk reports and single ones at once: every item changes once, and all answers agree with that", async () => {
    const ids = await owe(60)
    const answers = await Promise.all([
      report(ids.map((id) => settled(id))),
      report(ids.toReversed().map((id) => settled(id))),
      ...ids.slice(0, 30).map((id) =>
        service.call("POST", `/partner/v1/settlement/items/${id}/report`, {
          key: partner.key,
          body: { status: "SETTLED", partnerTxRef: "single" }
        })
      )
    ])
    const [one, two, ...singles] = answers
    assert.isTrue(answers.every(({ status }) => status === 200))
    const changed =
      one.json.data.settled + two.json.data.settled + singles.filter(({ json }) => json.data.changed).length
    assert.strictEqual(changed, 60)
    assert.strictEqual(one.json.data.refused + two.json.data.refused, 0)
  })

  it("the same key twice at once runs once", async () => {
    const ids = await owe(6)
    const send = () =>
      report(
        ids.map((id) => settled(id)),
        { "idempotency-key": "twice" }
      )
    const [one, two] = await Promise.all([send(), send()])
    assert.strictEqual(one.text, two.text)
    assert.strictEqual(one.json.data.settled, 6)
  })

  it("a suspended partner's report stops, is not stored under its key, and continues afterwards", async () => {
    const own = await service.partner()
    const [id = 0] = await owe(1, [await service.client(own.key)])
    await partners(service, (p) => p.status(operator, own.code, "SUSPENDED", "test"))
    const refused = await report([settled(id)], { "idempotency-key": "s" }, own.key)
    assert.deepStrictEqual([refused.status, refused.json.code], [403, 4037])
    await partners(service, (p) => p.status(operator, own.code, "ACTIVE", "test"))
    assert.strictEqual((await report([settled(id)], { "idempotency-key": "s" }, own.key)).json.data.settled, 1)
  })

  it("A1-52: after 24 hours the key is free for another request, and the parts are swept with the answers", async () => {
    const [id = 0, other = 0] = await owe(2)
    await report([settled(id)], { "idempotency-key": "day" })
    await advance(service, dayMillis)
    const next = await report([settled(id), settled(other)], { "idempotency-key": "day" })
    assert.deepStrictEqual(counters(next), { settled: 1, failed: 0, unchanged: 1, refused: 0 })
    const now = (await rowsOf(service, "answers", "key = 'day'"))[0]?.answeredAt ?? 0
    const swept = await service.run(
      Effect.flatMap(AnswerStore, (answers) => answers.sweepParts(now - dayMillis + 1, 2_000))
    )
    assert.isAbove(swept, 0)
    const parts = await rowsOf(service, "bulkReportParts")
    assert.isTrue(parts.every(({ key, decidedAt }) => key === "day" && decidedAt > now - dayMillis))
  })
})
