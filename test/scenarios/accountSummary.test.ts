/**
 * The account summary of a client that trades, compared with its trades and contracts (doc 2, Other account reads;
 * A2-60, STS-11).
 */
import { assert, describe, it } from "@effect/vitest"
import { formatAmount, usdcMinor } from "../../src/machines/shared/Money.ts"
import { contractSteps } from "../support/contractSteps.ts"
import { contractVenue } from "../support/contractVenue.ts"
import { get } from "../support/Builders.ts"
import { openScenario } from "../support/Scenario.ts"

const world = contractVenue()
const { service, key, call, report } = await openScenario({ layerVenue: world.layerVenue })
const { trader, rfqBody, post, until, poll } = contractSteps(service, key, { call, report })

const [perp, spot] = ["BTC-USDC-PERP", "BTC-USDC"]
const zero = "0.000000"
const sum = (amounts: ReadonlyArray<string>): string =>
  formatAmount(
    amounts.reduce((total, amount) => total + usdcMinor(amount), 0n),
    "USDC"
  )
const read = async (clientId: number, path: string) => (await get(service, key, `/clients/${clientId}${path}`)).json
const summary = async (clientId: number) => (await read(clientId, "/account/summary")).data

/** A filled market order. */
const traded = async (clientId: number, symbol: string, side: "BUY" | "SELL"): Promise<void> => {
  await poll(
    () => get(service, key, `/ticker?symbol=${symbol}`),
    ({ status }) => status === 200
  )
  const { status, text, json } = await call("POST", clientId, "/orders", { symbol, side, type: "MARKET", qty: "0.01" })
  assert.strictEqual(status, 200, text)
  await poll(
    () => read(clientId, "/orders?limit=1"),
    ({ orders: [last] }) => last.orderId === json.orderId && last.state === "FILLED"
  )
}

interface Trade {
  readonly family: "PERP" | "SPOT"
  readonly commission: string
  readonly realizedPnl: string
}
/** The totals of the client's trades. */
const ofTrades = async (clientId: number) => {
  const { trades } = (await read(clientId, "/trades")) as { readonly trades: ReadonlyArray<Trade> }
  const realized = (family: Trade["family"]) =>
    sum(trades.filter((trade) => trade.family === family).map(({ realizedPnl }) => realizedPnl))
  return {
    count: trades.length,
    commission: sum(trades.map(({ commission }) => commission)),
    fills: realized("PERP"),
    spot: realized("SPOT")
  }
}

describe("the account summary", () => {
  it("A2-60: trades of both families and a contract, each in its family, in the answer after them", async () => {
    const clientId = await trader("5000.00")
    for (const symbol of [perp, spot]) await traded(clientId, symbol, "BUY")
    const opening = await ofTrades(clientId)
    assert.deepInclude(await summary(clientId), {
      realizedTotal: zero,
      commissionPaid: opening.commission,
      tradeCount: opening.count
    })
    // All markets of an asset share one index.
    for (const [symbol, price] of [
      [perp, "61000"],
      [spot, "59000"]
    ] as const) {
      world.price(price)
      await traded(clientId, symbol, "SELL")
    }
    world.price("60000")
    const { rfqId } = (await post(clientId, "/rfq", rfqBody())).json.data
    world.quote(rfqId, "60000")
    const { contractId } = await until(clientId, rfqId, (rfq) => rfq.state === "ACCEPTED")
    const all = await ofTrades(clientId)
    const open = await summary(clientId)
    assert.deepInclude(open.counts, { fills: all.count, barrierContracts: 1 })
    assert.deepStrictEqual(open.realizedByFamily, { fills: all.fills, spot: all.spot, barrier: zero, staking: zero })
    const closing = (await post(clientId, `/barriers/${contractId}/close`, {})).json.data.rfqId
    world.quote(closing, "60100")
    await until(clientId, closing, (rfq) => rfq.state === "ACCEPTED")
    const { since: _, sinceTs: __, ...figures } = await summary(clientId)
    assert.deepStrictEqual(figures, {
      currency: "USDC",
      realizedPnl: all.fills,
      commissionPaid: sum([all.commission, "1.200000"]),
      fundingPaid: zero,
      tradeCount: all.count,
      realizedTotal: sum([all.fills, all.spot, "10.000000"]),
      realizedByFamily: { fills: all.fills, spot: all.spot, barrier: "10.000000", staking: zero },
      commissionByFamily: { fills: all.commission, barrier: "1.200000", staking: zero },
      counts: { fills: all.count, barrierContracts: 1, swapTakes: 0 }
    })
    assert.isTrue(usdcMinor(all.fills) > 0n && usdcMinor(all.spot) < 0n && all.count >= 4, JSON.stringify(all))
  })
})
