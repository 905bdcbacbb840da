/**
 * Steps of scenarios of orders at the simulated venue. The venue's own book is empty and its prices are held, so that
 * clients trade only with each other. The steps create a client that may trade, place its orders, and poll until a
 * condition holds.
 */
import { assert } from "@effect/vitest"
import type { VenueCommand } from "../../src/venue/VenueCommand.ts"
import { contractSteps } from "./contractSteps.ts"
import { contractVenue } from "./contractVenue.ts"
import { get, query } from "./Builders.ts"
import { perp } from "./perpVenue.ts"
import type { Answer, Service } from "./Service.ts"
import type { Headers, Members, stepsOf } from "./steps.ts"

export const spot = "BTC-USDC"

/** The simulated venue with prices of 60,000 and clients' orders only. */
export const orderVenue = () => {
  const world = contractVenue()
  const command = (given: VenueCommand): void => {
    const { refusal } = world.venue.apply({ type: "command", command: given })
    if (refusal !== null) throw new Error(refusal)
  }
  /** Sets the size of the venue's own book in a market; "0" empties it. */
  const book = (symbol: string, size: string): void =>
    command({ type: "book", symbol, size, levels: null, spread: null })
  for (const symbol of [perp, spot]) book(symbol, "0")
  return {
    ...world,
    command,
    book,
    /** Sets and holds index, mark and last of BTC in all its markets. */
    price: (price: string): void => command({ type: "price", symbol: perp, price, only: null })
  }
}

export const orderSteps = (
  service: Service,
  key: string,
  { call, report }: Pick<ReturnType<typeof stepsOf>, "call" | "report">
) => {
  const { trader, poll } = contractSteps(service, key, { call, report })
  const at = (clientId: number, path: string): Promise<Answer> => get(service, key, `/clients/${clientId}${path}`)
  const read = async (clientId: number, path: string) => {
    const { status, json, text } = await at(clientId, path)
    assert.strictEqual(status, 200, text)
    return json
  }
  const limit = (side: "BUY" | "SELL", qty: string, price: string, paths: Members = {}) => ({
    symbol: perp,
    side,
    type: "LIMIT",
    qty,
    price,
    ...paths
  })
  const place = (clientId: number, body: object, headers: Headers = {}): Promise<Answer> =>
    call("POST", clientId, "/orders", body, headers)
  const orderOf = async (clientId: number, orderId: number) => {
    const { orders } = await read(clientId, "/orders?limit=500")
    return orders.find((order: { readonly orderId: number }) => order.orderId === orderId)
  }
  return {
    poll,
    at,
    read,
    limit,
    place,
    orderOf,
    /** A client that may trade everything, with this collateral. Waits until its markets have live prices. */
    trader: async (amount = "1000.00"): Promise<number> => {
      const clientId = await trader(amount)
      for (const symbol of [perp, spot]) {
        await poll(
          () => get(service, key, `/ticker?symbol=${symbol}`),
          ({ status }) => status === 200
        )
      }
      return clientId
    },
    /** Places an order that is accepted. Returns its id. */
    placed: async (clientId: number, body: object): Promise<number> => {
      const { status, json, text } = await place(clientId, body)
      assert.strictEqual(status, 200, text)
      return json.orderId
    },
    cancel: (clientId: number, orderId: number | string): Promise<Answer> =>
      service.call("DELETE", `/partner/v1/clients/${clientId}/orders/${orderId}`, { key }),
    // oxlint-disable-next-line typescript/no-explicit-any
    until: (clientId: number, orderId: number, found: (order: any) => boolean) =>
      poll(() => orderOf(clientId, orderId), found),
    /** Waits until no call of the venue is in flight. */
    idle: () =>
      poll(
        () => query(service, "SELECT ref FROM venue_calls"),
        ({ length }) => length === 0
      )
  }
}
