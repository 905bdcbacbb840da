/**
 * The journal's port: commits of many subjects become durable together, in the order they were submitted.
 * `JournalPg` writes a batch as one set-based statement; `JournalMemory` keeps the same promises without a
 * database. Both are held to test/runtime/engine/journalConformance.ts.
 */
import { Context, type Effect, Schema } from "effect"
import type { IdKind, TableName, Tables } from "../../tables/Catalogue.ts"
import type { BatchSizes } from "./BatchSizes.ts"
import type { Claim, Commit, SubjectKey } from "./Commit.ts"

/**
 * What became of a commit.
 * `ClaimLost`: a unique fact is taken (by `owner`); nothing was written. `Fenced`: memory was stale; reload and decide
 * again. `PartnerMoved`: the partner changed meanwhile; decide again. `Rejected`: the database refuses the data; nothing
 * was written. `Unavailable`: nothing was written, or nobody can know yet (`unknown`); the caller retries later.
 */
export type Outcome =
  | { readonly _tag: "Committed" }
  | { readonly _tag: "ClaimLost"; readonly claims: ReadonlyArray<Claim> }
  | { readonly _tag: "Fenced" }
  | { readonly _tag: "PartnerMoved" }
  | { readonly _tag: "Rejected"; readonly cause: unknown }
  | { readonly _tag: "Unavailable"; readonly unknown: boolean }

/**
 * Whose commit it is. Those of callers are refused when the queue is full; internal ones (what the venue says, results of
 * calls, timers, sweeps) never are: who submits them holds back (InternalLane).
 */
export type Lane = "callers" | "internal"

/** A subject as stored: its token (null when it does not exist) and its resident rows. */
export interface SubjectImage {
  readonly token: number | null
  readonly rows: ReadonlyArray<{ readonly [T in TableName]: { readonly table: T; readonly row: Tables[T] } }[TableName]>
}

/** The database (or its stand-in) can't be reached now: HTTP 503 code 5030 with Retry-After. */
export class JournalUnavailable extends Schema.TaggedError<JournalUnavailable>()("JournalUnavailable", {
  reason: Schema.String
}) {}

export class Journal extends Context.Service<
  Journal,
  {
    /**
     * Queues a commit; `done` is called in order when its fate is known. Never throws, never blocks. After
     * `Unavailable` with `unknown` it is called once more, with `Committed`, if the commit turns out to be in: nobody
     * waits for that word any more, but what follows committed rows must hear it, before the journal accepts again.
     * Both lanes have one queue: ids are taken at the decision, and their order is that of the commits. Default: callers.
     */
    submit(commit: Commit, done: (outcome: Outcome) => void, lane?: Lane): void
    /**
     * False while the database is away or can't write, or, for callers (the default), the queue is full: refuse before
     * anything is claimed.
     */
    readonly accepting: (lane?: Lane) => boolean
    /** False while nobody knows whether the last batch is in: what memory holds may be behind the database. */
    readonly certain: () => boolean
    /**
     * Whether this process owns the database, asked of the database itself: what must not happen twice waits for it. False
     * also while it is not known.
     */
    readonly owns: Effect.Effect<boolean>
    /**
     * Wall time, Unix ms, before the last flush that is in was sent: the database has said with it that this process owned it
     * then. -Infinity while it has not, or the database is away.
     */
    readonly ownedAt: () => number
    /**
     * What other database sessions hold locked that commits need: such commits are refused. `tables` counts whole tables,
     * and the one row without which nothing can be written.
     */
    readonly held: () => { readonly rows: number; readonly tables: number }
    /** Reads subjects in one go; a subject that does not exist has token null. */
    load(subjects: ReadonlyArray<SubjectKey>): Effect.Effect<ReadonlyMap<SubjectKey, SubjectImage>, JournalUnavailable>
    /** The next id of a kind. Ids are taken in decision order, which is commit order (gaps are normal). */
    readonly nextId: (kind: IdKind) => number
    /** Completes when ids may be reserved again after `nextId` threw IdsExhausted. */
    readonly idsRefilled: Effect.Effect<void>
    /** Waits until every submitted commit has its outcome. */
    readonly drain: Effect.Effect<void>
    /** Called once when another process has taken the database over: this one must stop. */
    readonly onUsurped: (stop: () => void) => void
    /** Sizes of the last batches (newest last, at most 1,024), for the benchmark and metrics. */
    readonly batchSizes: () => ReadonlyArray<number>
    /** All batches of this process, for metrics. */
    readonly batches: () => Pick<BatchSizes, "batches" | "commits" | "buckets">
  }
>()("brokerage/runtime/engine/journal/Journal") {}

/** Commits waiting for a flush; more of callers are refused with `Unavailable`. */
export const journalQueueLimit = 8_192
/** Commits in one batch. */
export const batchLimit = 256
/**
 * Rows in one batch; a commit that has more by itself goes alone. A full batch of money commits (256 of twelve rows) fits.
 * Measured on two busy cores: 1,024 rows are in after some 20 ms, 2,048 after 40, 3,072 after 60 (decision 14).
 */
export const batchRowLimit = 3_072
/**
 * Rows of internal commits in one batch; a commit that has more by itself goes alone. Half of what the lane lets in
 * (`InternalLane`): while the server writes one half, the other is decided.
 */
export const internalBatchRows = 1_024
