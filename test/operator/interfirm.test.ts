/**
 * Payments between the firms: `interfirm record` through the command line, the partner's view of it, and the blockers
 * of closing (doc 3, Interfirm settlement record; A3-25; operator surface, D15).
 */
import { assert, describe, it } from "@effect/vitest"
import { get, query, rowsOf } from "../support/Builders.ts"
import { startOperatorService } from "./operatorHarness.ts"
import { openOperatorScenario } from "./operatorScenario.ts"

const { service, partner, key } = await openOperatorScenario({ partner: { code: "FIRM" } })
const { partnerId } = partner
const clientId = String(await service.client(key))

const line = (over: Readonly<Record<string, string>> = {}, partner = "FIRM") => {
  const options = { amount: "50", from: "100", to: "200", "tx-ref": "wire-1", ...over }
  return ["interfirm", "record", partner, ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])]
}
const list = async (search = "") => (await get(service, key, `/settlement/interfirm${search}`)).json.data

describe("operator surface, interfirm record", () => {
  it("A3-25: records the payment with role and direction; the partner sees it, the audit too", async () => {
    const made = await service.done(line({ note: "June" }), "FINANCE")
    assert.deepStrictEqual(made, {
      settlementId: made.settlementId,
      partnerId,
      currency: "USDC",
      periodFrom: 100,
      periodTo: 200,
      amount: "50.000000",
      direction: "PAID_TO_PARTNER",
      txRef: "wire-1",
      note: "June",
      recordedBy: "FINANCE",
      recordedAt: made.recordedAt
    })
    const page = await list()
    assert.deepStrictEqual([page.settlements, page.hasMore, page.nextBefore], [[made], false, null])
    assert.hasAnyKeys(page.definitions, ["settlementsRecorded"])
    const audit = await rowsOf(service, "audit", "object = $1", [`interfirmRecord:${made.settlementId}`])
    assert.deepStrictEqual(
      audit.map(({ action, before, after, role, partnerId: of }) => [action, before, after, role, of]),
      [["interfirm.record", null, "50.000000 USDC PAID_TO_PARTNER", "FINANCE", partnerId]]
    )
  })

  it("A3-25: idempotent on (partner, txRef): the same content answers the record, other content 409", async () => {
    const before = await list()
    assert.deepStrictEqual(await service.done(line({ note: "June", amount: "+50.00" })), before.settlements[0])
    for (const over of [{ amount: "-50" }, { amount: "50.000001" }, { from: "101" }, { to: "201" }, { note: "July" }]) {
      const ran = await service.cli(line({ note: "June", ...over }))
      assert.deepStrictEqual([ran.status, ran.refusal.code], [1, 4092], JSON.stringify(over))
    }
    assert.deepStrictEqual(await list(), before)
    await service.partner({ code: "OTHER" })
    assert.strictEqual((await service.done(line({}, "OTHER"))).txRef, "wire-1")
    assert.deepStrictEqual(await list(), before)
  })

  it("ten concurrent requests with one reference make one record, and all get it", async () => {
    const ran = await Promise.all(Array.from({ length: 10 }, () => service.cli(line({ "tx-ref": "race" }))))
    assert.deepStrictEqual(new Set(ran.map(({ status, json }) => [status, json?.settlementId].join())).size, 1)
    assert.lengthOf(await rowsOf(service, "interfirmRecords", "tx_ref = 'race'"), 1)
  })

  it.each([
    ["a zero amount", { amount: "0.00" }, "amount"],
    ["an amount of seven places", { amount: "1.0000001" }, "amount"],
    ["no amount at all", { amount: "fifty" }, "amount"],
    ["a period that ends before it starts", { from: "201" }, "periodFrom"],
    ["an empty reference", { "tx-ref": " " }, "txRef"],
    ["a long reference", { "tx-ref": "x".repeat(129) }, "txRef"],
    ["a long note", { note: "x".repeat(501) }, "note"]
  ])("A3-25: %s is refused and nothing is written", async (_title, over, field) => {
    const before = await rowsOf(service, "interfirmRecords")
    const ran = await service.cli(line({ "tx-ref": "bad", ...over }))
    assert.deepStrictEqual([ran.status, ran.refusal.code], [1, 4000])
    assert.deepStrictEqual(Object.keys(ran.refusal.data.errors), [field])
    assert.deepStrictEqual(await rowsOf(service, "interfirmRecords"), before)
  })

  it("only FINANCE and ADMIN may record, and no role for an unknown partner", async () => {
    for (const role of ["COMPLIANCE", "SUPPORT"] as const) {
      assert.strictEqual((await service.cli(line({ "tx-ref": role }), role)).refusal.code, 4034)
    }
    assert.strictEqual((await service.cli(line({}, "NOBODY"))).refusal.code, 4004)
  })

  it("A3-25: a partner that was never under PARTNER custody has nothing to record, one that ever was has", async () => {
    await service.partner({ code: "NEVER", custody: "BROKER", collateralAsset: "" })
    const refused = await service.cli(line({}, "NEVER"), "FINANCE")
    assert.deepStrictEqual([refused.status, refused.refusal.code], [1, 4092])
    assert.match(refused.refusal.msg, /never been under PARTNER custody/)
    await service.partner({ code: "ONCE" })
    await service.done(["partner", "custody", "ONCE", "BROKER", "--reason", "new contract"])
    assert.strictEqual((await service.done(line({}, "ONCE"), "FINANCE")).txRef, "wire-1")
  })

  it("no caller can change records", async () => {
    for (const statement of ["UPDATE interfirm_records SET amount = 1", "DELETE FROM interfirm_records"]) {
      const failure = await query(service, statement).catch((error: unknown) => error)
      assert.instanceOf(failure, Error)
    }
    assert.isAbove((await rowsOf(service, "interfirmRecords")).length, 0)
  })

  it("doc 3: pages of records, newest first", async () => {
    for (const n of [1, 2, 3]) await service.done(line({ "tx-ref": `page-${n}`, amount: `-${n}` }))
    const first = await list("?limit=2")
    assert.deepStrictEqual(
      first.settlements.map(({ txRef, direction }: Record<string, string>) => [txRef, direction]),
      [
        ["page-3", "PAID_BY_PARTNER"],
        ["page-2", "PAID_BY_PARTNER"]
      ]
    )
    const second = await list(`?limit=2&before=${first.nextBefore}`)
    assert.deepStrictEqual([first.hasMore, second.settlements[0].txRef], [true, "page-1"])
    for (const search of ["?limit=501", "?limit=0", "?before=x"]) {
      assert.strictEqual((await get(service, key, `/settlement/interfirm${search}`)).status, 400, search)
    }
  })
})

