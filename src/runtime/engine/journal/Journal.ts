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
 * The outcome of a commit. `ClaimLost`: a unique fact is taken (by `owner`); nothing was written. `Fenced`: memory was stale;
 * reload and decide again. `PartnerMoved`: the partner has changed; decide again. `Rejected`: the database refuses the data;
 * nothing was written. `Unavailable`: nothing was written, or the outcome is not known yet (`unknown`); the caller retries later.
 */
export type Outcome =
  | { readonly _tag: "Committed" }
  | { readonly _tag: "ClaimLost"; readonly claims: ReadonlyArray<Claim> }
  | { readonly _tag: "Fenced" }
  | { readonly _tag: "PartnerMoved" }
  | { readonly _tag: "Rejected"; readonly cause: unknown }
  | { readonly _tag: "Unavailable"; readonly unknown: boolean }

/**
 * The origin of a commit. Commits of callers are refused when the queue is full. Internal commits (venue events,
 * results of calls, timers, sweeps) are never refused: InternalLane limits them before they are submitted.
 */
export type Lane = "callers" | "internal"

/** A subject as stored: its token (null if it does not exist) and its resident rows. */
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
     * Queues a commit; `done` is called in order when its outcome is known. Never throws, never blocks. Default lane: callers.
     *
     * `Unavailable` with `unknown` may not be final: if the commit proves to be committed, `done` is called once more, with
     * `Committed`. The caller is gone by then, but the projections must receive the rows before the journal accepts again. Both
     * lanes share one queue, so that ids, which are taken at the decision, increase in commit order.
     */
    submit(commit: Commit, done: (outcome: Outcome) => void, lane?: Lane): void
    /**
     * False while the database is away or can't write, or, for callers (the default), while the queue is full. Checked before a
     * command claims anything.
     */
    readonly accepting: (lane?: Lane) => boolean
    /** False while the outcome of the last batch is unknown: memory may be behind the database. */
    readonly certain: () => boolean
    /**
     * Checks in the database that this process still owns it. Actions that must not happen twice wait for this check. False
     * also while the owner is unknown.
     */
    readonly owns: Effect.Effect<boolean>
    /** The name in the writer row while this process owns the database. A statement that compares it writes for the owner only. */
    readonly owner: string
    /**
     * Wall time, Unix ms, just before the last committed flush was sent: this process owned the database then. -Infinity before
     * the first flush, or while the database is away.
     */
    readonly ownedAt: () => number
    /**
     * The number of locks of other database sessions that block commits; the journal refuses those commits. `tables` counts
     * whole tables, and the writer row, which every commit needs.
     */
    readonly held: () => { readonly rows: number; readonly tables: number }
    /** Reads subjects in one go; the token of a subject that does not exist is null. */
    load(subjects: ReadonlyArray<SubjectKey>): Effect.Effect<ReadonlyMap<SubjectKey, SubjectImage>, JournalUnavailable>
    /** The next id of a kind. Ids are taken in decision order, which is commit order (gaps are normal). */
    readonly nextId: (kind: IdKind) => number
    /** Completes when ids may be reserved again after `nextId` threw IdsExhausted. */
    readonly idsRefilled: Effect.Effect<void>
    /** Waits until every submitted commit has its outcome. */
    readonly drain: Effect.Effect<void>
    /** Registers `stop`, called once when another process has taken over the database: this process must stop. */
    readonly onUsurped: (stop: () => void) => void
    /** Sizes of the last batches (newest last, at most 1,024), for the benchmark and metrics. */
    readonly batchSizes: () => ReadonlyArray<number>
    /** All batches of this process, for metrics. */
    readonly batches: () => Pick<BatchSizes, "batches" | "commits" | "buckets">
  }
>()("brokerage/runtime/engine/journal/Journal") {}

/** The most commits that wait for a flush; further commits of callers are refused with `Unavailable`. */
export const journalQueueLimit = 8_192
/** The most commits in one batch. */
export const batchLimit = 256
/**
 * The most rows in one batch; a larger commit is written alone. A full batch of money commits (256 of twelve rows) fits. Measured
 * on two busy cores: 1,024 rows are committed after some 20 ms, 2,048 after 40, 3,072 after 60 (decision 14).
 */
export const batchRowLimit = 3_072
/**
 * The most rows of internal commits in one batch; a larger commit is written alone. Half of the rows that `InternalLane` admits:
 * while the server writes one half, the other half is decided.
 */
export const internalBatchRows = 1_024
