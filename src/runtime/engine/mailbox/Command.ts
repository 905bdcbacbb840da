/** What callers hand to a mailbox: a command, who gives it, and what its decision sees and writes. */
import type { Facts } from "../../../machines/market/Facts.ts"
import type { IdKind, Tables } from "../../tables/Catalogue.ts"
import type { Claim, CommitBuilder, PartnerStamp, SubjectKey } from "../journal/Commit.ts"
import type { Lane } from "../journal/Journal.ts"
import type { SubjectState } from "./SubjectState.ts"

/** Who acts: shown as a role, kept in the audit with the key's label and the request's id. */
export interface Attribution {
  readonly role: string
  readonly keyLabel: string
  readonly requestId: string
  /** Ledger actor (A2-63): `partner:<CODE>`, `system:<component>` or a role. */
  readonly actor: string
  /** The unique fact that this command is done: taken by what it commits, so that it takes effect once (Four eyes). */
  readonly once?: Claim
}

/** What a decision sees and writes. `decide` must be pure apart from `draft` and `nextId`. */
export interface Turn {
  /** Business time of the decision, Unix ms. */
  readonly now: number
  readonly state: SubjectState
  /** The market as the turn sees it: taken once, when the decision starts, and anew when it is decided again. */
  readonly facts: Facts
  readonly draft: CommitBuilder
  readonly by: Attribution
  readonly nextId: (kind: IdKind) => number
}

export interface Command<A> {
  readonly subject: SubjectKey
  readonly by: Attribution
  /** `internal`: of no caller, never refused for lack of room; it may wait for its decision (InternalLane). Default: callers. */
  readonly lane?: Lane
  /** The partner configuration the decision reads; read when the turn starts. */
  readonly partner?: () => PartnerStamp
  readonly decide: (turn: Turn) => A
  /** Stores the answer of the request in the same commit, so that a retry gets the same bytes (A1-51). */
  readonly store?: StoreAnswer<A>
}

/** Stores the answer of a request. */
export interface StoreAnswer<A> {
  /** The row that a retry is served from. Null: the request has no key, or its answer is not kept. */
  row(value: A, turn: Pick<Turn, "now">): Tables["answers"] | null
  /** Receives the row once the commit that has it succeeded, before the command's value. */
  committed(row: Tables["answers"]): void
}

/** Of a request without an Idempotency-Key. */
export const storeNothing: StoreAnswer<unknown> = { row: () => null, committed: () => {} }
