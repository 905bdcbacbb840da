/**
 * Stops a command at its first read of a table, so that a race between this read and the command's turn has one known
 * order.
 */
import { PgClient } from "@effect/sql-pg"
import { Deferred, Effect } from "effect"
import { query } from "./Builders.ts"
import type { Service } from "./Service.ts"

/**
 * Starts the command, waits until it is blocked by the lock on the table, runs `meanwhile` and releases the lock.
 * Returns the answer of the command.
 */
export const heldAt = async <A>(
  service: Service,
  table: string,
  start: () => Promise<A>,
  meanwhile: () => Promise<unknown>
): Promise<A> => {
  const sql = await service.run(PgClient.PgClient)
  const locked = await service.run(Deferred.make<void>())
  const release = await service.run(Deferred.make<void>())
  const holding = service.run(
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql.unsafe(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
        yield* Deferred.succeed(locked, undefined)
        yield* Deferred.await(release)
      })
    )
  )
  await Promise.race([service.run(Deferred.await(locked)), holding])
  let answered = false
  const command = start().finally(() => (answered = true))
  // Databases cloned from one template share the object ids of their tables, so the query names the database too.
  const waiting = `SELECT 1 FROM pg_locks WHERE relation = '${table}'::regclass AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
  try {
    while ((await query(service, waiting)).length === 0) {
      if (answered) throw new Error(`the command never looked at ${table}`)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await meanwhile()
  } finally {
    await service.run(Deferred.succeed(release, undefined))
    await holding
  }
  return await command
}
