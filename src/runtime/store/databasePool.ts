/** A pool of connections for reads, each bounded in what it waits for. */
import { PgClient } from "@effect/sql-pg"
import type { Layer, Redacted } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

export interface PoolOptions {
  readonly url: Redacted.Redacted
  readonly maxConnections: number
  /** As the database shows it. */
  readonly applicationName: string
}

export const layerDatabasePool = (
  options: PoolOptions
): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, SqlError.SqlError> =>
  PgClient.layer({
    ...options,
    connectTimeout: "5 seconds",
    startupParameters: {
      // A statement takes one processor at most: workers cost more to start than a page takes, and others find a processor free.
      max_parallel_workers_per_gather: "0",
      jit: "off",
      statement_timeout: "30000",
      lock_timeout: "5000",
      idle_in_transaction_session_timeout: "60000"
    }
  })
