/**
 * Every effect that a machine may emit, as one closed union of plain data. The interpreter (runtime/effects/Interpreter.ts)
 * turns each into rows of the same commit, exhaustively by type. Time, ids and amounts arrive in events; the engine adds the
 * actor and the time (doc 3, derived events; architecture, Engine; A2-62, A2-64, A2-98, A2-26).
 */
import type { Currency } from "./shared/Currency.ts"
import type { JsonObject } from "./shared/Json.ts"
import type { LedgerEntryType } from "./postingRules.ts"
import type { TimerName } from "./timerNames.ts"
import type { VenueCall } from "./venue/venueCalls.ts"

/** Webhook events that the service publishes by their names. The sweep derives all others from the feeds (`FeedEventName`). */
export type EventName =
  | "client.onboarded"
  | "client.review_required"
  | "client.level_changed"
  | "appropriateness.result"
  | "kyc.rejected"
  | "kyc.documents_requested"
  | "deposit.confirmed"
  | "deposit.rejected"
  | "collateral.booked"
  | "collateral.refused"
  | "settlement.item_created"
  | "withdrawal.status"
  | "webhook.test"

/** Webhook events that the sweep derives from the clients' notification feeds. */
export type FeedEventName =
  | "client.verification_decision"
  | "margin.restriction_set"
  | "margin.restriction_lifted"
  | "money.movement"
  | "barrier.near_take_profit"
  | "barrier.near_barrier"
  | "barrier.expiry_soon"
  | "swap.settled"
  | "swap.defaulted"
  | "statement.ready"

/** Feed kinds that also become a webhook event. */
export type ForwardedKind =
  | "VERIFICATION_DECISION"
  | "RESTRICTION_SET"
  | "RESTRICTION_LIFTED"
  | "MONEY_MOVEMENT"
  | "BARRIER_NEAR_TP"
  | "BARRIER_NEAR_KO"
  | "BARRIER_EXPIRY_SOON"
  | "SWAP_SETTLED"
  | "SWAP_DEFAULTED"
  | "STATEMENT_READY"

/** Kinds of the client's notification feed without a webhook event: partners poll them. */
export type PolledKind =
  | "APPROPRIATENESS_RETAKE"
  | "BARRIER_OPENED"
  | "BARRIER_SETTLED"
  | "RFQ_EXPIRED"
  | "MARGIN_CALL"
  | "CLOSE_OUT"
  | "LEVERAGE_LOSS_10"
  | "ORDER_FILLED"
  | "ORDER_REJECTED"

export type NotificationKind = ForwardedKind | PolledKind

export type MachineEffect =
  /**
   * One balanced ledger transaction. `amount` is signed from the client's view, a decimal string in the currency's scale.
   * `key` is unique for ever.
   */
  | {
      readonly type: "ledger.post"
      readonly entry: LedgerEntryType
      readonly key: string
      readonly currency: Currency
      readonly amount: string
      /** The opposite amount in another currency, booked in the same transaction. */
      readonly also?: { readonly currency: Currency; readonly amount: string }
      readonly reason: string | null
      readonly refs: JsonObject
    }
  /** A webhook event, written in the transaction of its cause. */
  | { readonly type: "event"; readonly name: EventName; readonly data: JsonObject }
  /** A row of the client's notification feed; `ref` is the id of its object. */
  | { readonly type: "notify"; readonly kind: NotificationKind; readonly ref: string }
  /** Sets a durable timer of this subject; it fires as an ordinary event named `name`. */
  | { readonly type: "timer.set"; readonly name: TimerName; readonly at: number }
  | { readonly type: "timer.clear"; readonly name: TimerName }
  /**
   * A venue call under a ref of this object, made once and outside the mailbox. The call is in flight from this commit until
   * the commit that records its result.
   */
  | { readonly type: "venue.call"; readonly call: VenueCall }
  /** A row of the audit streams. `before` and `after` name states or facts, never personal data. */
  | {
      readonly type: "audit"
      readonly action: string
      readonly before: string | null
      readonly after: string | null
      readonly reason: string | null
    }

export type EffectOf<T extends MachineEffect["type"]> = Extract<MachineEffect, { readonly type: T }>
