/**
 * The protection of an order: take profit and stop loss that follow what it fills (doc 2, Order `attach`; D7; A2-40, A2-41).
 * Its legs are orders of their own, reduce-only, one group at the venue, so that the first fill of one ends the other there.
 * Legs are placed in rounds: one that has fired is never in a group with those of what its parent fills afterwards.
 */
import { isWorking, type OrderContext } from "./Order.ts"
import type { Attached } from "./OrderBody.ts"
import type { OrderType } from "./orderTokens.ts"

/** Which of the two levels a leg is at. */
export const legRoles = ["takeProfit", "stopLoss"] as const
export type LegRole = (typeof legRoles)[number]

/** An order that protects, while the venue may work on it. Quantities are decimal texts on the market's grid. */
export interface Leg {
  readonly orderId: number
  readonly role: LegRole
  readonly round: number
  /** Sent at MARKET, its level being passed. */
  readonly atMarket: boolean
  /** The quantity that it was last asked to have, and what its parent had filled then. */
  readonly asked: string
  readonly askedFor: string
  /** How often it was asked for that: an amendment can be lost or refused. */
  readonly tries: number
  /** What of its parent's fills it is known to stand for. */
  readonly standsFor: string
}

/** A leg that ended without having been able to trade, and that must be sent again at MARKET. */
export interface Again {
  readonly role: LegRole
  readonly orderId: number
  /** It met its own parent's order, or nobody: not before the parent's rest is out of the book. */
  readonly waits: boolean
}

/** A leg that the venue refused, or never received. It is placed again while its position stands. */
export interface Unplaced {
  readonly role: LegRole
  /** The last refused order of the leg. */
  readonly orderId: number
  /** Its level is passed, so it goes to the market. */
  readonly atMarket: boolean
  /** The number of failed attempts in a row. */
  readonly attempts: number
  readonly failedAt: number
  /** In the venue's words. */
  readonly reason: string
}

/** Pauses between two attempts: they double from the first to the longest, ms. */
const firstPause = 1_000
const longestPause = 300_000

/** When the next attempt is due, Unix ms. */
export const attemptDueAt = ({ attempts, failedAt }: Unplaced): number =>
  failedAt + Math.min(firstPause * 2 ** Math.min(attempts - 1, 10), longestPause)

/** What is known of the parent and of its legs: everything that the next step rests on. */
export interface Standing {
  /** As the parent was last seen. */
  readonly filled: string
  readonly parentWorks: boolean
  /** Rounds so far; zero: no leg was ever placed. */
  readonly round: number
  /** What of the parent's fills the rounds before this one were for. */
  readonly before: string
  /** With those of this round that have ended or fired. */
  readonly dealt: string
  /** What legs of this round have traded that are over. */
  readonly taken: string
  /** A leg of this round has traded: the others are to end. */
  readonly traded: boolean
  /** Legs of this round that were sent at MARKET. */
  readonly atMarket: number
  readonly again: Again | null
  /** At most one for each level. */
  readonly unplaced: ReadonlyArray<Unplaced>
  /** Those that the venue may still work on, of whatever round. */
  readonly legs: ReadonlyArray<Leg>
}

export interface AttachmentInput extends Attached {
  /** Its parent, whose id it has. */
  readonly orderId: number
  readonly clientId: number
  readonly symbol: string
  /** Of the parent. */
  readonly side: "BUY" | "SELL"
  readonly qtyDecimals: number
  readonly createdAt: number
  readonly updatedAt: number
}

export interface AttachmentContext extends AttachmentInput {
  readonly standing: Standing
  /** Something can still follow: the parent works, or a leg does. */
  readonly live: boolean
  /** Since when a refused leg waits for its placement; null: every leg is placed, or none is needed. */
  readonly unplacedSince: number | null
}

/** Each carries what is known from then on. */
interface Planned {
  readonly at: number
  readonly standing: Standing
}

export type AttachmentEvent =
  /** Legs of a new round go to the venue. */
  | ({ readonly type: "PLACE" } & Planned)
  /** The venue has every leg of the round. */
  | ({ readonly type: "STAND" } & Planned)
  /** A leg trades, or goes to the market at once. */
  | ({ readonly type: "FIRE" } & Planned)
  /** Nothing of it is left to protect, or to protect with. */
  | ({ readonly type: "CLOSE" } & Planned)
  /** Its parent or its legs have changed, and it follows. */
  | ({ readonly type: "FOLLOW" } & Planned)

export type AttachmentState = "ARMED" | "PLACING" | "ACTIVE" | "FIRED" | "CLOSED"

/** Before anything was filled. */
export const firstStanding: Standing = {
  filled: "0",
  parentWorks: true,
  round: 0,
  before: "0",
  dealt: "0",
  taken: "0",
  traded: false,
  atMarket: 0,
  again: null,
  unplaced: [],
  legs: []
}

/** The group of a round's legs at the venue. */
export const groupOf = (orderId: number, round: number): string =>
  round === 1 ? `att:${orderId}` : `att:${orderId}:${round}`

/** What kind of order a leg is. */
export const legType = (role: LegRole, hasLimit: boolean): OrderType =>
  role === "takeProfit"
    ? hasLimit
      ? "TAKE_PROFIT_LIMIT"
      : "TAKE_PROFIT_MARKET"
    : hasLimit
      ? "STOP_LIMIT"
      : "STOP_MARKET"

/** When a leg fires: a stop loss of a long falls to its level, its take profit rises to it; reversed for a short (A2-36). */
export const legDirection = (role: LegRole, parentSide: "BUY" | "SELL"): "AT_OR_ABOVE" | "AT_OR_BELOW" =>
  (role === "takeProfit") === (parentSide === "BUY") ? "AT_OR_ABOVE" : "AT_OR_BELOW"

/** Whether something can still follow from where it stands. */
export const isLive = ({ parentWorks, legs, again, unplaced }: Standing): boolean =>
  parentWorks || legs.length > 0 || again !== null || unplaced.length > 0

/** An order as a plan sees it. Quantities are decimal texts. */
export interface OrderNow {
  readonly works: boolean
  readonly qty: string
  readonly filledQty: string
  /** Sent to the venue, which has not acknowledged it yet. */
  readonly placing: boolean
  /** Its placement, an amendment or a cancel is in flight. */
  readonly changing: boolean
  readonly cancels: number
  readonly rejected: boolean
  /** How it ended, in the venue's words. */
  readonly why: string | null
}

/** An order's row as a plan sees it. */
export const orderNow = ({ state, context }: { readonly state: string; readonly context: OrderContext }): OrderNow => {
  const { qty, filledQty, cancels, amending, reject, note } = context
  const placing = state === "CHECKED" || state === "SENT"
  return {
    works: isWorking({ state }),
    qty,
    filledQty,
    placing,
    changing: placing || state === "PENDING_CANCEL" || amending !== null,
    cancels,
    rejected: state === "REJECTED",
    why: reject ?? note
  }
}
