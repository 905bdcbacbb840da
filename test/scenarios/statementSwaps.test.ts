/** Statements of a client with a staking swap, at the simulated venue (STS-24, STS-25, STS-26, STS-28; A2-70, A2-71). */
import { assert, describe, it } from "@effect/vitest"
import { openScenario } from "../support/Scenario.ts"
import { stakingSteps, stakingVenue } from "../support/stakingSteps.ts"
import { holdVenueBooks } from "../support/venueBooks.ts"

const day = 86_400_000
const world = stakingVenue()
const steps = await openScenario({ layerVenue: world.layerVenue, clock: world.clock })
const { service, key, call, now } = steps
holdVenueBooks(service, () => world.venue.ledger())
const { lender, taken, until, later, held, read } = stakingSteps(service, key, world, steps)

describe("statements of a swap", () => {
  it("A2-71: its take and its payment are executions, its fee a cost, and ACCOUNT ends with the holdings", async () => {
    const from = (await now()) - 1
    const anna = await lender()
    const opened = await taken(anna, "ETH-SWAP", "10")
    await later(7 * day)
    await until(anna, opened.swapId, ({ state }) => state === "MATURED")
    const to = (await now()) + 1_000
    const model = async (kind: string) => {
      const made = await call("POST", anna, "/statements", { kind, from, to })
      assert.strictEqual(made.status, 200, made.text)
      return (await read(anna, `/statements/${made.json.statementId}`)).model
    }
    const executions = (await model("TRANSACTIONS")).sections[0].rows
    assert.deepStrictEqual(
      executions.map((row: Record<string, string>) => [
        row["nature"],
        row["quantity"],
        row["consideration"],
        row["currency"]
      ]),
      [
        ["SWAP_TAKE", "10.00000000", "10.00500000", "ETH"],
        ["SWAP_PAYMENT", "10.00767123", "10.00767123", "ETH"]
      ]
    )
    const account = (await model("ACCOUNT")).sections.find(({ currency }: { currency: string }) => currency === "ETH")
    assert.deepStrictEqual([account.closing.cash, account.closing.reserved], await held(anna, "ETH"))
    const costs = (await model("COSTS")).sections[0]
    const amountOf = (description: RegExp) =>
      Number(costs.rows.find((row: { description: string }) => description.test(row.description)).amount)
    assert.isAbove(amountOf(/^Venue fees of staking/), 0)
    assert.isAbove(amountOf(/^The service's share/), 0)
    assert.strictEqual(
      costs.rows.reduce((sum: number, { amount }: { amount: string }) => sum + Number(amount), 0).toFixed(6),
      costs.total
    )
  }, 60_000)
})
