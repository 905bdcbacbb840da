/**
 * Settlement items of PARTNER custody on the real service: items from the operator's corrections, and the lists; the
 * partner's reports are in settlementItemReports.test.ts (doc 3, Settlement item and Endpoints; A3-18, A3-28).
 */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import { collateral, get, ofClient, partners, rowsOf } from "../support/Builders.ts"
import { type Answer, operator, type Service } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, partner, adjust } = await openScenario()

type Partner = Awaited<ReturnType<Service["partner"]>>
type Item = { readonly itemId: number; readonly clientId: number; readonly status: string }

describe("settlement items", () => {
  const client = (of: Partner = partner) => service.client(of.key)
  const list = (of: Partner, search: string): Promise<Answer> => get(service, of.key, `/settlement/items?${search}`)
  const items = async (of: Partner, search: string): Promise<ReadonlyArray<Item>> =>
    (await list(of, search)).json.data.items
  const idsOf = (answer: Answer): ReadonlyArray<number> => answer.json.data.items.map((item: Item) => item.itemId)
  const report = (
    itemId: number | string,
    body: unknown,
    of: Partner = partner,
    headers: Readonly<Record<string, string>> = {}
  ): Promise<Answer> =>
    service.call("POST", `/partner/v1/settlement/items/${itemId}/report`, { key: of.key, body, headers })
  const settled = { status: "SETTLED", partnerTxRef: "tx-1" }
  const failed = { status: "FAILED", note: "bank closed" }

  describe("birth", () => {
    it("Settlement item: a correction makes one item, its event and its audit row, all answered alike", async () => {
      const clientId = await client()
      const txId = await adjust(clientId, "2.5", "USDC", "fix-1")
      const [item] = await items(partner, `clientId=${clientId}`)
      const [tx] = await rowsOf(service, "ledgerTransactions", "tx_id = $1", [BigInt(txId)])
      assert.deepStrictEqual(item, {
        itemId: item?.itemId,
        clientId,
        clientUid: `${partner.code}-${String(clientId).padStart(8, "0")}`,
        partnerClientRef: (await get(service, partner.key, `/clients/${clientId}`)).json.data.partnerClientRef,
        type: "MANUAL",
        currency: "USDC",
        amount: "2.500000",
        refs: { adjustmentId: txId, reference: "fix-1" },
        occurredAt: tx?.ts,
        status: "PENDING",
        partnerTxRef: null,
        settledAt: null,
        reportedAt: null,
        note: null,
        ledgerTxId: txId,
        createdAt: tx?.ts
      } as never)
      const events = await ofClient(service, "events", clientId)
      assert.deepStrictEqual(
        events.slice(1).map(({ name, data, ts }) => ({ name, data, ts })),
        [{ name: "settlement.item_created", data: item as never, ts: tx?.ts as number }]
      )
      const audit = await rowsOf(service, "audit", "object = $1", [`settlementItem:${item?.itemId}`])
      assert.deepStrictEqual(
        audit.map(({ clientId: of, action, before, after, role }) => ({ of, action, before, after, role })),
        [{ of: clientId, action: "settlement.item", before: null, after: "PENDING", role: "ADMIN" }]
      )
    })

    it("Settlement item: amounts are signed from the client's view", async () => {
      const clientId = await client()
      await adjust(clientId, "7")
      await adjust(clientId, "-0.000001")
      const made = await items(partner, `clientId=${clientId}`)
      assert.deepStrictEqual(
        made.map((item) => (item as never as { amount: string }).amount),
        ["-0.000001", "7.000000"]
      )
    })

    it("A3-18: other currencies and collateral reports make no item", async () => {
      const clientId = await client()
      await adjust(clientId, "5", "EUR")
      const body = { partnerRef: "settlement-in", direction: "DEPOSIT", amount: "3" }
      await service.call("POST", `/partner/v1/clients/${clientId}/collateral`, { key: partner.key, body })
      const out = { ...body, partnerRef: "settlement-out", direction: "WITHDRAWAL" }
      await service.call("POST", `/partner/v1/clients/${clientId}/collateral`, { key: partner.key, body: out })
      assert.lengthOf(await ofClient(service, "ledgerTransactions", clientId), 3)
      assert.deepStrictEqual(await items(partner, `clientId=${clientId}`), [])
    })

    it("custody models: a BROKER-custody client has no items; its partner may still read them", async () => {
      const broker = await service.partner({ custody: "BROKER", collateralAsset: "" })
      const clientId = await client(broker)
      await adjust(clientId, "5")
      assert.deepStrictEqual((await list(broker, "status=PENDING")).json, {
        code: 0,
        data: { items: [], hasMore: false, nextBefore: null }
      })
      assert.deepStrictEqual((await report(1, settled, broker)).status, 404)
      assert.deepStrictEqual(await ofClient(service, "settlementItems", clientId), [])
    })
  })

  describe("GET /settlement/items", () => {
    let lister: Partner
    let first: number
    let second: number
    let all: ReadonlyArray<number>

    beforeAll(async () => {
      lister = await service.partner()
      first = await client(lister)
      second = await client(lister)
      for (let n = 1; n <= 3; n++) {
        await adjust(first, `${n}`)
        await adjust(second, `${n}`)
      }
      all = idsOf(await list(lister, ""))
      await report(all[0] as number, settled, lister)
      await report(all[1] as number, failed, lister)
    })

    it("Endpoints: partner-wide, newest first, paged by an exclusive cursor", async () => {
      assert.deepStrictEqual(
        all,
        all.toSorted((a, b) => b - a)
      )
      assert.lengthOf(all, 6)
      const seen: Array<number> = []
      let cursor = ""
      for (let page = 0; page < 3; page++) {
        const answer = await list(lister, `limit=2${cursor}`)
        const { hasMore, nextBefore } = answer.json.data
        seen.push(...idsOf(answer))
        assert.deepStrictEqual([hasMore, nextBefore], page < 2 ? [true, seen.at(-1)] : [false, null])
        cursor = `&before=${nextBefore}`
      }
      assert.deepStrictEqual(seen, all)
    })

    it.each([
      ["SETTLED", [0]],
      ["FAILED", [1]],
      ["PENDING", [2, 3, 4, 5]]
    ] as const)("Endpoints: status %s", async (status, places) => {
      assert.deepStrictEqual(
        idsOf(await list(lister, `status=${status}`)),
        places.map((place) => all[place] as number)
      )
    })

    it("Endpoints: a client by id or uid, together with the other filters", async () => {
      const [shown] = await items(lister, `clientId=${second}`)
      const uid = (shown as never as { clientUid: string }).clientUid
      const byUid = await list(lister, `clientId=${uid}`)
      assert.deepStrictEqual(idsOf(byUid), idsOf(await list(lister, `clientId=${second}`)))
      assert.deepStrictEqual(new Set(byUid.json.data.items.map((item: Item) => item.clientId)), new Set([second]))
      const settledThere = await list(lister, `clientId=${second}&status=SETTLED&limit=1`)
      assert.deepStrictEqual([idsOf(settledThere), settledThere.json.data.hasMore], [[all[0] as number], false])
    })

    it("Endpoints: since selects items that occurred then or later", async () => {
      await service.run(Effect.map(BusinessClock, (clock) => clock.setOffset(clock.offset() + 60_000)))
      await adjust(first, "4")
      const [newest, ...older] = (await list(lister, "")).json.data.items
      const at = newest.occurredAt
      assert.deepStrictEqual(idsOf(await list(lister, `since=${at}`)), [newest.itemId])
      assert.deepStrictEqual(idsOf(await list(lister, `since=${at + 1}`)), [])
      assert.lengthOf(idsOf(await list(lister, `since=${older[0].occurredAt}&limit=500`)), 2 + equalTimes(older))
      assert.lengthOf(idsOf(await list(lister, "since=0")), 7)
      assert.deepStrictEqual(idsOf(await list(lister, `since=0&clientId=${second}&before=${all[0]}`)).length, 2)
    })
    const equalTimes = (older: ReadonlyArray<{ readonly occurredAt: number }>) =>
      older.filter((item) => item.occurredAt === older[0]?.occurredAt).length - 1

    it.each([
      ["limit=0", "limit"],
      ["limit=501", "limit"],
      ["limit=1e2", "limit"],
      ["before=0", "before"],
      ["before=x", "before"],
      ["status=pending", "status"],
      ["status=", "status"],
      ["since=-1", "since"],
      ["since=1.5", "since"],
      ["since=", "since"],
      ["since=99999999999999999", "since"],
      ["clientId=1&clientId=2", "clientId"]
    ])("Endpoints: %s is 400", async (search, name) => {
      const { status, json } = await list(lister, search)
      assert.deepStrictEqual([status, json.code, Object.keys(json.data.errors)], [400, 4000, [name]])
      assert.match(json.msg, /^The .*\.$/)
    })

    it("Endpoints: a foreign client is as unknown as none, answered before a bad query (A1-02)", async () => {
      const foreign = await client()
      const uid = (await get(service, partner.key, `/clients/${foreign}`)).json.data.clientUid
      const none = await list(lister, "clientId=8999999")
      assert.deepStrictEqual([none.status, none.json.code], [404, 4004])
      for (const named of [`${foreign}`, uid, "ZZZ-00000001", "nobody", "", "0", "%00", "1%20OR%201=1"]) {
        for (const more of ["", "&limit=0", "&since=x"]) {
          const answer = await list(lister, `clientId=${named}${more}`)
          assert.deepStrictEqual([answer.status, answer.text], [404, none.text], `${named}${more}`)
        }
      }
    })
  })

  it("D15: PENDING and FAILED items keep a partner from being closed, and are counted", async () => {
    const leaving = await service.partner()
    const clientId = await client(leaving)
    for (const amount of ["10", "-4", "-6"]) await adjust(clientId, amount)
    const made = await items(leaving, "")
    const close = () => partners(service, (all) => all.status(operator, leaving.code, "CLOSED", "test"))
    const blockers = async () => {
      const verdict = await close()
      if (verdict.ok || verdict.refusal._tag !== "Conflict") throw new Error(JSON.stringify(verdict))
      const { blockers: said } = verdict.refusal.data as { readonly blockers: ReadonlyArray<string> }
      return said.map((sentence) => /^Settlement items are not settled: (\d+ \w+), /.exec(sentence)?.[1] ?? sentence)
    }
    await report(made[0]?.itemId ?? 0, failed, leaving)
    assert.deepStrictEqual(await blockers(), ["2 PENDING", "1 FAILED"])
    await report(made[1]?.itemId ?? 0, settled, leaving)
    await report(made[2]?.itemId ?? 0, settled, leaving)
    assert.deepStrictEqual(await blockers(), ["1 FAILED"])
    await report(made[0]?.itemId ?? 0, settled, leaving)
    assert.isTrue((await close()).ok)
  })

  it("D15: an open balance between the firms keeps a partner from being closed, settled or not", async () => {
    const leaving = await service.partner()
    const clientId = await client(leaving)
    await adjust(clientId, "5")
    const withdrawn = { partnerRef: "out", direction: "WITHDRAWAL", amount: "5" }
    assert.strictEqual((await collateral(service, leaving.key, clientId, withdrawn)).status, 201)
    const [item] = await items(leaving, "")
    await report(item?.itemId ?? 0, settled, leaving)
    const verdict = await partners(service, (all) => all.status(operator, leaving.code, "CLOSED", "test"))
    if (verdict.ok || verdict.refusal._tag !== "Conflict") throw new Error(JSON.stringify(verdict))
    assert.deepStrictEqual(verdict.refusal.data, {
      blockers: [
        "5.000000 USDC are outstanding between the firms (positive: owed to the partner). To clear: interfirm record P --amount 5.000000."
      ]
    })
  })

  it("D15: a sum of items beyond 64 bits is a blocker like any other", async () => {
    const leaving = await service.partner()
    for (let n = 0; n < 2; n++) await adjust(await client(leaving), "9223372036854.775807")
    const verdict = await partners(service, (all) => all.status(operator, leaving.code, "CLOSED", "test"))
    if (verdict.ok || verdict.refusal._tag !== "Conflict") throw new Error(JSON.stringify(verdict))
    assert.include(JSON.stringify(verdict.refusal.data), "18446744073709.551614 USDC are outstanding between the firms")
  })

  it("D15: nothing is booked for a partner that is closed, or closing: closing and correcting at once never both", async () => {
    for (let round = 0; round < 5; round++) {
      const leaving = await service.partner()
      const clientId = await client(leaving)
      const adjusted = Promise.all(
        [1, 2, 3].map(() =>
          adjust(clientId, "1").then(
            () => true,
            () => false
          )
        )
      )
      const close = () => partners(service, (all) => all.status(operator, leaving.code, "CLOSED", "test"))
      const closed = await close()
      const booked = (await adjusted).filter(Boolean).length
      assert.isFalse(closed.ok && booked > 0, `closed with ${booked} corrections booked`)
      if (!closed.ok) continue
      const late = await adjust(clientId, "1").catch((error: Error) => error.message)
      assert.include(String(late), "The partner is closed.")
    }
  })
})
