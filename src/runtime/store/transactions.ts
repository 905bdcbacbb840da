/** Transactions in which a lost connection is a failure, and transactions that may take long by design. */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlError } from "effect/sql"
import { hanging } from "../engine/journal/sqlFailure.ts"
import { withinTime } from "../engine/withinTime.ts"
import { quietSockets } from "./databaseSockets.ts"

/** A transaction. The loss of its connection is a failure, not a defect, although the rollback fails as well. */
export const inTransaction = <A, E, R>(
  sql: PgClient.PgClient,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.catchDefect(sql.withTransaction(work), (defect) =>
    SqlError.isSqlError(defect) ? Effect.fail(defect) : Effect.die(defect)
  )

/**
 * A transaction with a connection of its own, for statements that may send no byte for a long time. It continues while the server
 * shows that it works for this connection. Ten seconds without such a sign fail it like a lost connection.
 */
export const longTransaction = <A, E, R>(
  sql: PgClient.PgClient,
  work: (own: PgClient.PgClient) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { url } = sql.config
      const own = yield* PgClient.make({
        ...sql.config,
        maxConnections: 1,
        ...(url === undefined ? {} : { stream: (yield* quietSockets(url, Infinity)).open })
      })
      return yield* inTransaction(
        own,
        Effect.gen(function* () {
          const [backend] = yield* own<{ readonly pid: number }>`SELECT pg_backend_pid() AS pid`
          return yield* Effect.raceFirst(work(own), withoutSign(sql, backend?.pid ?? 0))
        })
      )
    })
  ).pipe(Effect.provide(Reactivity.layer))

/**
 * The pause between two queries for a sign and the timeout of each, wall time. The transaction fails after `mostWithout` queries
 * in a row without a sign.
 */
const askEvery = "1500 millis"
const answerWithin = "1 second"
const mostWithout = 4

/** Fails once the server no longer shows work of a backend, or shows nothing. */
const withoutSign = (sql: PgClient.PgClient, pid: number): Effect.Effect<never, SqlError.SqlError> =>
  Effect.gen(function* () {
    let changedAt: string | null = null
    for (let without = 0; without < mostWithout;) {
      yield* Effect.sleep(askEvery)
      const shown = yield* Effect.orElseSucceed(
        withinTime(backendOf(sql, pid), () => hanging, answerWithin),
        () => null
      )
      // A backend is idle between two statements. A new time of its state change is a sign of work too.
      const isSign = shown !== null && (shown.works || shown.changedAt !== changedAt)
      without = isSign ? 0 : without + 1
      changedAt = shown?.changedAt ?? changedAt
    }
    return yield* Effect.fail(hanging)
  })

interface Backend {
  /** The backend executes a statement and does not wait for this process to read its answer. */
  readonly works: boolean
  readonly changedAt: string
}

const backendOf = (sql: PgClient.PgClient, pid: number): Effect.Effect<Backend | null, SqlError.SqlError> =>
  Effect.map(
    sql<Backend>`SELECT state = 'active' AND wait_event_type IS DISTINCT FROM 'Client' AS works, state_change::text AS "changedAt"
                   FROM pg_stat_activity WHERE pid = ${pid}`,
    ([row]) => row ?? null
  )
