/**
 * An account's position and orders in one perpetual market, and their part of the account's figures at a mark. The part
 * depends on position, orders and mark alone, so it can be cached while these do not change (F3..F6, F13).
 */
import { type Facts, isFresh, type Mark } from "../market/Facts.ts"
import type { Exact } from "../shared/Exact.ts"
import {
  isFlat,
  orderLossOf,
  orderMarginOf,
  turnoverOf,
  type PerpPosition,
  type PerpTerms,
  positionMarginAt,
  unrealizedOf,
  type WorkingOrder
} from "./perpetual.ts"

/** An account's position and orders in one perpetual market. */
export interface PerpHolding {
  readonly symbol: string
  /** Null when the account never had a position here. A flat position counts as none. */
  readonly position: PerpPosition | null
  /** The market's working orders; reduce-only orders need no margin. */
  readonly orders: ReadonlyArray<WorkingOrder>
  readonly terms: PerpTerms
}

/** A mark without its time: `markFresh` stands for the time. */
export type ShownMark = Pick<Mark, "price" | "places">

/** The figures of a market's working orders. */
export interface OrderParts {
  readonly orderMargin: bigint
  /** The part of `orderLoss` for turnover: the cost of closing more than the largest exposure at one time. */
  readonly turnover: bigint
  /**
   * The money reserved against bad fills: the loss against the mark if all working orders filled at once, plus `turnover`. No
   * other order and no withdrawal may use it.
   */
  readonly orderLoss: bigint
}

/** The contribution of one perpetual market to the account's figures. */
export interface PerpRisk extends OrderParts {
  /** The input that the figures were computed from. */
  readonly holding: PerpHolding
  /** The last known mark; null when there never was one. */
  readonly mark: ShownMark | null
  readonly markFresh: boolean
  readonly unrealizedPnl: bigint
  /** Initial margin of the position. */
  readonly initialMargin: bigint
}

/**
 * Values a market at its last known mark, however old. A position whose market never had a mark is valued at its entry price,
 * so it has neither profit nor loss, and its margin is that of its opening. Such a position counts as stale, so no decision
 * that needs live marks uses it.
 */
export const perpRisk = (holding: PerpHolding, { marks, takenAt }: Pick<Facts, "marks" | "takenAt">): PerpRisk => {
  const { symbol, position, orders, terms } = holding
  const mark = marks.get(symbol) ?? null
  const held = heldIn(position)
  const price = mark?.price ?? held?.avgEntry ?? null
  const isOpen = held !== null && price !== null
  const initialMargin = isOpen ? positionMarginAt(quantityOf(held), price, terms) : 0n
  return {
    holding,
    mark,
    markFresh: mark !== null && takenAt !== null && isFresh(mark, takenAt),
    unrealizedPnl: isOpen ? unrealizedOf(held, price) : 0n,
    initialMargin,
    ...partsOf(held?.netQty ?? "0", orders, { price, mark, initialMargin, terms })
  }
}

interface Priced extends Pick<PerpRisk, "mark" | "initialMargin"> {
  readonly price: Exact | null
  readonly terms: PerpTerms
}

const partsOf = (
  netQty: string,
  orders: ReadonlyArray<WorkingOrder>,
  { price, mark, initialMargin, terms }: Priced
): OrderParts => {
  const orderMargin = orderMarginOf(netQty, orders, price, terms)
  const at = mark?.price ?? null
  const turnover = turnoverOf(netQty, orders, { mark: at, tiedUp: initialMargin + orderMargin, terms })
  return { orderMargin, turnover, orderLoss: orderLossOf(orders, at, terms) + turnover }
}

/** The figures of the market's working orders together with one more order. */
export const ordersWith = ({ holding, mark, initialMargin }: PerpRisk, order: WorkingOrder): OrderParts => {
  const { position, orders, terms } = holding
  const held = heldIn(position)
  const price = mark?.price ?? held?.avgEntry ?? null
  return partsOf(held?.netQty ?? "0", [...orders, order], { price, mark, initialMargin, terms })
}

/** True if the market has a position with a quantity other than zero. */
export const holds = ({ position }: PerpHolding): boolean => heldIn(position) !== null

const heldIn = (position: PerpPosition | null): PerpPosition | null =>
  position === null || isFlat(position) ? null : position

/**
 * Whether the figures of a market use its mark. Positions and MARKET orders are priced at the mark. A limit order has its own
 * price, but without a mark its loss is unknown.
 */
export const usesMark = ({ holding, mark }: Pick<PerpRisk, "holding" | "mark">): boolean =>
  holds(holding) || holding.orders.some(({ price, reduceOnly }) => !reduceOnly && (price === null || mark === null))

const quantityOf = ({ netQty }: PerpPosition): string => (netQty.startsWith("-") ? netQty.slice(1) : netQty)
