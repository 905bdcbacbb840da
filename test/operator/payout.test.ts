/**
 * Payouts to clients who can't request a withdrawal, under both custody models and with four eyes (operator surface,
 * client payout; A3-43; D1, A1-47).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { brokenInvariants, collateral, get, ofClient, query, rowCounts } from "../support/Builders.ts"
import { type OperatorService, startOperatorService } from "./operatorHarness.ts"
import { broker } from "../support/Scenario.ts"
import { openOperatorScenario } from "./operatorScenario.ts"

const { service, partner } = await openOperatorScenario({ partner: { ...broker, code: "PAYO" } })

let guarded: OperatorService

const funded = async (on = service, key = partner.key, currency = "USDC"): Promise<string> => {
  const clientId = String(await on.client(key))
  await on.done(["ledger", "adjust", clientId, "--currency", currency, "--amount", "100", "--reason", "test"])
  return clientId
}
/** Compliance rejects reliance: the client is at level NONE from then on. */
const hold = (clientId: string, on = service) =>
  on.done(["kyc", "reject", clientId, "--reason", "documents are false"], "COMPLIANCE")
const payout = (clientId: string, amount: string, currency = "USDC") => [
  "client",
  "payout",
  clientId,
  "--currency",
  currency,
  "--amount",
  amount,
  "--reason",
  "relationship ended"
]
const postings = async (clientId: string) =>
  (
    await query(
      service,
      `SELECT t.type, p.account, p.kind, p.amount FROM ledger_transactions t JOIN postings p USING (tx_id)
        WHERE t.client_id = $1 AND t.key LIKE 'payout:%' ORDER BY p.posting_id`,
      [BigInt(clientId)]
    )
  ).map(({ type, account, kind, amount }) => [type, account, kind, Number(amount)])

