/**
 * The protection of an order: take profit and stop loss for its fills. The legs are reduce-only orders in one group at the
 * venue, so that the first fill of one ends the other. Legs are placed in rounds: after a leg has fired, the legs for later
 * fills of the parent get a new group (doc 2, Order `attach`; D7, A2-40, A2-41, A2-36).
 */
import { isWorking, type OrderContext } from "./Order.ts"
import type { Attached } from "./OrderBody.ts"
import type { OrderType } from "./orderTokens.ts"

/** The two levels of a protection. */
export const legRoles = ["takeProfit", "stopLoss"] as const
export type LegRole = (typeof legRoles)[number]

/** A protective order that may still work at the venue. Quantities are decimal texts on the market's grid. */
export interface Leg {
  readonly orderId: number
  readonly role: LegRole
  readonly round: number
  /** True when the leg was sent at MARKET because its level had been passed. */
  readonly atMarket: boolean
  /** The last requested quantity, and the parent's filled quantity at that time. */
  readonly asked: string
  readonly askedFor: string
  /** The number of requests for that quantity: an amendment can be in doubt or refused. */
  readonly tries: number
  /** The part of the parent's fills that the venue has confirmed this leg to cover. */
  readonly standsFor: string
}

/** A leg that ended without a trade, and must be sent again at MARKET. */
export interface Again {
  readonly role: LegRole
  readonly orderId: number
  /**
   * True when the leg met its own parent's order, or an empty book. The leg then waits until the parent's remaining quantity has
   * left the book.
   */
  readonly waits: boolean
}

/** A leg that the venue refused, or never received. It is retried as long as its position exists. */
export interface Unplaced {
  readonly role: LegRole
  /** The last refused order of the leg. */
  readonly orderId: number
  /** The mark has passed the level of the leg, so it is sent at MARKET. */
  readonly atMarket: boolean
  /** The number of failed attempts in a row. */
  readonly attempts: number
  readonly failedAt: number
  /** The venue's reason, unchanged. */
  readonly reason: string
}

/** Pauses between two attempts: they double from the first to the longest, ms. */
const firstPause = 1_000
const longestPause = 300_000

/** The time of the next attempt, Unix ms. */
export const attemptDueAt = ({ attempts, failedAt }: Unplaced): number =>
  failedAt + Math.min(firstPause * 2 ** Math.min(attempts - 1, 10), longestPause)

/** The known state of the parent and its legs: the complete input of the next step. */
export interface Standing {
  /** The parent's last known filled quantity. */
  readonly filled: string
  readonly parentWorks: boolean
  /** The number of rounds; zero when no leg was ever placed. */
  readonly round: number
  /** The part of the parent's fills that earlier rounds covered. */
  readonly before: string
  /** The part of the parent's fills covered so far, by ended or fired legs of this round too. */
  readonly dealt: string
  /** The quantity traded by legs of this round that have ended. */
  readonly taken: string
  /** True when a leg of this round has traded: the other leg must end. */
  readonly traded: boolean
  /** The number of legs of this round that were sent at MARKET. */
  readonly atMarket: number
  readonly again: Again | null
  /** Refused legs that wait for a retry, at most one per level. */
  readonly unplaced: ReadonlyArray<Unplaced>
  /** Legs that may still work at the venue, of any round. */
  readonly legs: ReadonlyArray<Leg>
}

export interface AttachmentInput extends Attached {
  /** The parent order; the attachment has the same id. */
  readonly orderId: number
  readonly clientId: number
  readonly symbol: string
  /** The parent's side. */
  readonly side: "BUY" | "SELL"
  readonly qtyDecimals: number
  readonly createdAt: number
  readonly updatedAt: number
}

export interface AttachmentContext extends AttachmentInput {
  readonly standing: Standing
  /** True when a further step is possible: the parent or a leg still works. */
  readonly live: boolean
  /** The time since which a refused leg waits for its placement. Null when every leg is placed, or none is needed. */
  readonly unplacedSince: number | null
}

/** Each event carries the new standing. */
interface Planned {
  readonly at: number
  readonly standing: Standing
}

export type AttachmentEvent =
  /** Sends the legs of a new round to the venue. */
  | ({ readonly type: "PLACE" } & Planned)
  /** The venue has every leg of the round. */
  | ({ readonly type: "STAND" } & Planned)
  /** A leg has traded, or is sent at MARKET. */
  | ({ readonly type: "FIRE" } & Planned)
  /** No quantity is left to protect, or no leg is left to protect it. */
  | ({ readonly type: "CLOSE" } & Planned)
  /** The parent or the legs have changed; the new standing records it. */
  | ({ readonly type: "FOLLOW" } & Planned)

export type AttachmentState = "ARMED" | "PLACING" | "ACTIVE" | "FIRED" | "CLOSED"

/** The standing before the first fill. */
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

/** The order type of a leg, by its role and by whether it rests at a limit price once it is triggered. */
export const legType = (role: LegRole, hasLimit: boolean): OrderType =>
  role === "takeProfit"
    ? hasLimit
      ? "TAKE_PROFIT_LIMIT"
      : "TAKE_PROFIT_MARKET"
    : hasLimit
      ? "STOP_LIMIT"
      : "STOP_MARKET"

/**
 * The direction in which a leg triggers. The stop loss of a long triggers at or below its level, its take profit at or above;
 * a short has the opposite.
 */
export const legDirection = (role: LegRole, parentSide: "BUY" | "SELL"): "AT_OR_ABOVE" | "AT_OR_BELOW" =>
  (role === "takeProfit") === (parentSide === "BUY") ? "AT_OR_ABOVE" : "AT_OR_BELOW"

/** Whether a further step is possible from a standing. */
export const isLive = ({ parentWorks, legs, again, unplaced }: Standing): boolean =>
  parentWorks || legs.length > 0 || again !== null || unplaced.length > 0

/** An order's state for the plan. Quantities are decimal texts. */
export interface OrderNow {
  readonly works: boolean
  readonly qty: string
  readonly filledQty: string
  /** Sent to the venue and not acknowledged yet. */
  readonly placing: boolean
  /** True while the placement, an amendment or a cancel of the leg is in flight. */
  readonly changing: boolean
  readonly cancels: number
  readonly rejected: boolean
  /** The venue's reason for the end, or the order's note; null while it works. */
  readonly why: string | null
}

/** The state of an order for the plan, from its row. */
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
