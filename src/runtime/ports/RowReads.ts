/**
 * Reads of stored rows outside a mailbox, as a port: pages, whole tables for projections, holders of unique facts. The service
 * reads Postgres; the deterministic simulation reads the store of JournalMemory instead (architecture, Proof).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { Unavailable } from "../engine/mailbox/ActorHost.ts"
import type { Claim } from "../engine/journal/Commit.ts"
import { SealingService } from "../engine/sealing/SealingService.ts"
import { withinTime } from "../engine/withinTime.ts"
import type { TableName, Tables } from "../tables/Catalogue.ts"
import { type Condition, pageOf, type PageQuery } from "../store/paging.ts"
import { clientsOfPerson } from "../store/reads/clientReads.ts"
import { allRows, clientIdsOf, holdersOf, rowsTogether, rowsWithIds } from "../store/reads/rowReads.ts"
import { whenAway } from "../store/whenAway.ts"

export class RowReads extends Context.Service<
  RowReads,
  {
    /** Rows of one table by conditions on its columns, highest id first, ids below `before`; at most `limit` of them. */
    page<T extends TableName>(
      table: T,
      conditions: ReadonlyArray<Condition>,
      query: PageQuery
    ): Effect.Effect<ReadonlyArray<Tables[T]>, Unavailable>
    /** The rows of these ids that exist, in no order. */
    among<T extends TableName>(
      table: T,
      ids: ReadonlyArray<number>
    ): Effect.Effect<ReadonlyArray<Tables[T]>, Unavailable>
    /** The rows of one client in each of these tables, from one snapshot. At most `limit` rows of each table. */
    together<T extends TableName>(
      tables: ReadonlyArray<T>,
      clientId: number,
      limit: number
    ): Effect.Effect<{ readonly [K in T]: ReadonlyArray<Tables[K]> }, Unavailable>
    /** Every row of a small table, in no order. */
    all<T extends TableName>(table: T): Effect.Effect<ReadonlyArray<Tables[T]>, Unavailable>
    /** The clients of these accounts (their uid); accounts of other services are left out. */
    clientIds(accounts: ReadonlyArray<string>): Effect.Effect<ReadonlyMap<string, number>, Unavailable>
    /** Clients that have one of these person keys (`personKeyOf`), highest id first. Only ids below `before`. */
    persons(personKey: string, query: PageQuery): Effect.Effect<ReadonlyArray<Tables["clients"]>, Unavailable>
    /** Those of these unique facts that are taken, with the objects that hold them. */
    holders(names: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Claim>, Unavailable>
  }
>()("brokerage/runtime/ports/RowReads") {
  static readonly layer = Layer.effect(
    RowReads,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService
      const inTime = <A>(query: Effect.Effect<A, unknown>): Effect.Effect<A, Unavailable> =>
        withinTime(Effect.catch(query, whenAway), () => new Unavailable({ unknown: false }))
      return RowReads.of({
        page: (table, conditions, query) => inTime(pageOf(sql, sealing, table, conditions, query)),
        together: (tables, clientId, limit) => inTime(rowsTogether(sql, sealing, tables, { clientId, limit })),
        among: (table, ids) => inTime(rowsWithIds(sql, sealing, table, ids)),
        all: (table) => inTime(allRows(sql, sealing, table)),
        clientIds: (accounts) => inTime(clientIdsOf(sql, accounts)),
        persons: (personKey, query) => inTime(clientsOfPerson(sql, sealing, personKey, query)),
        holders: (names) => inTime(holdersOf(sql, names))
      })
    })
  )
}