describe("D15: closing a partner", () => {
  const adjust = (amount: string) =>
    service.done(["ledger", "adjust", clientId, "--currency", "USDC", "--reason", "r", "--amount", amount])
  const close = () => service.cli(["partner", "status", "FIRM", "CLOSED", "--reason", "done"])

  it("a recorded payment counts against the outstanding amount, and nothing is recorded once the partner is closed", async () => {
    const records = await rowsOf(service, "interfirmRecords", "partner_id = $1", [BigInt(partnerId)])
    const paid = records.reduce((sum, { amount }) => sum + amount, 0n)
    await adjust("10")
    await adjust("-10")
    const items = (await get(service, key, "/settlement/items")).json.data.items
    const body = {
      items: items.map(({ itemId }: { itemId: number }) => ({ itemId, status: "SETTLED", partnerTxRef: "t" }))
    }
    await service.call("POST", "/partner/v1/settlement/report", { key, body })
    const blocked = await close()
    assert.lengthOf(blocked.refusal.data.blockers, 1)
    assert.match(blocked.refusal.data.blockers[0], new RegExp(`^-${paid / 1_000_000n}\\.000000 USDC are outstanding`))
    await service.done(line({ "tx-ref": "even", amount: `-${paid / 1_000_000n}` }))
    assert.strictEqual((await close()).status, 0)
    assert.strictEqual((await service.cli(line({ "tx-ref": "late" }))).refusal.code, 4092)
    assert.strictEqual((await service.done(line({ "tx-ref": "even", amount: `-${paid / 1_000_000n}` }))).txRef, "even")
  })
})

describe("operator surface, Four eyes: interfirm record", () => {
  it("waits for a second key; a record that could not run, or exists already, is answered at once", async () => {
    const guarded = await startOperatorService({ settings: { fourEyes: new Set(["interfirm record"] as const) } })
    try {
      await guarded.partner({ code: "FIRM" })
      assert.strictEqual((await guarded.cli(line({ amount: "0" }), "FINANCE")).refusal.code, 4000)
      const [one, two] = [
        await guarded.done(line(), "FINANCE"),
        await guarded.done(line({ amount: "50.00" }), "FINANCE")
      ]
      assert.deepStrictEqual(await rowsOf(guarded, "interfirmRecords"), [])
      const grant = (approvalId: number) => guarded.done(["approval", "grant", String(approvalId)], "ADMIN")
      const made = (await grant(one.approvalId)).result
      assert.deepStrictEqual([made.amount, made.recordedBy], ["50.000000", "ADMIN"])
      assert.deepStrictEqual((await grant(two.approvalId)).result, made)
      assert.deepStrictEqual(await guarded.done(line(), "FINANCE"), made)
      assert.lengthOf(await rowsOf(guarded, "interfirmRecords"), 1)
    } finally {
      await guarded.stop()
    }
  })
})
