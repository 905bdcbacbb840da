/**
 * The categorization of a client with positions (operator surface, client categorize; A2-88, A2-102): the reasons of a
 * refusal, the dry run, the effect of force, and the effect on chosen leverage.
 */
import { assert, describe, it } from "@effect/vitest"
import { get, ofClient } from "../support/Builders.ts"
import { inTurn, putPosition } from "../support/orderRows.ts"
import { marginUntil, perp, perpVenue } from "../support/perpVenue.ts"
import { runRecorded } from "./operatorHarness.ts"
import { openOperatorScenario } from "./operatorScenario.ts"

const world = perpVenue()
// Positions without fills.
const { service, key, call, report } = await openOperatorScenario({ layerVenue: world.layerVenue, damaged: true })

const line = (clientId: number, categorization: string, ...more: ReadonlyArray<string>) => [
  "client",
  "categorize",
  String(clientId),
  categorization,
  "--reason",
  "asked by the client",
  ...more
]

/** A professional with this collateral and a long of 0.1 at 60,000, whose margin is 120, and 600 for a retail client. */
const professional = async (amount: string): Promise<number> => {
  const clientId = await service.client(key)
  assert.strictEqual((await report(clientId, { amount })).status, 201)
  await marginUntil(service, key, clientId, ({ marksFresh }) => marksFresh === true)
  await service.done(line(clientId, "PROFESSIONAL"), "COMPLIANCE")
  await inTurn(service, clientId, (turn) => putPosition(turn))
  return clientId
}
const leverageOf = async (clientId: number) =>
  (await get(service, key, `/clients/${clientId}/leverage?symbol=${perp}`)).json

describe("operator surface, client categorize: a client with positions", () => {
  it("A2-102: choices above the new cap become the cap; a dry run shows the margin as it would be, and changes nothing", async () => {
    const clientId = await professional("1000")
    assert.strictEqual((await call("PUT", clientId, "/leverage", { symbol: perp, leverage: 40 })).status, 200)
    const tried = await service.done([...line(clientId, "RETAIL"), "--dry-run"], "COMPLIANCE")
    assert.deepInclude(tried.answer.margin, {
      initialMargin: "600.000000",
      freeMargin: "400.000000",
      marginLevel: "166.66",
      riskState: "NORMAL"
    })
    assert.strictEqual(tried.would.rows.leverages, 1)
    const { before, after, leverage, follows } = tried.answer.change
    assert.deepInclude(before, { initialMargin: "150.000000", marginLevel: "666.66", riskState: "NORMAL" })
    assert.deepInclude(after, { initialMargin: "600.000000", marginLevel: "166.66", riskState: "NORMAL" })
    assert.deepStrictEqual(leverage, [
      { symbol: perp, leverageBefore: 40, leverageAfter: 10, marginBefore: "150.000000", marginAfter: "600.000000" }
    ])
    assert.strictEqual(follows, "NOTHING")
    assert.deepInclude(await leverageOf(clientId), { categorization: "PROFESSIONAL", chosen: 40, cap: 50 })
    const done = await service.done(line(clientId, "RETAIL"), "COMPLIANCE")
    assert.deepStrictEqual(done.margin, tried.answer.margin)
    assert.deepInclude(await leverageOf(clientId), { categorization: "RETAIL", leverage: 10, chosen: 10, cap: 10 })
    const [row] = await ofClient(service, "leverages", clientId)
    assert.strictEqual(row?.leverage, 10)
  })

  it("A2-102: refused with its figures if the account would leave NORMAL; force applies it and the client's row shows it", async () => {
    const clientId = await professional("500")
    const refused = await service.cli(line(clientId, "RETAIL"), "COMPLIANCE")
    assert.strictEqual(refused.refusal.code, 4092)
    const { change, ...after } = refused.refusal.data
    assert.deepStrictEqual(after, {
      reason: "NOT_NORMAL",
      initialMarginAfter: "600.000000",
      maintenanceMarginAfter: "300.000000",
      freeMarginAfter: "-100.000000",
      marginLevelAfter: "83.33",
      riskStateAfter: "MARGIN_CALL"
    })
    assert.deepInclude(change, { follows: "MARGIN_CALL" })
    // Through the command line the command has the same effect, with --dry-run and without.
    for (const dry of [[], ["--dry-run"]]) {
      const shown = await runRecorded([...line(clientId, "RETAIL"), ...dry, ...service.connection("COMPLIANCE")])
      assert.strictEqual(shown.stdout, "")
      assert.match(shown.stderr, /--force applies it all the same\. \([A-Z_]+\)\n\nACCOUNT/)
      assert.match(shown.stderr, /after +500\.000000 +600\.000000 +-100\.000000 +83\.33 +MARGIN_CALL/)
      assert.match(shown.stderr, /A margin call follows\./)
    }
    // The dry run shows the effect of force, and force has this effect.
    const forcing = line(clientId, "RETAIL", "--force")
    const tried = await service.done([...forcing, "--dry-run"], "COMPLIANCE")
    assert.deepStrictEqual(tried.answer.change, change)
    const forced = await service.done(forcing, "COMPLIANCE")
    assert.deepInclude(forced, { categorization: "RETAIL", riskState: "MARGIN_CALL" })
    assert.deepStrictEqual(forced.change, change)
    // The account is not NORMAL now, so the categorization can't be reversed.
    const back = await service.cli(line(clientId, "PROFESSIONAL", "--force"), "COMPLIANCE")
    assert.strictEqual(back.refusal.code, 4092)
    assert.match(back.refusal.msg, /is in MARGIN_CALL/)
  })

  it("A2-102: force may begin a close-out; the dry run shows it, and writes nothing", async () => {
    const clientId = await professional("200")
    const forcing = line(clientId, "RETAIL", "--force")
    const tried = await service.done([...forcing, "--dry-run"], "COMPLIANCE")
    assert.deepInclude(tried.answer.change, { follows: "CLOSE_OUT" })
    const { stdout } = await runRecorded([...forcing, "--dry-run", ...service.connection("COMPLIANCE")])
    assert.match(stdout, /A close-out follows\./)
    assert.match(stdout, /BTC-USDC-PERP +50 -> 10 +120\.000000 -> 600\.000000/)
    assert.deepInclude(tried.would.rows, { close_outs: 1, orders: 1 })
    assert.deepStrictEqual(await ofClient(service, "closeOuts", clientId), [])
    assert.deepInclude(await leverageOf(clientId), { categorization: "PROFESSIONAL" })
  })
})
