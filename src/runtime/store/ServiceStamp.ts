/**
 * The database's stamp: whether it is a sandbox, how far its business clock runs ahead, and a sealed canary. A database once used
 * as a sandbox is refused without --sandbox, and the reverse (operator surface, `serve`). A canary that does not open belongs to
 * another key file: the service refuses to start, because it would write unreadable rows.
 */
import type { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { Sealing } from "../engine/sealing/Sealing.ts"

export class StampMismatch extends Schema.TaggedError<StampMismatch>()("StampMismatch", { sentence: Schema.String }) {
  override get message(): string {
    return this.sentence
  }
}

const mismatch = (sandbox: boolean): StampMismatch =>
  new StampMismatch({
    sentence: sandbox
      ? "This database is a sandbox: start with --sandbox, or use another data directory or database."
      : "This database is not a sandbox: start without --sandbox, or use another data directory or database."
  })

const foreignKeys = new StampMismatch({
  sentence:
    "The encryption keys of this data directory do not open this database: restore the encryption.keys file it was made with."
})

const canaryPlace = "service_stamp.canary"

/** Stamps a new database, or checks the stamp of a used one. Returns the stored clock offset in ms. */
export const stampDatabase = (sandbox: boolean, sealing: Sealing) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const now = yield* Clock.currentTimeMillis
    yield* sql`INSERT INTO service_stamp (id, sandbox, canary, resealed_key, created_at)
      VALUES (1, ${sandbox}, ${sealing.seal("canary", canaryPlace)}, ${BigInt(sealing.current())}, ${BigInt(now)}) ON CONFLICT DO NOTHING`
    const rows = yield* sql<{ readonly sandbox: boolean; readonly clock_offset: bigint; readonly canary: Uint8Array }>`
      SELECT sandbox, clock_offset, canary FROM service_stamp WHERE id = 1`
    const stamp = rows[0]
    if (stamp === undefined) return yield* Effect.die(new Error("the service stamp is missing"))
    if (stamp.sandbox !== sandbox) return yield* mismatch(stamp.sandbox)
    yield* Effect.try({ try: () => sealing.open(stamp.canary, canaryPlace), catch: () => foreignKeys })
    return { clockOffset: Number(stamp.clock_offset) }
  })

/**
 * The name of this database at its venue. The first start with a name stores `drawn`, and the name never changes. Empty for a
 * database that used a venue before names existed.
 */
export const stampVenueName = (drawn: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [stamp] = yield* sql<{ readonly venue_name: string }>`
      UPDATE service_stamp SET venue_name = COALESCE(venue_name, ${drawn}) WHERE id = 1 RETURNING venue_name`
    return stamp === undefined ? yield* Effect.die(new Error("the service stamp is missing")) : stamp.venue_name
  })

/** The keys in the stamp: the key of its canary, and the key with which all values were found sealed. */
export const stampedKeys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [stamp] = yield* sql<{ readonly canary: Uint8Array; readonly resealed_key: number | null }>`
    SELECT canary, resealed_key FROM service_stamp WHERE id = 1`
  return stamp === undefined ? null : { canaryKey: stamp.canary[0] ?? 0, resealedKey: stamp.resealed_key }
})

/** Seals the canary with the current key. Every later start with a key file that lacks this key is refused. */
export const stampCanary = (sealing: Sealing) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE service_stamp SET canary = ${sealing.seal("canary", canaryPlace)} WHERE id = 1`
  })

export const stampResealed = (number: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE service_stamp SET resealed_key = ${BigInt(number)} WHERE id = 1`
  })

/** The stored clock offset, and the offset at which a begun jump ends, ms; null: no jump has begun. */
interface StoredClock {
  readonly offset: number
  readonly target: number | null
}

export const storedClock = (sql: PgClient.PgClient): Effect.Effect<StoredClock, SqlError.SqlError> =>
  Effect.flatMap(
    sql.unsafe<{ readonly clock_offset: bigint; readonly clock_target: bigint | null }>(
      "SELECT clock_offset, clock_target FROM service_stamp WHERE id = 1"
    ),
    ([row]) =>
      row === undefined
        ? Effect.die(new Error("the service stamp is missing"))
        : Effect.succeed({
            offset: Number(row.clock_offset),
            target: row.clock_target === null ? null : Number(row.clock_target)
          })
  )

/** True for the owner of the database, and for a process that starts and owns nothing yet (null). */
const ofOwner = "($2::text IS NULL OR EXISTS (SELECT FROM writer WHERE id = 1 AND owner = $2))"

/**
 * Stores the offset (ms) at which a jump ends, before its first step. False: `owner` does not own the database, and nothing is
 * stored.
 */
export const aimClock = (
  sql: PgClient.PgClient,
  target: number,
  owner: string
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe(`UPDATE service_stamp SET clock_target = $1 WHERE id = 1 AND ${ofOwner} RETURNING id`, [
      BigInt(target),
      owner
    ]),
    ({ length }) => length > 0
  )

/**
 * Raises the stored clock offset to `offset` (ms), never lowers it, and returns it. A jump whose end is reached is no longer
 * stored. Null: `owner` does not own the database, and nothing is stored.
 */
export const raiseClock = (
  sql: PgClient.PgClient,
  offset: number,
  owner: string | null
): Effect.Effect<number | null, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly clock_offset: bigint }>(
      `UPDATE service_stamp SET clock_offset = GREATEST(clock_offset, $1), clock_target = NULLIF(
         GREATEST(clock_target, clock_offset, $1), GREATEST(clock_offset, $1)) WHERE id = 1 AND ${ofOwner} RETURNING clock_offset`,
      [BigInt(offset), owner]
    ),
    ([row]) => (row === undefined ? null : Number(row.clock_offset))
  )