describe("operator surface, client payout", () => {
  it("A3-43: BROKER custody has the postings of a withdrawal, and the client gets notice of a money movement", async () => {
    const clientId = await funded()
    await hold(clientId)
    const paid = await service.done(payout(clientId, "100"), "FINANCE")
    assert.deepInclude(paid, { amount: "100.000000", reason: "relationship ended" })
    assert.deepStrictEqual(paid.balance, { cash: "0.000000", reserved: "0.000000", total: "0.000000" })
    const own = `client:${clientId}`
    assert.deepStrictEqual(await postings(clientId), [
      ["WITHDRAWAL_RESERVE", own, "cash", -100_000_000],
      ["WITHDRAWAL_RESERVE", own, "reserved", 100_000_000],
      ["WITHDRAWAL", own, "reserved", -100_000_000],
      ["WITHDRAWAL", "transit", "cash", 100_000_000]
    ])
    const notices = await ofClient(service, "notifications", Number(clientId))
    assert.deepInclude(notices.at(-1), { kind: "MONEY_MOVEMENT", ref: String(paid.ledgerTxId) })
    const audit = (await ofClient(service, "audit", Number(clientId))).at(-1)
    assert.deepInclude(audit, {
      action: "client.payout",
      role: "FINANCE",
      before: "100.000000 USDC",
      after: "0.000000 USDC",
      reason: "relationship ended"
    })
  })

  it("A1-47: paid out, the person can be refused for good, and the account closed", async () => {
    const clientId = await funded()
    await hold(clientId)
    const refuse = ["kyc", "reject-person", clientId, "--reason", "sanctioned"]
    assert.strictEqual((await service.cli(refuse, "COMPLIANCE")).refusal.code, 4092)
    await service.done(payout(clientId, "100"), "FINANCE")
    assert.strictEqual((await service.done(refuse, "COMPLIANCE")).lifecycleState, "KYC_REJECTED")
    const close = ["client", "close", clientId, "--reason", "r"]
    assert.strictEqual((await service.done(close, "COMPLIANCE")).lifecycleState, "CLOSED")
    assert.strictEqual((await service.cli(payout(clientId, "1"), "FINANCE")).refusal.code, 4092)
  })

  it("A3-43: under PARTNER custody the partner owes the service's payment, until finance records its payment", async () => {
    const own = await service.partner({ custody: "PARTNER", code: "PAYC" })
    const clientId = String(await service.client(own.key))
    await collateral(service, own.key, Number(clientId), { partnerRef: "in", direction: "DEPOSIT", amount: "30" })
    await hold(clientId)
    const { ledgerTxId } = await service.done([...payout(clientId, "30"), "--reference", "case-9"], "FINANCE")
    assert.deepStrictEqual(await postings(clientId), [
      ["MANUAL", `client:${clientId}`, "cash", -30_000_000],
      ["MANUAL", "manual", "cash", 30_000_000]
    ])
    const items = (await get(service, own.key, "/settlement/items")).json.data.items
    assert.lengthOf(items, 1)
    assert.deepInclude(items[0], { type: "MANUAL", amount: "-30.000000", status: "PENDING", ledgerTxId })
    assert.deepStrictEqual(items[0].refs, { payoutId: ledgerTxId, reference: "case-9" })
    const figures = async () => {
      const [line] = (await get(service, own.key, "/settlement/summary")).json.data.currencies
      return [line.collateralHeld, line.clientCash, line.interfirm.outstanding]
    }
    assert.deepStrictEqual(await figures(), ["30.000000", "0.000000", "-30.000000"])
    const lines = [
      ["partner", "status", "PAYC", "CLOSED", "--reason", "r"],
      ["partner", "custody", "PAYC", "BROKER", "--reason", "r"]
    ]
    const blocked = async () => {
      for (const line of lines) assert.strictEqual((await service.cli(line)).refusal.code, 4092, line.join(" "))
    }
    await blocked()
    await service.call("POST", `/partner/v1/settlement/items/${items[0].itemId}/report`, {
      key: own.key,
      body: { status: "SETTLED", partnerTxRef: "debited" }
    })
    await blocked()
    const wire = ["--amount", "-30", "--from", "0", "--to", String(Date.now()), "--tx-ref", "wire 9"]
    await service.done(["interfirm", "record", "PAYC", ...wire], "FINANCE")
    assert.deepStrictEqual(await figures(), ["30.000000", "0.000000", "0.000000"])
    assert.deepStrictEqual(await brokenInvariants(service), [])
    for (const line of lines.toReversed()) await service.done(line)
    assert.deepStrictEqual(await brokenInvariants(service), [])
  })

  it("A3-43: another currency under PARTNER custody is paid at any level as a withdrawal, so the partner can be closed", async () => {
    const own = await service.partner({ custody: "PARTNER", code: "PAYX" })
    const clientId = await funded(service, own.key, "BTC")
    const close = ["partner", "status", "PAYX", "CLOSED", "--reason", "r"]
    const { blockers } = (await service.cli([...close, "--dry-run"])).json
    assert.deepStrictEqual(blockers, [
      `Clients hold 100.00000000 BTC of cash (client ${clientId}). To clear: client payout C.`
    ])
    assert.strictEqual((await service.cli(payout(clientId, "101", "BTC"), "FINANCE")).refusal.code, 4092)
    const line = [...payout(clientId, "100", "BTC"), "--reference", "end"]
    const paid = await service.done(line, "FINANCE")
    assert.deepStrictEqual(await service.done(line, "FINANCE"), paid)
    assert.deepStrictEqual(
      (await postings(clientId)).map(([type, account]) => [type, account]),
      [
        ["WITHDRAWAL_RESERVE", `client:${clientId}`],
        ["WITHDRAWAL_RESERVE", `client:${clientId}`],
        ["WITHDRAWAL", `client:${clientId}`],
        ["WITHDRAWAL", "transit"]
      ]
    )
    assert.deepStrictEqual(await ofClient(service, "settlementItems", Number(clientId)), [])
    assert.deepStrictEqual(await brokenInvariants(service), [])
    assert.strictEqual((await service.done(close)).status, "CLOSED")
  })

  it("operator surface, client payout: a client who can request a withdrawal is refused, and so is an amount that a withdrawal would not release", async () => {
    const clientId = await funded()
    const before = await rowCounts(service)
    assert.match((await service.cli(payout(clientId, "1"), "FINANCE")).refusal.msg, /ask for the money/)
    assert.deepStrictEqual(await rowCounts(service), before)
    await hold(clientId)
    assert.match(
      (await service.cli(payout(clientId, "100.000001"), "FINANCE")).refusal.msg,
      /insufficient free balance/
    )
    await service.done(["client", "restrict", clientId, "FROZEN", "--reason", "court order"], "COMPLIANCE")
    assert.match((await service.cli(payout(clientId, "1"), "FINANCE")).refusal.msg, /frozen/)
    await service.done(["client", "lift", clientId, "FROZEN"], "COMPLIANCE")
    const held = ["break", "open", "--scope", "PAYO", "--currency", "USDC", "--amount", "1", "--reason", "r"]
    const { breakId } = await service.done(held)
    assert.match((await service.cli(payout(clientId, "1"), "FINANCE")).refusal.msg, /reconciliation break/)
    await service.done(["break", "close", String(breakId), "--reason", "found"])
    await service.done(payout(clientId, "1"), "FINANCE")
  })

  it("A3-43: with a reference the repeat answers the first payout, also at once and when nothing is left", async () => {
    const clientId = await funded()
    await hold(clientId)
    const named = (amount: string, reference = "case-1") => [...payout(clientId, amount), "--reference", reference]
    const ran = await Promise.all(Array.from({ length: 4 }, () => service.done(named("60"), "FINANCE")))
    const [first] = ran
    assert.deepInclude(first, { reference: "case-1", amount: "60.000000" })
    for (const again of ran) assert.deepStrictEqual(again, first)
    assert.lengthOf(await postings(clientId), 4)
    await service.done(payout(clientId, "40"), "FINANCE")
    const before = await rowCounts(service)
    assert.deepStrictEqual(await service.done(named("60"), "ADMIN"), first)
    const other = await service.cli(named("40"), "FINANCE")
    assert.deepStrictEqual([other.refusal.code, other.refusal.data.ledgerTxId], [4092, first.ledgerTxId])
    for (const bad of [" ", "x".repeat(65)]) {
      assert.strictEqual((await service.cli(named("1", bad), "FINANCE")).refusal.code, 4000)
    }
    assert.deepStrictEqual(await rowCounts(service), before)
    const elsewhere = await funded()
    await hold(elsewhere)
    await service.done([...payout(elsewhere, "60"), "--reference", "case-1"], "FINANCE")
  })

  it("A3-43: a repeat under PARTNER custody answers the balance right after the payout", async () => {
    const own = await service.partner({ custody: "PARTNER", code: "PAYR" })
    const clientId = String(await service.client(own.key))
    await collateral(service, own.key, Number(clientId), { partnerRef: "in", direction: "DEPOSIT", amount: "30" })
    await hold(clientId)
    const line = [...payout(clientId, "10"), "--reference", "case-1"]
    const first = await service.done(line, "FINANCE")
    await service.done(payout(clientId, "20"), "FINANCE")
    assert.deepStrictEqual(await service.done(line, "FINANCE"), first)
    assert.strictEqual(first.balance.cash, "20.000000")
  })

  it.each([
    ["zero", ["0", "USDC"], 4000],
    ["a negative amount", ["-1", "USDC"], 4000],
    ["too many places", ["1.001", "EUR"], 4000]
  ] as const)("F2: %s is refused", async (_, [amount, currency], code) => {
    const clientId = await funded()
    await hold(clientId)
    assert.strictEqual((await service.cli(payout(clientId, amount, currency), "FINANCE")).refusal.code, code)
  })

  it("A3-44: only finance pays; an unknown client is 4004", async () => {
    assert.strictEqual((await service.cli(payout("1", "1"), "COMPLIANCE")).refusal.code, 4034)
    assert.strictEqual((await service.cli(payout("999999", "1"), "FINANCE")).refusal.code, 4004)
  })
})

