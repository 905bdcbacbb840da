/** The commands of callers to a mailbox: the command, its principal, and the inputs and outputs of its decision. */
import type { Facts } from "../../../machines/market/Facts.ts"
import type { IdKind, Tables } from "../../tables/Catalogue.ts"
import type { Claim, CommitBuilder, PartnerStamp, SubjectKey } from "../journal/Commit.ts"
import type { Lane } from "../journal/Journal.ts"
import type { SubjectState } from "./SubjectState.ts"

/** The principal: shown as a role, and kept in the audit with the key's label and the request's id. */
export interface Attribution {
  readonly role: string
  readonly keyLabel: string
  readonly requestId: string
  /** The actor of ledger rows (A2-63): `partner:<CODE>`, `system:<component>` or a role. */
  readonly actor: string
  /** The unique fact that this command is done: its commit claims the fact, so that the command takes effect once (Four eyes). */
  readonly once?: Claim
}

/** The inputs and outputs of a decision. `decide` must be pure apart from `draft` and `nextId`. */
export interface Turn {
  /** Business time of the decision, Unix ms. */
  readonly now: number
  readonly state: SubjectState
  /** The market facts of the turn: taken once at the start of each decision. */
  readonly facts: Facts
  readonly draft: CommitBuilder
  readonly by: Attribution
  readonly nextId: (kind: IdKind) => number
}

export interface Command<A> {
  readonly subject: SubjectKey
  readonly by: Attribution
  /**
   * `internal`: a command without a caller. It is never refused for lack of room, but may wait before its decision
   * (InternalLane). Default: callers.
   */
  readonly lane?: Lane
  /**
   * Reads the partner configuration on which the decision depends, when the turn starts. The commit fails if the
   * configuration has changed by then.
   */
  readonly partner?: () => PartnerStamp
  readonly decide: (turn: Turn) => A
  /** Stores the answer of the request in the commit of the command, so that a retry gets the same bytes (A1-51). */
  readonly store?: StoreAnswer<A>
}

/** Stores the answer of a request for retries with the same Idempotency-Key. */
export interface StoreAnswer<A> {
  /** The row from which a retry is answered; null if the request has no key, or its answer is not kept. */
  row(value: A, turn: Pick<Turn, "now">): Tables["answers"] | null
  /** Receives the row after its commit has succeeded, before the caller receives the command's value. */
  committed(row: Tables["answers"]): void
}

/** The `StoreAnswer` of a request without an Idempotency-Key. */
export const storeNothing: StoreAnswer<unknown> = { row: () => null, committed: () => {} }
