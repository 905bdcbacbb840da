/** The journal's one database session: its name, its settings, and how long its statements may take (architecture section 8). */

import type { PgConnection } from "@effect/sql-pg"
import { endsAbandoned } from "../databaseSockets.ts"

/** The statements of the connection. A statement without an answer in time loses its connection and counts as lost. */
export type WriterSession = Pick<PgConnection.PgConnection, "processId" | "query" | "queryValues">

/** Distinguishes our backends from foreign ones with the same pid. */
export const applicationName = "brokerage-journal"

/**
 * Every row the writer touches is found by its key: a plan kept from when a table was small must never scan it later.
 * And no statement of a writer may wait for ever.
 */
export const writerSession = {
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  jit: "off",
  // The plan is the same whatever is in the arrays: not worth being made anew for the first five batches of a text.
  plan_cache_mode: "force_generic_plan",
  // For taking the database over: the writer before may be in the middle of a batch. Batches have their own (lockPatience).
  lock_timeout: "5000",
  statement_timeout: "30000",
  idle_in_transaction_session_timeout: "10000",
  ...endsAbandoned()
}

/**
 * The longest wait for the server's answer to one statement, wall ms. `batch` is far longer than any healthy commit and shorter
 * than the timeouts of callers. `takeOver` is longer than the previous writer may still hold its lock.
 */
export const answerMillis = { batch: 5_000, takeOver: 8_000 } as const

/**
 * Milliseconds that a batch waits for one lock. `usual`: what a worker or a checker holds for a moment is worth waiting for.
 * `brief`: while somebody is known to hold locks, for whatever more of theirs is in the way.
 */
export const lockPatience = { usual: 1_000, brief: 50 } as const
