/**
 * What an account has in one perpetual market, and its part in the account's figures at a mark: a function of the two alone, so
 * that who keeps a holding may keep its part as long as neither moves (F3 to F6).
 */
import { type Facts, isFresh, type Mark } from "../market/Facts.ts"
import {
  isFlat,
  orderLossOf,
  orderMarginOf,
  type PerpPosition,
  type PerpTerms,
  positionMarginAt,
  unrealizedOf,
  type WorkingOrder
} from "./perpetual.ts"

/** What an account has in one perpetual market. */
export interface PerpHolding {
  readonly symbol: string
  /** Null: it never had one. A flat one counts like none. */
  readonly position: PerpPosition | null
  /** The market's working orders; reduce-only ones among them tie nothing up. */
  readonly orders: ReadonlyArray<WorkingOrder>
  readonly terms: PerpTerms
}

/** A mark as it is shown: when it was made shows in whether it is fresh. */
export type ShownMark = Pick<Mark, "price" | "places">

/** One market's parts of the account's figures. */
export interface PerpRisk {
  /** What they were worked out from. */
  readonly holding: PerpHolding
  /** The last one known; null: there never was one. */
  readonly mark: ShownMark | null
  readonly markFresh: boolean
  readonly unrealizedPnl: bigint
  /** Of the position. */
  readonly initialMargin: bigint
  readonly orderMargin: bigint
  /**
   * The loss against the mark if the working orders filled at once. No other order and no payment out may use this money (F13).
   */
  readonly orderLoss: bigint
}

/**
 * A market at the last mark known of it, however old (F3). A position whose market never had a mark is taken at its entry price,
 * like a contract: it counts neither profit nor loss, and ties up what it did when it was opened. It counts as stale, so nothing
 * that needs live marks is judged on it.
 */
export const perpRisk = (holding: PerpHolding, { marks, takenAt }: Pick<Facts, "marks" | "takenAt">): PerpRisk => {
  const { symbol, position, orders, terms } = holding
  const mark = marks.get(symbol) ?? null
  const held = heldIn(position)
  const price = mark?.price ?? held?.avgEntry ?? null
  const isOpen = held !== null && price !== null
  return {
    holding,
    mark,
    markFresh: mark !== null && takenAt !== null && isFresh(mark, takenAt),
    unrealizedPnl: isOpen ? unrealizedOf(held, price) : 0n,
    initialMargin: isOpen ? positionMarginAt(quantityOf(held), price, terms) : 0n,
    orderMargin: orderMarginOf(held?.netQty ?? "0", orders, price, terms),
    orderLoss: orderLossOf(orders, mark?.price ?? null, terms)
  }
}

/** What the orders of a market would tie up with one more. */
export const orderMarginWith = ({ holding, mark }: PerpRisk, order: WorkingOrder): bigint => {
  const { position, orders, terms } = holding
  const held = heldIn(position)
  return orderMarginOf(held?.netQty ?? "0", [...orders, order], mark?.price ?? held?.avgEntry ?? null, terms)
}

/** Whether there is a position. */
export const holds = ({ position }: PerpHolding): boolean => heldIn(position) !== null

const heldIn = (position: PerpPosition | null): PerpPosition | null =>
  position === null || isFlat(position) ? null : position

/** Limits have prices of their own; what is held, and what trades at the market, has the mark's (F3, F6). */
export const usesMark = (holding: PerpHolding): boolean =>
  holds(holding) || holding.orders.some(({ price, reduceOnly }) => price === null && !reduceOnly)

const quantityOf = ({ netQty }: PerpPosition): string => (netQty.startsWith("-") ? netQty.slice(1) : netQty)
