/**
 * Closing a partner (D15; A1-49): every guard, in any currency, is named with its remedy; a dry run changes nothing; a
 * closed partner never receives money, and the partner continues if it can't be closed.
 */
import { assert, describe, it } from "@effect/vitest"
import { brokenInvariants, collateral, get, query, rowCounts } from "../support/Builders.ts"
import { openOperator } from "./operatorScenario.ts"

const service = await openOperator()

const close = (code: string) => ["partner", "status", code, "CLOSED", "--reason", "agreement ended"]
const adjust = (clientId: number, amount: string, currency = "USDC") =>
  service.done(
    ["ledger", "adjust", String(clientId), "--currency", currency, "--amount", amount, "--reason", "test"],
    "FINANCE"
  )
const stateOf = async (code: string) => (await service.done(["partner", "show", code])).status
const blockersOf = async (code: string): Promise<ReadonlyArray<string>> => {
  const before = await rowCounts(service)
  const dry = await service.cli([...close(code), "--dry-run"])
  const { dryRun, blockers } = dry.json
  assert.deepStrictEqual([dryRun, dry.status], [true, blockers.length > 0 ? 1 : 0])
  assert.deepStrictEqual(await rowCounts(service), before)
  if (blockers.length > 0) {
    const refused = await service.cli(close(code))
    assert.deepStrictEqual([refused.status, refused.refusal.code], [1, 4092])
    assert.deepStrictEqual(refused.refusal.data.blockers, blockers)
    assert.deepStrictEqual(await rowCounts(service), before)
    assert.strictEqual(await stateOf(code), "ACTIVE")
  }
  return blockers
}

describe("D15: closing a partner", () => {
  it.each(["USDC", "BTC", "EUR", "USD1"])("a balance in %s blocks, until it is zero", async (currency) => {
    const firm = await service.partner({ code: `BAL${currency}`, custody: "BROKER", collateralAsset: "" })
    const clientId = await service.client(firm.key)
    await adjust(clientId, "1.5", currency)
    const [blocker, ...others] = await blockersOf(firm.code)
    assert.match(
      blocker ?? "",
      new RegExp(`^Clients hold 1\\.50* ${currency} of cash \\(client ${clientId}\\)\\. To clear: `)
    )
    assert.deepStrictEqual(others, [])
    await adjust(clientId, "-1.5", currency)
    assert.deepStrictEqual(await blockersOf(firm.code), [])
    assert.strictEqual((await service.done(close(firm.code))).status, "CLOSED")
  })

  it("open notices and requests block, each state with the command that clears it", async () => {
    const firm = await service.partner({ code: "OPEN", custody: "BROKER", collateralAsset: "", sandbox: false })
    const clientId = await service.client(firm.key)
    await adjust(clientId, "10")
    const post = (route: string, body: object) =>
      service.call("POST", `/partner/v1/clients/${clientId}/${route}`, { key: firm.key, body })
    const notice = (await post("deposits", { partnerRef: "d", currency: "USDC", amount: "3" })).json.data
    const request = (await post("withdrawals", { partnerRef: "w", currency: "USDC", amount: "10" })).json.data
    const open = await blockersOf("OPEN")
    assert.lengthOf(open, 3)
    assert.match(open[0] ?? "", /^Clients hold 10\.000000 USDC of reserve .*withdrawal reject ID/)
    assert.match(open[1] ?? "", new RegExp(`^Deposit notices are not decided: 1 PENDING.*notice ${notice.noticeId}\\)`))
    assert.match(
      open[2] ?? "",
      new RegExp(`^Withdrawal requests are open: 1 REQUESTED.*request ${request.requestId}\\)`)
    )
    await service.done(["withdrawal", "approve", String(request.requestId)], "FINANCE")
    await service.done(["deposit", "reject", String(notice.noticeId), "--reason", "r"], "FINANCE")
    assert.match((await blockersOf("OPEN")).join(), /^Withdrawal requests are open: 1 APPROVED.*withdrawal pay ID/)
    await service.done(["withdrawal", "pay", String(request.requestId)], "FINANCE")
    assert.strictEqual((await service.done(close("OPEN"))).status, "CLOSED")
  })

  it("items and the balance between the firms block; a recorded payment clears it, for any collateral", async () => {
    const firm = await service.partner({ code: "OWES" })
    const clientId = await service.client(firm.key)
    const report = (partnerRef: string, direction: string, amount: string) =>
      collateral(service, firm.key, clientId, { partnerRef, direction, amount })
    await report("in", "DEPOSIT", "100")
    await adjust(clientId, "-30")
    await report("out", "WITHDRAWAL", "70")
    const open = await blockersOf("OWES")
    assert.lengthOf(open, 2)
    assert.match(open[0] ?? "", /^Settlement items are not settled: 1 PENDING, -30\.000000 USDC/)
    const { items } = (await get(service, firm.key, "/settlement/items")).json.data
    await service.call("POST", `/partner/v1/settlement/items/${items[0].itemId}/report`, {
      key: firm.key,
      body: { status: "SETTLED", partnerTxRef: "t" }
    })
    assert.match((await blockersOf("OWES")).join(), /^-30\.000000 USDC are outstanding between the firms/)
    const amount = ["--amount", "-30", "--from", "0", "--to", String(Date.now()), "--tx-ref", "wire 1"]
    await service.done(["interfirm", "record", "OWES", ...amount], "FINANCE")
    assert.deepStrictEqual(await blockersOf("OWES"), [])
    assert.strictEqual((await service.done(close("OWES"))).status, "CLOSED")
    assert.strictEqual((await service.cli([...close("OWES"), "--dry-run"])).refusal.code, 4092)
    assert.deepStrictEqual(await brokenInvariants(service), [])
  })

  it.each([1, 2, 3])(
    "A1-49: closed under load, round %d: no money is left behind, and one move is written",
    async (round) => {
      const firm = await service.partner({ code: `LOAD${round}` })
      const clientId = await service.client(firm.key)
      const sends = Array.from({ length: 60 }, (_, n) =>
        collateral(service, firm.key, clientId, { partnerRef: `l${n}`, direction: "DEPOSIT", amount: "1" })
      )
      const closed = await service.cli(close(firm.code))
      const answers = await Promise.all(sends)
      assert.isTrue(answers.every(({ status }) => status === 201 || status === 401))
      const [row] = await query<{ readonly cash: string; readonly moves: bigint }>(
        service,
        `SELECT (SELECT coalesce(sum(cash), 0)::text FROM balances WHERE partner_id = $1) AS cash,
              (SELECT count(*) FROM audit WHERE partner_id = $1 AND action IN ('partner.suspend', 'partner.reactivate', 'partner.close')) AS moves`,
        [BigInt(firm.partnerId)]
      )
      assert.strictEqual(await stateOf(firm.code), closed.status === 0 ? "CLOSED" : "ACTIVE")
      assert.strictEqual(Number(row?.moves), closed.status === 0 ? 1 : 0)
      if (closed.status === 0) assert.strictEqual(row?.cash, "0")
    }
  )
})
