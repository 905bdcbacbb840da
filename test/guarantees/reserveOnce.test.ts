/**
 * A spot order's reserve pays for its fills and no more, however the order is split, and no part of it remains at the
 * end (F20).
 */
import { assert, describe, it } from "@effect/vitest"
import { ofClient } from "../support/Builders.ts"
import { orderSteps, orderVenue, spot } from "../support/orderSteps.ts"
import { openScenario } from "../support/Scenario.ts"
import { holdVenueBooks } from "../support/venueBooks.ts"

const world = orderVenue()
const { service, key, call, report } = await openScenario({ layerVenue: world.layerVenue })
holdVenueBooks(service, () => world.venue.ledger())
const { trader, place, placed, limit, until, read, cancel } = orderSteps(service, key, { call, report })

const slices = 1_000
const of = (side: "BUY" | "SELL", qty: string, price: string) => limit(side, qty, price, { symbol: spot })
const sliced = (into: number): void =>
  world.command({ type: "set", knobs: JSON.stringify({ orders: { [spot]: { slices: into } } }) })

const balancesOf = async (clientId: number) => {
  const { balances } = await read(clientId, "/balances")
  const of_ = (currency: string) =>
    balances.find((line: { readonly currency: string }) => line.currency === currency) ?? { cash: "0", reserved: "0" }
  return { usdc: of_("USDC"), btc: of_("BTC") }
}
const assertSpent = async (clientId: number, orderId: number): Promise<void> => {
  const { reservation } = await until(clientId, orderId, ({ state }) => state === "FILLED")
  const minor = (text: string) => BigInt(text.replace(".", ""))
  assert.strictEqual(minor(reservation.consumed) + minor(reservation.released), minor(reservation.amount))
}

describe("F20: a reserve is spent once", () => {
  it("a thousand fills of one purchase cost as much as one, and the hold ends at zero; so does the sale's", async () => {
    const [buyer, seller] = [await trader("6010.00"), await trader("1.00")]
    world.book(spot, "1")
    sliced(slices)
    // On a slow machine the answer is 502 OUTCOME_PENDING: a thousand fills take longer than an answer waits.
    const { json: answer, text } = await place(buyer, of("BUY", "0.1", "60020.7"))
    const bought = answer.orderId ?? answer.data?.orderId
    assert.isNumber(bought, text)
    await assertSpent(buyer, bought)
    sliced(1)
    world.book(spot, "0")
    const fills = await ofClient(service, "fills", buyer)
    assert.isAtLeast(fills.length, slices)
    const after = await balancesOf(buyer)
    assert.deepInclude(after.btc, { cash: "0.10000000", reserved: "0.00000000" })
    assert.strictEqual(after.usdc.reserved, "0.000000")
    const paid = fills.reduce((sum, { notional }) => sum + notional, 0n)
    const commission = fills.reduce((sum, fill) => sum + fill.commission, 0n)
    // Rounded up once over the whole order, not for each of a thousand fills.
    assert.strictEqual(commission, (paid * 10n + 9_999n) / 10_000n)
    assert.strictEqual(BigInt(after.usdc.cash.replace(".", "")), 6_010_000_000n - paid - commission)
    assert.deepInclude((await balancesOf(seller)).usdc, { cash: "1.000000" })
  }, 120_000)

  it("the unused part of a reserve returns with the order's end", async () => {
    const [buyer, holder] = [await trader("7000.00"), await trader("7000.00")]
    world.book(spot, "1")
    const held = await placed(holder, of("BUY", "0.05", "60100"))
    await assertSpent(holder, held)
    world.book(spot, "0")
    const rests = await placed(buyer, of("BUY", "0.1", "60000"))
    for (let n = 0; n < 10; n++) await placed(holder, of("SELL", "0.0033", "59990"))
    await until(buyer, rests, ({ filledQty }) => Number(filledQty) === 0.033)
    assert.strictEqual((await cancel(buyer, rests)).status, 200)
    const { usdc, btc } = await balancesOf(buyer)
    assert.strictEqual(usdc.reserved, "0.000000")
    assert.strictEqual(btc.cash, "0.03300000")
    // 0.033 at 60,000, and 10 basis points of the amount.
    assert.strictEqual(usdc.cash, "5018.020000")
  }, 60_000)
})
