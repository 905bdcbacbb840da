/** Holds a command at its first look at a table, so that a race between that look and its turn has one known order. */
import { PgClient } from "@effect/sql-pg"
import { Deferred, Effect } from "effect"
import { query } from "./Builders.ts"
import type { Service } from "./Service.ts"

/** Starts the command, waits until it stands before the locked table, runs `meanwhile`, lets it go on; what it answers. */
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
  // Databases made from one template share their tables' object ids, so the database is asked for as well.
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
