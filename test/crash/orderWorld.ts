/** A world of traders of perpetuals and spot, with the conditions that both sides must meet in the end (D6). */
import { assert, vi } from "@effect/vitest"
import type { OrdersWire, OrderWire, PositionsWire, TradesWire } from "../../src/machines/order/OrderWire.ts"
import { minorOf } from "../../src/machines/shared/Money.ts"
import { type Currency, isCurrency } from "../../src/machines/shared/Currency.ts"
import type { VenueEvent } from "../../src/machines/venue/VenueEvent.ts"
import type { VenueAccount, VenueFill } from "../../src/machines/venue/venueObjects.ts"
import type { RealService } from "../support/RealService.ts"
import { makeTradeWorld, type Trader } from "./tradeWorld.ts"

/** A trader's orders and their results, as the trader's routes return them. */
export interface OrderBooks {
  readonly orders: OrdersWire["orders"]
  readonly open: ReadonlyArray<OrderWire>
  readonly trades: TradesWire["trades"]
  readonly positions: PositionsWire["positions"]
  readonly orderMargin: string
  /** Reserved amounts by currency. */
  readonly reserved: ReadonlyMap<string, string>
}

const inFlight = `SELECT ref FROM venue_calls
  UNION ALL SELECT 'order:' || id FROM orders WHERE state IN ('CHECKED', 'SENT', 'PENDING_CANCEL')`

/** The canonical decimal of a text, for a comparison. */
const plain = (text: string): string => text.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "")

export const makeOrderWorld = async (name: string) => {
  const world = await makeTradeWorld(name, { ownServer: true })

  const books = async (service: RealService, { id, key }: Trader): Promise<OrderBooks> => {
    const read = async (path: string) => {
      const { status, text } = await service.call(key, "GET", `/clients/${id}${path}`)
      assert.strictEqual(status, 200, `${path}: ${text}`)
      return JSON.parse(text)
    }
    const { orders } = await read("/orders?limit=500")
    const open = (await read("/orders/open")).data
    const { trades } = await read("/trades?limit=500")
    const { positions } = await read("/positions")
    const { orderMargin } = await read("/margin")
    const { balances } = await read("/balances")
    const lines = balances as ReadonlyArray<{ readonly currency: string; readonly reserved: string }>
    return {
      orders,
      open,
      trades,
      positions,
      orderMargin,
      reserved: new Map(lines.map(({ currency, reserved }) => [currency, reserved]))
    }
  }

  /** All events that the venue has published for the trader's account, and the account's present objects. */
  const venueBooks = async (trader: Trader) => {
    const client = world.venue.client()
    const account = await world.accountOf(trader)
    const now = (await client.ask(`/venue/v1/accounts/${account}`)).json as VenueAccount
    const { events } = (await client.ask(`/venue/v1/accounts/${account}/events?after=0`)).json
    const facts = (events as ReadonlyArray<VenueEvent>).map(({ fact }) => fact)
    const ids = new Map<string, Set<number>>()
    const fills: Array<VenueFill> = []
    for (const fact of facts) {
      if (fact.type === "fill") fills.push(fact.fill)
      if (fact.type !== "order" || fact.order.ref === null) continue
      ids.set(fact.order.ref, (ids.get(fact.order.ref) ?? new Set()).add(fact.order.id))
    }
    return { now, ids, fills, refOf: (clOrdId: string) => `${account.split(":")[0]}:${clOrdId}` }
  }

  /**
   * Checks that service and venue agree on the trader's working orders, trades and positions, and that each order was
   * executed there at most once.
   */
  const agree = async ({ orders, open, trades, positions }: OrderBooks, trader: Trader, about: string) => {
    const { now, ids, fills, refOf } = await venueBooks(trader)
    assert.sameDeepMembers(
      now.orders.map(({ ref, qty, filledQty }) => [ref, plain(qty), plain(filledQty)]),
      open.map(({ clOrdId, qty, filledQty }) => [refOf(clOrdId), plain(qty), plain(filledQty)]),
      `working orders, ${about}`
    )
    for (const [ref, made] of ids) assert.strictEqual(made.size, 1, `${ref} was executed once, ${about}`)
    const known = new Set(orders.map(({ clOrdId }) => refOf(clOrdId)))
    for (const ref of ids.keys()) assert.isTrue(known.has(ref), `${ref} is an order of ours, ${about}`)
    assert.sameDeepMembers(
      fills.map(({ ref, tradeId, side, price, qty }) => [ref, tradeId, side, plain(price), plain(qty)]),
      trades.map((each) => [refOf(each.clOrdId), each.venueTradeId, each.side, plain(each.price), plain(each.qty)]),
      `trades, ${about}`
    )
    assert.sameDeepMembers(
      now.positions
        .filter(({ symbol, netQty }) => symbol.endsWith("-PERP") && plain(netQty) !== "0")
        .map(({ symbol, netQty }) => [symbol, plain(netQty)]),
      positions.map(({ symbol, netQty }) => [symbol, plain(netQty)]),
      `positions, ${about}`
    )
  }

  /** Checks that each order is filled by its trades, and that only open orders hold money. */
  const heldOnly = ({ orders, open, orderMargin, reserved }: OrderBooks, about: string): void => {
    const held = new Map<string, bigint>()
    for (const { reservation, clOrdId, state } of orders) {
      if (reservation === null) continue
      const currency = currencyOf(reservation.currency)
      const minor = (text: string): bigint => minorOf(text, currency)
      const left = minor(reservation.amount) - minor(reservation.consumed) - minor(reservation.released)
      if (!open.some((each) => each.clOrdId === clOrdId)) assert.strictEqual(left, 0n, `${clOrdId} ${state}, ${about}`)
      held.set(currency, (held.get(currency) ?? 0n) + left)
    }
    for (const [code, text] of reserved) {
      const currency = currencyOf(code)
      assert.strictEqual(minorOf(text, currency), held.get(currency) ?? 0n, `${currency} reserved, ${about}`)
    }
    const opens = open.some(({ family, reduceOnly }) => family === "PERP" && !reduceOnly)
    assert.strictEqual(plain(orderMargin) !== "0", opens, `margin of orders ${orderMargin}, ${about}`)
  }

  return {
    ...world,
    books,
    agree,
    heldOnly,
    /** Waits until no call is in flight. */
    atRest: (about: string): Promise<void> =>
      vi.waitFor(async () => assert.deepStrictEqual(await world.query(inFlight), [], about), {
        timeout: 90_000,
        interval: 250
      }),
    /** Places an order that the venue accepts, once its market is live. Returns its id. */
    placed: (service: RealService, trader: Trader, body: object): Promise<number> =>
      vi.waitFor(async () => orderIdOf(await world.post(service, trader, "/orders", body)), {
        timeout: 20_000,
        interval: 500
      })
  }
}

const currencyOf = (code: string): Currency => {
  if (!isCurrency(code)) throw new Error(`${code} is no currency`)
  return code
}

/** The id of an accepted order. */
const orderIdOf = ({ status, text }: { readonly status: number; readonly text: string }): number => {
  if (status !== 200) throw new Error(text)
  return (JSON.parse(text) as { readonly orderId: number }).orderId
}

export type OrderWorld = Awaited<ReturnType<typeof makeOrderWorld>>
