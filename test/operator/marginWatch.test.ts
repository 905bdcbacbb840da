/** The accounts nearest to a close-out in a market (operator surface, margin watch; F8). */
import { assert, describe, it } from "@effect/vitest"
import { inTurn, putPosition } from "../support/orderRows.ts"
import { gold, marginUntil, perp, perpVenue } from "../support/perpVenue.ts"
import { openOperatorScenario } from "./operatorScenario.ts"

const world = perpVenue()
// Positions without fills.
const { service, key, report } = await openOperatorScenario({ layerVenue: world.layerVenue, damaged: true })

/** A client with this collateral and a long of 0.1 at 60,000, whose margin is 600. */
const holder = async (amount: string): Promise<number> => {
  const clientId = await service.client(key)
  assert.strictEqual((await report(clientId, { amount })).status, 201)
  await marginUntil(service, key, clientId, ({ marksFresh }) => marksFresh === true)
  await inTurn(service, clientId, (turn) => putPosition(turn))
  return clientId
}

interface Near {
  readonly clientId: number
  readonly distancePct: string | null
  readonly recorded: string
}
const watched = async (...more: ReadonlyArray<string>) => service.done(["margin", "watch", perp, ...more], "SUPPORT")

describe("operator surface, margin watch", () => {
  it("F8: the nearest first, those without a liquidation price last; as many as requested", async () => {
    const far = await holder("7000")
    const near = await holder("700")
    const middle = await holder("1500")
    const { accounts, holders, mark } = await watched()
    assert.deepStrictEqual([holders, mark], [3, "60000.0"])
    assert.deepStrictEqual(
      accounts.map(({ clientId, distancePct }: Near) => [clientId, distancePct]),
      // (0.05 x 6,000 - 700) / (0.1 x 0.95) below 60,000, rounded to the tick.
      [
        [near, "7.01"],
        [middle, "21.05"],
        [far, null]
      ]
    )
    assert.deepStrictEqual(
      (await watched("--limit", "1")).accounts.map(({ clientId }: Near) => clientId),
      [near]
    )
  })

  it("F7: a mark that passes a line is acted on, and shown; accounts that it concerns not are left alone", async () => {
    // 700 less the loss of 0.1 is below a tenth of 5,850.
    world.price("58500")
    const { accounts } = await marginWatchUntil(({ recorded }) => recorded === "MARGIN_CALL")
    assert.deepInclude(accounts[0], { riskState: "MARGIN_CALL", closeOutId: null, marginLevel: "94.01" })
    assert.deepInclude(accounts[1], { recorded: "NORMAL", riskState: "NORMAL" })
  })

  it("a market without positions is empty, an unknown one is refused", async () => {
    assert.deepInclude(await service.done(["margin", "watch", gold]), { holders: 0, accounts: [] })
    assert.deepInclude(await service.done(["margin", "watch", "BTC-PERP"]), { symbol: perp, holders: 3 })
    const { refusal } = await service.cli(["margin", "watch", "NOPE-PERP"])
    assert.deepInclude(refusal, { code: 4004, msg: "Market not found." })
  })
})

const marginWatchUntil = async (found: (nearest: Near) => boolean) => {
  for (;;) {
    const shown = await watched()
    if (found(shown.accounts[0])) return shown
  }
}
