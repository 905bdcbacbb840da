/** A journal on a private database, with access to its stored rows. The test that opened it closes it. */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import type { Journal } from "../../../src/runtime/engine/journal/Journal.ts"
import { type JournalPgOptions, makeJournalPg } from "../../../src/runtime/engine/journal/JournalPg.ts"
import { columnList, decodeRow } from "../../../src/runtime/engine/journal/SubjectLoader.ts"
import { catalogue, type TableName, type Tables } from "../../../src/runtime/tables/Catalogue.ts"
import { makeTestDatabase } from "../../support/TestDatabase.ts"
import { layerProvokedLogs } from "../../support/testLogs.ts"
import { testSealing } from "./fixtures.ts"
import type { JournalBench } from "./JournalBench.ts"

export interface PgBench extends JournalBench {
  readonly url: Redacted.Redacted
  /** One statement as the superuser. */
  readonly query: (statement: string) => Promise<ReadonlyArray<Record<string, unknown>>>
  /** Another journal, by default on the same database; closed with the bench. */
  readonly start: (options?: Partial<JournalPgOptions>) => Promise<Journal["Service"]>
}

/** A pool and journals over the database at `url`, and no journal yet. */
export const openPg = async (url: Redacted.Redacted, after: () => Promise<void>): Promise<Omit<PgBench, "journal">> => {
  const scope = await Effect.runPromise(Scope.make())
  const context = await Effect.runPromise(
    Layer.buildWithScope(PgClient.layer({ url, maxConnections: 4, connectTimeout: "3 seconds" }), scope)
  )
  const sql = Context.get(context, PgClient.PgClient)
  const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromise(effect)
  const scopes = new Map<Journal["Service"], Scope.Closeable>()
  let processes = 0
  const start = async (options: Partial<JournalPgOptions> = {}) => {
    const own = await run(Scope.fork(scope))
    const journal = await run(
      makeJournalPg({ url, sql, sealing: testSealing, owner: `process-${++processes}`, ...options }).pipe(
        Scope.provide(own),
        Effect.provide(layerProvokedLogs)
      )
    )
    scopes.set(journal, own)
    return journal
  }
  return {
    url,
    query: (statement) => run(sql.unsafe<Record<string, unknown>>(statement)),
    start,
    rows: <T extends TableName>(table: T) =>
      run(
        Effect.map(
          sql.unsafe<Record<string, unknown>>(
            `SELECT ${columnList(catalogue[table])} FROM ${catalogue[table].sqlName}`
          ),
          (found) => found.map((raw) => decodeRow(catalogue[table], raw, testSealing) as Tables[T])
        )
      ),
    ownerOf: (claim) =>
      run(
        Effect.map(
          sql.unsafe<{ readonly owner: bigint }>("SELECT owner FROM claims WHERE name = $1", [claim]),
          (found) => (found[0] === undefined ? undefined : Number(found[0].owner))
        )
      ),
    another: () => start(),
    stop: (journal) => run(Scope.close(scopes.get(journal) as Scope.Closeable, Exit.void)),
    close: async () => {
      await run(Scope.close(scope, Exit.void))
      await after()
    }
  }
}

/** A fresh database with one journal on it. */
export const openPgBench = async (): Promise<PgBench> => {
  const database = await makeTestDatabase()
  const base = await openPg(database.url, database.drop)
  return { ...base, journal: await base.start() }
}
