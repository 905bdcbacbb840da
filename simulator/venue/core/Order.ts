/** Orders of the simulated venue: prices in ticks, quantities in lots (A2-41). */
import type { Resting, Side } from "./Book.ts"
import type { Direction, Waiting } from "./Levels.ts"

export type TimeInForce = "GTC" | "IOC" | "FOK" | "POST_ONLY"
export type TriggerSource = "LAST" | "MARK" | "INDEX"

export interface Trigger {
  readonly source: TriggerSource
  readonly price: number
  readonly direction: Direction
}

/** An order request; `ref` is the caller's own name of it and is executed once. Null: an order of the simulator itself. */
export interface OrderRequest {
  readonly ref: string | null
  readonly accountId: number
  readonly symbol: string
  readonly side: Side
  /** Null: the order has no limit of its own. `boundBps` may still limit it. */
  readonly price: number | null
  /** Only for an order with a trigger: the order may trade this far from the mark at which it fires, in basis points. */
  readonly boundBps?: number
  readonly quantity: number
  readonly tif: TimeInForce
  readonly reduceOnly: boolean
  readonly trigger: Trigger | null
  /** The group of the order, whose first filled member ends the others; null without a group. */
  readonly group: string | null
}

/** WAITING for its trigger, WORKING in the book, or ended. */
export type OrderState = "WAITING" | "WORKING" | "FILLED" | "CANCELLED" | "REJECTED"

/** The venue's own words for the end of an order without a fill. */
export type EndReason =
  | "unknown market"
  | "rejected by the venue"
  | "no orders in this market"
  | "market halted"
  | "market delisted"
  | "quantity off the grid"
  | "quantity too small"
  | "quantity too large"
  | "notional too small"
  | "price outside the band"
  | "price required"
  | "would take liquidity"
  | "would trigger at once"
  | "no market"
  | "no position to reduce"
  | "not filled at once"
  | "self-trade"
  | "reduce-only empty"
  | "cancelled by the account"
  | "other of its group filled"

export interface Order extends Resting {
  readonly id: number
  readonly ref: string | null
  readonly symbol: string
  /** The price in ticks at which the order rests; 0 while the order has no limit. */
  price: number
  /** Lots of the whole order, as amended by the account. */
  quantity: number
  readonly tif: TimeInForce
  readonly reduceOnly: boolean
  readonly group: string | null
  /** The limit in ticks, or null for any price. An order with a bound gets its limit when its trigger fires. */
  limit: number | null
  boundBps: number | null
  readonly trigger: Trigger | null
  /** The order's registration at a price level; null if the order does not wait. */
  waiting: Waiting<Order> | null
  state: OrderState
  reason: EndReason | null
  triggeredAt: number | null
}

export const newOrder = (id: number, request: OrderRequest): Order => ({
  id,
  ref: request.ref,
  accountId: request.accountId,
  symbol: request.symbol,
  side: request.side,
  price: request.price ?? 0,
  limit: request.price,
  boundBps: request.boundBps ?? null,
  quantity: request.quantity,
  left: request.quantity,
  tif: request.tif,
  reduceOnly: request.reduceOnly,
  group: request.group,
  trigger: request.trigger,
  waiting: null,
  state: "WORKING",
  reason: null,
  triggeredAt: null,
  level: null,
  previous: null,
  next: null
})

export const isLive = ({ state }: Pick<Order, "state">): boolean => state === "WAITING" || state === "WORKING"
