/**
 * The books that match the same orders: the simulated venue's whole exchange (grids, bands, accounts that net, every event
 * said), a plain sorted array of orders, and nodejs-order-book. The others have neither checks nor accounts nor events.
 */
import { OrderBook, Side } from "nodejs-order-book"
import { defaultMarkets } from "../../simulator/venue/core/defaultMarkets.ts"
import { Exchange } from "../../simulator/venue/core/Exchange.ts"
import { accounts, type StreamOrder } from "./orderStream.ts"

/** Price and lots of every level, best first. */
type Levels = ReadonlyArray<readonly [price: number, quantity: number]>

export interface ComparedBook {
  readonly take: (order: StreamOrder) => void
  /** What rests at the end: every book must agree. */
  readonly rest: () => { readonly bids: Levels; readonly asks: Levels }
}

const symbol = "BTC-USDC-PERP"

export const simulatedVenue = (): ComparedBook => {
  let said = 0
  const exchange = new Exchange(defaultMarkets, () => void said++)
  for (let id = 1; id <= accounts; id++) exchange.open(id, `CL-${id}`)
  const book = exchange.listings.get(symbol)?.book
  const plain = { symbol, tif: "GTC", reduceOnly: false, trigger: null, group: null } as const
  return {
    take: (order) => {
      if (order.cancel === null) {
        const { ref, account: accountId, side, price, quantity } = order
        exchange.place({ ...plain, ref, accountId, side, price, quantity })
      } else {
        const known = exchange.orders.get(order.cancel)
        if (known !== undefined) exchange.cancel(known)
      }
    },
    rest: () => {
      if (said === 0) throw new Error("the exchange said nothing")
      const all = Number.POSITIVE_INFINITY
      return { bids: book?.depth("BUY", all) ?? [], asks: book?.depth("SELL", all) ?? [] }
    }
  }
}

interface PlainOrder {
  readonly ref: string
  readonly side: "BUY" | "SELL"
  readonly price: number
  left: number
}

/** An array a side, sorted by price and time, the best order first: what one writes at first. */
export const plainArrays = (): ComparedBook => {
  const sides: Record<"BUY" | "SELL", Array<PlainOrder>> = { BUY: [], SELL: [] }
  const byRef = new Map<string, PlainOrder>()
  const better = (one: PlainOrder, other: PlainOrder): boolean =>
    one.side === "BUY" ? one.price > other.price : one.price < other.price
  const add = (order: PlainOrder): void => {
    const side = sides[order.side]
    const at = side.findIndex((other) => better(order, other))
    side.splice(at === -1 ? side.length : at, 0, order)
    byRef.set(order.ref, order)
  }
  const match = (order: PlainOrder): void => {
    const against = sides[order.side === "BUY" ? "SELL" : "BUY"]
    while (order.left > 0) {
      const [maker] = against
      if (maker === undefined || (order.side === "BUY" ? maker.price > order.price : maker.price < order.price)) break
      const traded = Math.min(order.left, maker.left)
      order.left -= traded
      maker.left -= traded
      if (maker.left > 0) break
      against.shift()
      byRef.delete(maker.ref)
    }
    if (order.left > 0) add(order)
  }
  return {
    take: (order) => {
      if (order.cancel === null) return match({ ...order, left: order.quantity })
      const known = byRef.get(order.cancel)
      if (known === undefined) return
      byRef.delete(known.ref)
      const side = sides[known.side]
      side.splice(side.indexOf(known), 1)
    },
    rest: () => ({ bids: levelsOf(sides.BUY), asks: levelsOf(sides.SELL) })
  }
}

const levelsOf = (orders: ReadonlyArray<PlainOrder>): Levels => {
  const levels = new Map<number, number>()
  for (const { price, left } of orders) levels.set(price, (levels.get(price) ?? 0) + left)
  return [...levels]
}

export const peerBook = (): ComparedBook => {
  const book = new OrderBook()
  return {
    take: (order) => {
      if (order.cancel !== null) return void book.cancel(order.cancel)
      const { ref: id, price, quantity: size } = order
      book.limit({ id, side: order.side === "BUY" ? Side.BUY : Side.SELL, price, size })
    },
    rest: () => {
      const [asks, bids] = book.depth()
      const by = (direction: 1 | -1) => (one: readonly [number, number], other: readonly [number, number]) =>
        (one[0] - other[0]) * direction
      return { bids: bids.toSorted(by(-1)), asks: asks.toSorted(by(1)) }
    }
  }
}
