/**
 * Resets of a sandbox (operator surface, sim reset; decision 30). The request is kept in the stamp, so if the process dies, the
 * next start completes the reset. One transaction drops and recreates all tables of the database; operator keys, the count of
 * resets and the writer's epoch stay. Rows of a ledger are never rewritten: the old ledger ends as a whole, and the audit of the
 * new one begins with a record of that end.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { idSequenceOf } from "../engine/journal/IdBlocks.ts"
import type { Sealing } from "../engine/sealing/Sealing.ts"
import { catalogue, type TableName } from "../tables/Catalogue.ts"
import { stampDatabase } from "./ServiceStamp.ts"

/** Who requested a reset, and when (business time, Unix ms). */
export const RequestedReset = Schema.Struct({
  role: Schema.String,
  keyLabel: Schema.String,
  requestId: Schema.String,
  at: Schema.Int
})

/** The counts of the rows that a reset removes. */
export const ResetCounts = Schema.Struct({
  partners: Schema.Int,
  clients: Schema.Int,
  ledgerTransactions: Schema.Int,
  orders: Schema.Int,
  contracts: Schema.Int,
  swaps: Schema.Int,
  webhookDeliveries: Schema.Int,
  auditEntries: Schema.Int
})

/**
 * A completed reset, which the audit of the new ledger records once. `seal`: the last seal of the old ledger; null if it
 * had none.
 */
const ResetMade = Schema.Struct({ by: RequestedReset, ended: ResetCounts, seal: Schema.NullOr(Schema.String) })
export type ResetMade = typeof ResetMade.Type

const requestText = Schema.fromJsonString(RequestedReset)
const madeText = Schema.fromJsonString(ResetMade)

const counted: Readonly<Record<keyof typeof ResetCounts.Type, TableName>> = {
  partners: "partners",
  clients: "clients",
  ledgerTransactions: "ledgerTransactions",
  orders: "orders",
  contracts: "barrierContracts",
  swaps: "swaps",
  webhookDeliveries: "webhookDeliveries",
  auditEntries: "audit"
}

/** Tables that the catalogue does not describe, because the engine itself reads and writes them. */
const engineTables: ReadonlyArray<string> = [
  "claims",
  "key_usage",
  "posting_totals",
  "schema_migrations",
  "service_stamp",
  "settlement_totals",
  "subjects",
  "writer"
]

const ours = (): ReadonlyArray<string> => [...Object.values(catalogue).map(({ sqlName }) => sqlName), ...engineTables]

export interface ResetStamp {
  readonly sandbox: boolean
  /** The number of resets so far. */
  readonly resets: number
  /** True from the request of a reset until the reset is done. */
  readonly requested: boolean
  /** The creation time of the current ledger, wall Unix ms. */
  readonly since: number
}

interface StampRow {
  readonly sandbox: boolean
  readonly resets: bigint
  readonly requested: string | null
  readonly made: string | null
  readonly created_at: bigint
}

const readStamp = (sql: PgClient.PgClient) =>
  Effect.flatMap(
    sql<StampRow>`SELECT sandbox, resets, reset_asked AS requested, reset_made AS made, created_at FROM service_stamp WHERE id = 1`,
    ([stamp]) => (stamp === undefined ? Effect.die(new Error("the service stamp is missing")) : Effect.succeed(stamp))
  )

export const resetStamp = (sql: PgClient.PgClient): Effect.Effect<ResetStamp, SqlError.SqlError> =>
  Effect.map(readStamp(sql), ({ sandbox, resets, requested, created_at }) => ({
    sandbox,
    resets: Number(resets),
    requested: requested !== null,
    since: Number(created_at)
  }))

/** The counts of the rows that a reset would remove now. */
export const countForReset = (sql: PgClient.PgClient): Effect.Effect<typeof ResetCounts.Type, SqlError.SqlError> => {
  const columns = Object.entries(counted).map(
    ([name, table]) => `(SELECT count(*) FROM ${catalogue[table].sqlName}) AS "${name}"`
  )
  return Effect.map(
    sql.unsafe<Record<keyof typeof ResetCounts.Type, bigint>>(`SELECT ${columns.join(", ")}`),
    ([row]) =>
      Object.fromEntries(
        Object.keys(counted).map((name) => [name, Number(row?.[name as keyof typeof counted] ?? 0)])
      ) as typeof ResetCounts.Type
  )
}

/** Tables and views of the schema that do not belong to the service: a reset would remove them too. */
export const foreignTables = (sql: PgClient.PgClient): Effect.Effect<ReadonlyArray<string>, SqlError.SqlError> =>
  Effect.map(
    sql<{ readonly name: string }>`SELECT relname AS name FROM pg_class c
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e') ORDER BY relname`,
    (found) => found.map(({ name }) => name).filter((name) => !ours().includes(name))
  )

