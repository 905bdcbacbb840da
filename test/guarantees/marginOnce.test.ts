/**
 * However many orders arrive at once, no margin is used twice: the orders that fit are accepted, and no others (F13,
 * A2-91).
 */
import { assert, describe, it } from "@effect/vitest"
import { ofClient } from "../support/Builders.ts"
import { orderSteps, orderVenue, spot } from "../support/orderSteps.ts"
import { openScenario } from "../support/Scenario.ts"

const world = orderVenue()
const { service, key, call, report } = await openScenario({ layerVenue: world.layerVenue })
const { trader, place, limit, cancel, read } = orderSteps(service, key, { call, report })

const atOnce = 50

/** Sends all orders before the first is answered. Returns the ids of the accepted ones. */
const race = async (clientId: number, body: (n: number) => object): Promise<ReadonlyArray<number>> => {
  const answers = await Promise.all(Array.from({ length: atOnce }, (_, n) => place(clientId, body(n))))
  for (const { status, text } of answers) assert.include([200, 400], status, text)
  return answers.filter(({ status }) => status === 200).map(({ json }) => json.orderId)
}

describe("F13: concurrent orders share one free margin", () => {
  it("of 50 orders on one side, each of a tenth of it, ten fit", async () => {
    const clientId = await trader("1000.00")
    // An order of 0.0166 at 59,000 needs a margin of 97.94, and its commission counts in addition: ten fit, eleven do
    // not.
    const taken = await race(clientId, () => limit("BUY", "0.0166", "59000"))
    assert.strictEqual(taken.length, 10)
    const margin = await read(clientId, "/margin")
    assert.deepInclude(margin, { openOrders: 10, orderMargin: "979.400000" })
    assert.isAtLeast(Number(margin.freeMargin), 0)
    assert.strictEqual((await ofClient(service, "orders", clientId)).length, 10)
    for (const orderId of taken) assert.strictEqual((await cancel(clientId, orderId)).status, 200)
    assert.deepInclude(await read(clientId, "/margin"), { openOrders: 0, freeMargin: "1000.000000" })
  }, 60_000)

  it("of orders on both sides only the larger side counts, and no margin is used twice", async () => {
    const clientId = await trader("1000.00")
    const taken = await race(clientId, (n) =>
      n % 2 === 0 ? limit("BUY", "0.0166", "59000") : limit("SELL", "0.0166", "61000")
    )
    assert.isAtLeast(taken.length, 10)
    assert.isAtLeast(Number((await read(clientId, "/margin")).freeMargin), 0)
    for (const orderId of taken) await cancel(clientId, orderId)
    assert.deepInclude(await read(clientId, "/margin"), { openOrders: 0, freeMargin: "1000.000000" })
  }, 60_000)

  it("F20: of 50 spot purchases those are accepted whose reserves the cash covers", async () => {
    const clientId = await trader("1000.00")
    const usdc = async () =>
      (await read(clientId, "/balances")).balances.find(
        ({ currency }: { readonly currency: string }) => currency === "USDC"
      )
    const taken = await race(clientId, () => limit("BUY", "0.002", "59000", { symbol: spot }))
    // Each order reserves 118 and its commission.
    assert.strictEqual(taken.length, 8)
    const { cash, reserved } = await usdc()
    assert.isAtLeast(Number(cash), 0)
    assert.strictEqual(Math.round((Number(cash) + Number(reserved)) * 1e6), 1_000_000_000)
    for (const orderId of taken) assert.strictEqual((await cancel(clientId, orderId)).status, 200)
    assert.deepInclude(await usdc(), { cash: "1000.000000", reserved: "0.000000" })
  }, 60_000)
})
