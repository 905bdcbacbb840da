/**
 * What each kind of object that calls the venue does with what it hears: what became of a call, and what the venue says of
 * the object by itself. Both run in the client's turn, several in one turn: what came before in it is in the draft, so a
 * handler looks there first (`turn.draft.peek`), then at the state. `VenueHandlers.ts` has one for every kind.
 */
import type { VenueOwner } from "../../../machines/venue/venueRefs.ts"
import type { VenueOutcome } from "../../../machines/venue/venueCalls.ts"
import type { AccountFact } from "../../../machines/venue/VenueEvent.ts"
import type {
  VenueContract,
  VenueFill,
  VenueOrder,
  VenueQuote,
  VenueRfq,
  VenueSwap
} from "../../../machines/venue/venueObjects.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { VenueCallRow } from "../../tables/venue.ts"
import type { Verdict } from "./verdict.ts"

/** An outcome that stays as it is: UNKNOWN is none. */
export type DefiniteOutcome = VenueOutcome & { readonly outcome: "EXECUTED" | "REFUSED" | "VOID" }

/** What became of a call of an object. */
export interface CallEnd {
  /** The object's id. */
  readonly id: number
  readonly outcome: DefiniteOutcome
  /** The call as it was in flight; null: its end is known already, or the venue had it against all it said (D6). */
  readonly call: VenueCallRow | null
  /** The order's trades that the outcome reports and that come next in the account's sequence. */
  readonly fills?: ReadonlyArray<VenueFill>
}

/** Something that the venue says of an object. */
export interface Said {
  readonly id: number
  /** Business time at the venue. */
  readonly at: number
  readonly fact: AccountFact
}

/** How something that names no object comes among the events of its account. */
export interface Unnamed {
  /** Business time at the venue. */
  readonly at: number
  /** Nothing is missing of the account's events before it. */
  readonly isWhole: boolean
}

/** A quote that came for a request of ours, or changed its state. */
export interface Quoted {
  /** Of the request. */
  readonly id: number
  /** Business time at the venue. */
  readonly at: number
  readonly quote: VenueQuote
}

/** The objects that a message reports, from an answer, a look-up or an event. */
export interface SaidOfObject {
  readonly id: number
  /** The ref that the message names. */
  readonly ref: string
  /** Business time at the venue. */
  readonly at: number
  readonly order?: VenueOrder | null
  readonly fill?: VenueFill
  readonly fills?: VenueOutcome["fills"]
  readonly rfq?: VenueRfq | null
  readonly contract?: VenueContract | null
  readonly swap?: VenueSwap | null
}

export interface VenueHandler {
  /**
   * Whether the message fits the service's call. The check precedes every booking. A message that names no object of ours fits
   * (A2-115).
   */
  readonly verdict: (turn: Turn, said: SaidOfObject) => Verdict
  /**
   * Also hears what the venue answers for an object of which something unbelievable was said: a noun that holds money opens
   * the break of the difference here (A2-115).
   */
  readonly ended: (turn: Turn, end: CallEnd) => void
  /** False when there is no such object: what was said is set aside (A2-115). */
  readonly said: (turn: Turn, said: Said) => boolean
  /**
   * Keeps a quote beside the mailboxes: it is a fact of the venue's and no row, so hearing it takes no turn and no commit
   * (A2-22). The same one may be heard again. Null: nobody quotes for objects of this kind.
   */
  readonly quoted: ((quoted: Quoted) => void) | null
}

/** One for every kind that calls: what is missing does not compile. */
export type VenueHandlers = { readonly [O in VenueOwner]: VenueHandler } & {
  /** Answers whoever waits for the end of a call, in the turn that takes it. */
  readonly answered: (turn: Turn, ref: string) => void
  /** Whether a fact that names no object of ours is possible. The check precedes every booking (A2-97, F14). */
  readonly unnamedVerdict: (turn: Turn, fact: AccountFact) => Verdict
  /**
   * What the venue does in an account by itself, under no name of ours; false when nothing here can follow it, words when they say
   * why.
   */
  readonly unnamed: (turn: Turn, fact: AccountFact, said: Unnamed) => boolean | string
  /** What was said of the turn's client may be lost; null: of anybody. */
  readonly doubted: (turn: Turn | null) => void
}