/** Stores the request of a reset. This process performs it, or after a crash the next start. */
export const requestReset = (sql: PgClient.PgClient, requested: typeof RequestedReset.Type) =>
  Effect.flatMap(
    Schema.encodeEffect(requestText)(requested).pipe(Effect.orDie),
    (text) => sql`UPDATE service_stamp SET reset_asked = COALESCE(reset_asked, ${text}) WHERE id = 1 AND sandbox`
  ).pipe(Effect.asVoid)

/** Drops everything that the migrations create; objects of extensions stay. */
const dropAll = `DO $$
DECLARE found record;
BEGIN
  FOR found IN SELECT c.oid::regclass AS name, CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind
      FROM pg_class c WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'S')
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('e', 'a', 'i'))
     ORDER BY relkind DESC LOOP
    EXECUTE format('DROP %s IF EXISTS %s CASCADE', found.kind, found.name);
  END LOOP;
  FOR found IN SELECT p.oid::regprocedure AS name FROM pg_proc p
     WHERE pronamespace = current_schema()::regnamespace AND prokind = 'f'
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e') LOOP
    EXECUTE format('DROP FUNCTION %s CASCADE', found.name);
  END LOOP;
END $$`

const lastSeal = (sql: PgClient.PgClient) =>
  Effect.map(
    sql<{ readonly seal: string }>`SELECT number || ':' || hash AS seal FROM seals ORDER BY number DESC LIMIT 1`,
    ([row]) => row?.seal ?? null
  )

/**
 * Performs the requested reset, atomically, on the newest schema; false if no reset is requested. Needs exclusive use of the
 * database, on its own connection. `migrate`: creates the newest schema in an empty database.
 */
export const resetDatabase = <E>(
  sealing: Sealing,
  migrate: Effect.Effect<void, E, PgClient.PgClient | SqlClient.SqlClient>
) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const { requested, resets, sandbox } = yield* readStamp(sql)
    if (requested === null || !sandbox) return false
    const by = yield* Schema.decodeUnknownEffect(requestText)(requested)
    const made: ResetMade = { by, ended: yield* countForReset(sql), seal: yield* lastSeal(sql) }
    const text = yield* Schema.encodeEffect(madeText)(made)
    yield* Effect.logInfo("the sandbox is reset to its beginning", { by: by.keyLabel, ...made.ended })
    yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`CREATE TEMPORARY TABLE kept_operators ON COMMIT DROP AS SELECT * FROM operator_keys`
        yield* sql`CREATE TEMPORARY TABLE kept_writer ON COMMIT DROP AS SELECT epoch FROM writer`
        yield* sql`CREATE TEMPORARY TABLE kept_subject ON COMMIT DROP AS SELECT * FROM subjects WHERE subject = 'system'`
        yield* sql`CREATE TEMPORARY TABLE kept_ids ON COMMIT DROP AS
          SELECT last_value, is_called FROM ${sql(idSequenceOf("operatorKey"))}`
        yield* sql.unsafe(dropAll)
        yield* migrate
        yield* stampDatabase(true, sealing)
        yield* sql`INSERT INTO operator_keys SELECT * FROM kept_operators`
        // The keys' mailbox loads its rows only if its subject exists, so the subject is written again too.
        yield* sql`INSERT INTO subjects SELECT * FROM kept_subject`
        yield* sql`SELECT setval(${idSequenceOf("operatorKey")}, last_value, is_called) FROM kept_ids`
        // The epoch stays, so that a paused earlier process that resumes finds that it no longer owns the database.
        yield* sql`UPDATE writer SET epoch = (SELECT epoch FROM kept_writer)`
        const now = yield* Clock.currentTimeMillis
        yield* sql`UPDATE service_stamp SET resets = ${resets + 1n}, reset_made = ${text}, created_at = ${BigInt(now)}`
      })
    )
    return true
  })

/** The reset that the audit has not recorded yet; null if there is none. */
export const unreportedReset = (sql: PgClient.PgClient) =>
  Effect.flatMap(readStamp(sql), ({ made, resets }) =>
    made === null
      ? Effect.succeed(null)
      : Effect.map(Schema.decodeUnknownEffect(madeText)(made), (reset) => ({ ...reset, number: Number(resets) }))
  )

export const reportedReset = (sql: PgClient.PgClient) =>
  Effect.asVoid(sql`UPDATE service_stamp SET reset_made = NULL WHERE id = 1`)
