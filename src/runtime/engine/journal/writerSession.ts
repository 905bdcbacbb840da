/** The journal's one database session: its name, its settings, and its timeouts (architecture section 8). */

import type { PgConnection } from "@effect/sql-pg"
import { endsAbandoned } from "../databaseSockets.ts"

/** The statements of the connection. A statement without a timely response loses its connection and counts as lost. */
export type WriterSession = Pick<PgConnection.PgConnection, "processId" | "query" | "queryValues">

/** Distinguishes our backends from foreign ones with the same pid. */
export const applicationName = "brokerage-journal"

/**
 * Sequential scans are off, because the writer finds every row by its key. A prepared plan from when a table was small would
 * otherwise scan it after it has grown. Timeouts end every statement of the writer.
 */
export const writerSession = {
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  jit: "off",
  // Postgres would plan the first five executions of each text individually. The plan does not depend on the values, so that is
  // wasted work.
  plan_cache_mode: "force_generic_plan",
  // The lock timeout for the takeover, when the previous writer may still be in the middle of a batch. Batches set their
  // own (lockPatience).
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
