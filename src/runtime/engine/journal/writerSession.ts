/** The journal's one database session: its name, its settings, and its timeouts (architecture section 8). */

import type { PgConnection } from "@effect/sql-pg"
import { endsAbandoned } from "../databaseSockets.ts"

/** The statements of the connection. A statement without a timely response loses its connection and counts as lost. */
export type WriterSession = Pick<PgConnection.PgConnection, "processId" | "query" | "queryValues">

/** Distinguishes our backends from foreign ones with the same pid. */
export const applicationName = "brokerage-journal"

/**
 * Every row the writer touches is found by its key: a plan kept from when a table was small must never scan it later. No
 * statement of the writer may wait for ever.
 */
export const writerSession = {
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  jit: "off",
  // The plan does not depend on the contents of the arrays: the first five batches of a text need no plans of their own.
  plan_cache_mode: "force_generic_plan",
  // For the takeover: the previous writer may be in the middle of a batch. Batches have their own lock timeout (lockPatience).
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
 * How long a batch waits for one lock, ms. `usual`: a worker or a check may hold a lock for a moment. `brief`: while another
 * session is known to hold locks, because further locks of that session are likely.
 */
export const lockPatience = { usual: 1_000, brief: 50 } as const
