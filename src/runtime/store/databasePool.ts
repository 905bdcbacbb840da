/** The pools of connections. The server and this process both limit how long a connection may wait. */
import { PgClient } from "@effect/sql-pg"
import { Effect, type Layer, type Redacted, type Scope } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import type { SqlClient, SqlError } from "effect/sql"
import { endsAbandoned, type QuietSockets, quietSockets } from "../engine/databaseSockets.ts"

export interface PoolOptions {
  readonly url: Redacted.Redacted
  readonly maxConnections: number
  /** The name under which the database shows the connection. */
  readonly applicationName: string
  /** A connection that receives no byte for this long is destroyed and replaced, wall ms. `quietMillis` by default. */
  readonly quiet?: number
}

export const makeDatabasePool = (
  options: PoolOptions
): Effect.Effect<PgClient.PgClient, SqlError.SqlError, Scope.Scope> =>
  Effect.flatMap(quietSockets(options.url, options.quiet), (sockets) => poolOn(sockets, options))

/** A pool whose caller holds the sockets, to shorten their timeout before the pool closes. */
export const poolOn = (
  { open, hurry }: QuietSockets,
  { quiet, ...options }: PoolOptions
): Effect.Effect<PgClient.PgClient, SqlError.SqlError, Scope.Scope> =>
  PgClient.make({
    ...options,
    stream: open,
    connectTimeout: "5 seconds",
    startupParameters: {
      // A statement uses one processor at most. Parallel workers take longer to start than a page takes to read, and other
      // work needs a free processor.
      max_parallel_workers_per_gather: "0",
      jit: "off",
      statement_timeout: "30000",
      lock_timeout: "5000",
      idle_in_transaction_session_timeout: "60000",
      ...endsAbandoned(quiet)
    }
  }).pipe(
    Effect.tap(() => Effect.addFinalizer(() => hurry)),
    Effect.provide(Reactivity.layer)
  )

export const layerDatabasePool = (
  options: PoolOptions
): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, SqlError.SqlError> =>
  PgClient.layerFrom(makeDatabasePool(options))