describe("operator surface, Four eyes: client payout", () => {
  beforeAll(async () => {
    guarded = await startOperatorService({ settings: { fourEyes: new Set(["client payout"]) } })
  })
  afterAll(() => guarded.stop())

  it("waits for a second key and is bound to its arguments; an impossible payout is refused at once", async () => {
    const own = await guarded.partner({ ...broker, code: "PAYE" })
    const clientId = await funded(guarded, own.key)
    assert.strictEqual((await guarded.cli(payout(clientId, "1"), "FINANCE")).refusal.code, 4092)
    await hold(clientId, guarded)
    const asked = await guarded.done(payout(clientId, "60"), "FINANCE")
    const twice = await guarded.done(payout(clientId, "60.0"), "FINANCE")
    assert.deepStrictEqual(Object.keys(asked), ["approvalId"])
    const granted = await guarded.done(["approval", "grant", String(asked.approvalId)], "ADMIN")
    assert.strictEqual(granted.result.balance.cash, "40.000000")
    const late = await guarded.cli(["approval", "grant", String(twice.approvalId)], "ADMIN")
    assert.deepStrictEqual([late.status, late.refusal.code], [1, 4092])
    const named = [...payout(clientId, "10"), "--reference", "case-1"]
    const again = [...payout(clientId, "10.0"), "--reference", "case-1"]
    const asks = [await guarded.done(named, "FINANCE"), await guarded.done(again, "FINANCE")]
    const grant = async (approvalId: number) =>
      (await guarded.done(["approval", "grant", String(approvalId)], "ADMIN")).result
    const paid = await grant(asks[0].approvalId)
    assert.deepStrictEqual(await grant(asks[1].approvalId), paid)
    assert.deepStrictEqual(await guarded.done(named, "FINANCE"), paid)
    assert.strictEqual(paid.balance.cash, "30.000000")
    assert.deepStrictEqual(await brokenInvariants(guarded), [])
  })
})
