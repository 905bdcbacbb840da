/**
 * The partner's report of one settlement item on the real service: paid, or not possible (doc 3, Settlement reporting
 * rules; D12; A3-20). Many items in one report are in settlementBulk.test.ts.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import { get, partners, query, rowCounts, rowsOf } from "../support/Builders.ts"
import { type Answer, operator, type Service } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, partner, adjust } = await openScenario()

type Partner = Awaited<ReturnType<Service["partner"]>>
type Item = { readonly itemId: number; readonly clientId: number; readonly status: string }

describe("reports of a settlement item", () => {
  /** A separate client with one item of 10 USDC. */
  const owed = async (of: Partner = partner): Promise<Item> => {
    const clientId = await service.client(of.key)
    await adjust(clientId, "10")
    return (await items(of, `clientId=${clientId}`))[0] as Item
  }
  const list = (of: Partner, search: string): Promise<Answer> => get(service, of.key, `/settlement/items?${search}`)
  const items = async (of: Partner, search: string): Promise<ReadonlyArray<Item>> =>
    (await list(of, search)).json.data.items
  const report = (
    itemId: number | string,
    body: unknown,
    of: Partner = partner,
    headers: Readonly<Record<string, string>> = {}
  ): Promise<Answer> =>
    service.call("POST", `/partner/v1/settlement/items/${itemId}/report`, { key: of.key, body, headers })
  const settled = { status: "SETTLED", partnerTxRef: "tx-1" }
  const failed = { status: "FAILED", note: "bank closed" }

  describe("POST /settlement/items/{itemId}/report", () => {
    it("A1-02: an unknown item is unknown before its body is judged, however broken the body is", async () => {
      const { itemId } = await owed()
      const other = await service.partner()
      const send = (id: number, of: Partner) =>
        service.call("POST", `/partner/v1/settlement/items/${id}/report`, { key: of.key, raw: "{" })
      assert.deepStrictEqual(
        [await send(itemId, partner), await send(itemId, other), await send(999_999, partner)].map(
          ({ status, json }) => [status, json.code]
        ),
        [
          [400, 4000],
          [404, 4004],
          [404, 4004]
        ]
      )
    })

    it("D12: SETTLED, with the time of the request unless one is sent", async () => {
      const [a, b] = [await owed(), await owed()]
      const before = await service.run(Effect.map(BusinessClock, (clock) => clock.now()))
      const { status, json } = await report(a.itemId, { ...settled, note: "paid" })
      const { item, changed } = json.data
      assert.deepStrictEqual([status, json.code, changed], [200, 0, true])
      assert.deepStrictEqual(item, {
        ...a,
        status: "SETTLED",
        partnerTxRef: "tx-1",
        settledAt: item.reportedAt,
        reportedAt: item.reportedAt,
        note: "paid"
      })
      assert.isAtLeast(item.reportedAt, before)
      assert.deepStrictEqual((await items(partner, `clientId=${a.clientId}`))[0], item)
      const told = (await report(b.itemId, { ...settled, settledAt: 1 })).json.data.item
      assert.deepStrictEqual([told.settledAt, told.note], [1, null])
    })

    it("SC-SET-05, A3-20: FAILED stores the sent values, then SETTLED; every move is on the audit stream", async () => {
      const { itemId } = await owed()
      const first = (await report(itemId, { ...failed, partnerTxRef: "try-1", settledAt: 5 })).json.data
      assert.deepInclude(first.item, { status: "FAILED", partnerTxRef: "try-1", settledAt: 5, note: "bank closed" })
      const second = (await report(itemId, { ...settled, partnerTxRef: "tx-2" })).json.data
      assert.isTrue(second.changed)
      assert.deepInclude(second.item, { status: "SETTLED", partnerTxRef: "tx-2", note: null })
      const audit = await rowsOf(service, "audit", "object = $1", [`settlementItem:${itemId}`])
      assert.deepStrictEqual(
        audit.slice(1).map(({ action, before, after, role }) => [action, before, after, role]),
        [
          ["settlement.report", "PENDING", "FAILED", "PARTNER"],
          ["settlement.report", "FAILED", "SETTLED", "PARTNER"]
        ]
      )
      const plain = await owed()
      const bare = (await report(plain.itemId, { status: "FAILED" })).json.data.item
      assert.deepInclude(bare, { status: "FAILED", partnerTxRef: null, settledAt: null, note: null })
    })

    it.each([
      ["SETTLED", settled, { ...settled, partnerTxRef: "other", settledAt: 3, note: "new" }],
      ["FAILED", failed, { status: "FAILED", partnerTxRef: "other", note: "new" }]
    ])("A3-20: %s again is changed false and rewrites nothing", async (_status, once, again) => {
      const { itemId } = await owed()
      const first = await report(itemId, once)
      const counts = await rowCounts(service)
      const second = await report(itemId, again)
      assert.deepStrictEqual([second.status, second.json.data.changed], [200, false])
      assert.deepStrictEqual(second.json.data.item, first.json.data.item)
      assert.deepStrictEqual(await rowCounts(service), counts)
    })

    it("SC-SET-04: a settled item reported FAILED is refused with the item (409 4092)", async () => {
      const { itemId } = await owed()
      const { item } = (await report(itemId, settled)).json.data
      const counts = await rowCounts(service)
      const { status, json } = await report(itemId, failed)
      assert.deepStrictEqual([status, json.code, json.data], [409, 4092, { reason: "SETTLED_ALREADY", item }])
      assert.strictEqual(json.msg, "This item is settled already, so it can't be reported as failed.")
      assert.deepStrictEqual(await rowCounts(service), counts)
    })

    it("4004: an unknown item, a foreign one and an invalid id are answered alike, before the body is checked", async () => {
      const stranger = await service.partner()
      const { itemId } = await owed(stranger)
      const counts = await rowCounts(service)
      const none = await report(8_999_999, settled)
      assert.deepStrictEqual([none.status, none.json.code, none.json.msg], [404, 4004, "Settlement item not found."])
      for (const id of [itemId, "0", "01", "x", "1.0", "99999999999999999999"]) {
        for (const body of [settled, {}, { status: 1 }]) {
          const answer = await report(id, body)
          assert.deepStrictEqual([answer.status, answer.text], [404, none.text], String(id))
        }
      }
      assert.deepStrictEqual(await rowCounts(service), counts)
      assert.strictEqual((await report(itemId, settled, stranger)).json.data.changed, true)
    })

    it.each([
      ["no body", undefined, null],
      ["an empty object", {}, "status"],
      ["a list", [settled], null],
      ["PENDING", { status: "PENDING" }, "status"],
      ["SETTLED without a reference", { status: "SETTLED" }, "partnerTxRef"],
      ["a reference of 129 characters", { ...settled, partnerTxRef: "t".repeat(129) }, "partnerTxRef"],
      ["a settlement an hour ahead", { ...settled, settledAt: 4_000_000_000_000 }, "settledAt"],
      ["a note of 501 characters", { ...failed, note: "n".repeat(501) }, "note"]
    ])("4000: %s changes nothing", async (_title, body, field) => {
      const { itemId } = await owed()
      const counts = await rowCounts(service)
      const { status, json } = await report(itemId, body)
      assert.deepStrictEqual([status, json.code], [400, 4000])
      if (field === "status" || field === null) assert.match(json.msg, /\.$/)
      if (field !== null) assert.deepStrictEqual(json.data.errors, { [field]: json.msg })
      assert.deepStrictEqual(await rowCounts(service), counts)
    })

    it("A1-02: a READ key lists and a suspended partner does not; neither of them reports", async () => {
      const reader = await service.partner({}, "READ")
      assert.deepStrictEqual((await report(1, settled, reader)).json.code, 4034)
      assert.strictEqual((await list(reader, "")).status, 200)
      const suspended = await service.partner()
      const { itemId } = await owed(suspended)
      const status = (to: "ACTIVE" | "SUSPENDED") =>
        partners(service, (all) => all.status(operator, suspended.code, to, "test"))
      await status("SUSPENDED")
      assert.strictEqual((await report(itemId, settled, suspended)).json.code, 4037)
      assert.strictEqual((await list(suspended, "")).json.code, 4037)
      await status("ACTIVE")
      assert.isTrue((await report(itemId, settled, suspended)).json.data.changed)
    })

    it("Idempotency: a key replays changes, repeats and refusals byte for byte", async () => {
      const { itemId } = await owed()
      const keyed = (key: string, body: unknown) => report(itemId, body, partner, { "idempotency-key": `item-${key}` })
      const first = await keyed("1", failed)
      assert.isTrue((await report(itemId, settled)).json.data.changed)
      const replayed = await keyed("1", failed)
      assert.deepStrictEqual([replayed.status, replayed.text], [200, first.text])
      assert.strictEqual(replayed.headers["idempotency-replayed"], "true")
      for (const [key, body, status] of [
        ["2", settled, 200],
        ["3", failed, 409],
        ["4", {}, 400]
      ] as const) {
        const once = await keyed(key, body)
        const again = await keyed(key, body)
        assert.deepStrictEqual([once.status, again.status, again.text], [status, status, once.text])
        assert.strictEqual(again.headers["idempotency-replayed"], "true")
      }
      assert.strictEqual((await keyed("1", settled)).json.code, 4092)
      const stored = await query(service, "SELECT key FROM answers WHERE key LIKE 'item-%'")
      assert.lengthOf(stored, 4)
    })

    it("D12: of twenty reports at once one changes the item; the others repeat it", async () => {
      const { itemId } = await owed()
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => report(itemId, { ...settled, partnerTxRef: `race-${n}` }))
      )
      assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
      const winners = answers.filter(({ json }) => json.data.changed)
      assert.lengthOf(winners, 1)
      for (const { json } of answers) assert.deepStrictEqual(json.data.item, winners[0]?.json.data.item)
      assert.lengthOf(await rowsOf(service, "audit", "object = $1", [`settlementItem:${itemId}`]), 2)
    })

    it("D12: SETTLED and FAILED at once end SETTLED, however they meet", async () => {
      for (let round = 0; round < 5; round++) {
        const { itemId } = await owed()
        const answers = await Promise.all(
          Array.from({ length: 8 }, (_, n) => report(itemId, n % 2 === 0 ? settled : failed))
        )
        for (const { status } of answers) assert.include([200, 409], status)
        assert.lengthOf(
          answers.filter(({ json }) => json.data.changed === true && json.data.item.status === "SETTLED"),
          1
        )
        const [row] = await rowsOf(service, "settlementItems", "id = $1", [BigInt(itemId)])
        assert.strictEqual(row?.state, "SETTLED")
      }
    })
  })
})
