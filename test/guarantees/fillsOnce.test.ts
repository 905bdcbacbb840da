/**
 * Each trade is booked once, with one commission, however the venue reports it: twice, out of order, not at all, or in
 * the answer to a query of the order's trades (A2-44, A2-96).
 */
import { assert, describe, it } from "@effect/vitest"
import { ofClient, query } from "../support/Builders.ts"
import { deliveries } from "../support/deliveries.ts"
import { orderSteps, orderVenue } from "../support/orderSteps.ts"
import { openScenario } from "../support/Scenario.ts"
import { holdVenueBooks } from "../support/venueBooks.ts"

const world = orderVenue()
const { service, key, call, report } = await openScenario({ layerVenue: world.layerVenue })
holdVenueBooks(service, () => world.venue.ledger())
const { trader, placed, place, limit, until, read, poll } = orderSteps(service, key, { call, report })

const pieces = 8

/** An order that rests, and is filled in pieces by another client's order. */
const dealt = async () => {
  const [maker, taker] = [await trader(), await trader()]
  const orderId = await placed(maker, limit("BUY", "0.08", "60000"))
  return { maker, taker, orderId, sell: () => place(taker, limit("SELL", "0.01", "60000", { tif: "IOC" })) }
}

/** The bookings of a client: the venue's ids of its trades, and the types of its postings. */
const bookedOf = async (clientId: number) => {
  const fills = await ofClient(service, "fills", clientId)
  const { postings } = (await read(clientId, "/ledger")).data
  return {
    trades: fills.length,
    distinct: new Set(fills.map(({ orderId, tradeId }) => `${orderId}:${tradeId}`)).size,
    commissions: postings.filter(({ type }: { readonly type: string }) => type === "COMMISSION").length,
    netQty: (await read(clientId, "/positions")).positions[0]?.netQty,
    cash: (await read(clientId, "/margin")).cash
  }
}
// Each piece costs 0.30.
const once = { trades: pieces, distinct: pieces, commissions: pieces, cash: "997.600000" }

/**
 * Rows are visible slightly before the account's figures: waits for the position, and then checks that nothing is
 * booked twice.
 */
const assertOnce = async (maker: number, taker: number): Promise<void> => {
  for (const [clientId, netQty] of [
    [maker, "0.0800"],
    [taker, "-0.0800"]
  ] as const) {
    await poll(
      () => bookedOf(clientId),
      (booked) => booked.netQty === netQty && booked.trades >= pieces
    )
    assert.deepStrictEqual(await bookedOf(clientId), { ...once, netQty })
  }
}

describe("A2-44: each trade once", () => {
  it.each(deliveries)(
    "the venue's messages arrive %s",
    async (_, delays) => {
      const { maker, taker, orderId, sell } = await dealt()
      world.delivering(delays)
      const answers = await Promise.all(Array.from({ length: pieces }, sell))
      for (const { status, text } of answers) assert.include([200, 502], status, text)
      await until(maker, orderId, ({ state }) => state === "FILLED")
      await assertOnce(maker, taker)
      world.delivering(() => [0])
    },
    60_000
  )

  it("trades from a query of their order, which the stream reports afterwards", async () => {
    const { maker, taker, orderId, sell } = await dealt()
    world.hide("events")
    await Promise.all(Array.from({ length: pieces }, sell))
    // The taker's orders were answered as filled, so the service queries their trades.
    await poll(
      () => ofClient(service, "fills", taker),
      ({ length }) => length === pieces
    )
    world.hide(false)
    world.venue.disconnect()
    await until(maker, orderId, ({ state }) => state === "FILLED")
    await assertOnce(maker, taker)
  }, 60_000)

  it("a filled market order is two commits of its client and one call of the venue", async () => {
    const [maker, taker] = [await trader(), await trader()]
    // The first order of an account opens it.
    await place(taker, limit("BUY", "0.01", "59900", { tif: "IOC" }))
    await placed(maker, limit("SELL", "0.08", "60000"))
    const tokenOf = async () =>
      (await query(service, `SELECT token FROM subjects WHERE subject = 'client:${taker}'`))[0]
    const taken = async () =>
      (await query(service, `SELECT sequence FROM venue_accounts WHERE client_id = ${taker}`))[0]?.sequence
    const uid = (await query(service, `SELECT uid FROM clients WHERE id = ${taker}`))[0]?.uid as string
    const allTaken = () => poll(taken, (sequence) => Number(sequence) === world.venue.account(uid)?.sequence)
    await allTaken()
    const before = Number((await tokenOf())?.token)
    const asked: Array<string> = []
    world.failing((what, refs) => {
      // The service's periodic reads of the venue (its clock, its listing) name no order.
      if (refs.length > 0) asked.push(what)
      return {}
    })
    const answer = await place(taker, {
      symbol: limit("BUY", "1", "1").symbol,
      side: "BUY",
      type: "MARKET",
      qty: "0.08"
    })
    assert.strictEqual(answer.json.state, "FILLED", answer.text)
    await allTaken()
    assert.deepStrictEqual([asked, Number((await tokenOf())?.token) - before], [["placeOrder"], 2])
    world.failing(() => ({}))
    await poll(
      () => bookedOf(maker),
      ({ netQty }) => netQty === "-0.0800"
    )
  })
})
