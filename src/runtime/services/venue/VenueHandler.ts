/**
 * The handlers of outcomes and venue events, one for each kind of object that calls the venue (`VenueHandlers.ts`).
 * They run in the client's turn. Several may run in one turn, so each must read the draft (`turn.draft.peek`) before
 * the state (A2-22, A2-97, A2-115, D6, F14).
 */
import type { VenueOwner } from "../../../machines/venue/venueRefs.ts"
import type { VenueOutcome } from "../../../machines/venue/venueCalls.ts"
import type { AccountFact } from "../../../machines/venue/VenueEvent.ts"
import type {
  VenueContract,
  VenueFill,
  VenueOrder,
  VenueQuote,
  VenueRfq
} from "../../../machines/venue/venueObjects.ts"
import { nounNames, type NounObjects, type VenueNounName } from "../../../machines/venue/venueNouns.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { VenueCallRow } from "../../tables/venue.ts"
import type { Verdict } from "./verdict.ts"

/** A final outcome, of a message or derived from an event. UNKNOWN is not final. */
export type DefiniteOutcome = Omit<VenueOutcome, VenueNounName> &
  NounObjects & { readonly outcome: "EXECUTED" | "REFUSED" | "VOID" }

/** The outcome of an object's call. */
export interface CallEnd {
  readonly id: number
  readonly outcome: DefiniteOutcome
  /** The call in flight; null: its outcome was known before, or this outcome contradicts an earlier one. */
  readonly call: VenueCallRow | null
  /** The order's trades in the outcome, if they are the next events of the account's sequence. */
  readonly fills?: ReadonlyArray<VenueFill>
}

/** A venue event that names one of the service's objects by its ref; `id` is the object's id. */
export interface ObjectFact {
  readonly id: number
  /** Business time at the venue. */
  readonly at: number
  readonly fact: AccountFact
}

/** An event that names no object: its time, and its place in the account's sequence. */
export interface Unnamed {
  /** Business time at the venue. */
  readonly at: number
  /** True: no earlier event of the account is missing. */
  readonly isWhole: boolean
}

/** A new quote for a request of ours, or a changed one. */
export interface Quoted {
  /** The id of the request. */
  readonly id: number
  /** Business time at the venue. */
  readonly at: number
  readonly quote: VenueQuote
}

/** The objects in a message of the venue: a response, a lookup result or an event. */
export interface ObjectReport extends NounObjects {
  readonly id: number
  /** The ref that the message names. */
  readonly ref: string
  /** Business time at the venue. */
  readonly at: number
  /** True: the message is an event, so its times are not before those of the account's earlier events. */
  readonly isEvent?: boolean
  /** The outcome of a call; absent in other messages. */
  readonly outcome?: VenueOutcome["outcome"]
  readonly order?: VenueOrder | null
  readonly fill?: VenueFill
  readonly fills?: VenueOutcome["fills"]
  readonly rfq?: VenueRfq | null
  readonly contract?: VenueContract | null
}

const objectKinds = ["order", "rfq", "contract", ...nounNames] as const

/** Whether the message reports an object of another kind than its ref names. */
export const reportsOther = (
  report: Partial<ObjectReport>,
  own: ReadonlyArray<(typeof objectKinds)[number]>
): boolean => objectKinds.some((kind) => !own.includes(kind) && (report[kind] ?? null) !== null)

export interface VenueHandler {
  /**
   * Checks whether the message fits the service's call. The check precedes every booking. A message that names no
   * object of ours fits.
   */
  readonly verdict: (turn: Turn, report: ObjectReport) => Verdict
  /**
   * Applies an outcome, including the venue's answer to a query after an implausible event. The handler of an object
   * that holds money opens a break if the outcome's amount differs from the held amount.
   */
  readonly ended: (turn: Turn, end: CallEnd) => void
  /** Applies an event. False: the object does not exist, so the event is quarantined. */
  readonly reported: (turn: Turn, report: ObjectFact) => boolean
  /**
   * Keeps a quote of the venue in memory, outside the client's mailbox: a quote is never stored, so it needs no commit. The
   * venue may send the same quote twice. Null: objects of this kind have no quotes.
   */
  readonly quoted: ((quoted: Quoted) => void) | null
}

/** A handler for every kind of object. The types reject a missing handler. */
export type VenueHandlers = { readonly [O in VenueOwner]: VenueHandler } & {
  /** Stores the answer for the waiting caller of a call, in the turn that applies the outcome. */
  readonly answered: (turn: Turn, ref: string) => void
  /** Checks whether an event that names no object of ours is possible. The check precedes every booking. */
  readonly unnamedVerdict: (turn: Turn, fact: AccountFact) => Verdict
  /**
   * Applies an event that the venue itself caused, without a ref of ours. Returns false or a reason if it can't be
   * applied.
   */
  readonly unnamed: (turn: Turn, fact: AccountFact, report: Unnamed) => boolean | string
  /** Called if events of the turn's client may be lost. Null: events of any client. */
  readonly doubted: (turn: Turn | null) => void
}
