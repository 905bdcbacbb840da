/**
 * When each partner key was last used (A1-06): kept in memory, written at most once a minute a key. It is a
 * convenience for people, not state, so it does not go through the journal; a crash may lose the last minute.
 */
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer, Result, Schedule } from "effect"

export class KeyUsage extends Context.Service<
  KeyUsage,
  {
    /** Notes a use and returns the use before it (Unix ms), or null. */
    readonly touch: (keyId: number, now: number) => number | null
    readonly lastUsedAt: (keyId: number) => number | null
  }
>()("brokerage/runtime/services/partner/KeyUsage") {
  static readonly layer = Layer.effect(
    KeyUsage,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const used = new Map<number, number>()
      const stored = yield* Effect.orDie(
        sql.unsafe<{ readonly key_id: bigint; readonly last_used_at: bigint }>(
          "SELECT key_id, last_used_at FROM key_usage"
        )
      )
      for (const row of stored) used.set(Number(row.key_id), Number(row.last_used_at))
      const dirty = new Set<number>()
      const write = Effect.suspend(() => {
        const keys = [...dirty]
        if (keys.length === 0) return Effect.void
        dirty.clear()
        const column = (values: ReadonlyArray<number>) =>
          Result.getOrThrow(PgTypes.array(values.map(BigInt), PgTypes.OID.int8))
        return Effect.asVoid(
          sql.unsafe(
            `INSERT INTO key_usage (key_id, last_used_at) SELECT * FROM unnest($1::int8[], $2::int8[])
             ON CONFLICT (key_id) DO UPDATE SET last_used_at = EXCLUDED.last_used_at`,
            [column(keys), column(keys.map((key) => used.get(key) ?? 0))]
          )
        )
      })
      yield* write.pipe(
        Effect.catch((error) => Effect.logDebug("key usage not written", error)),
        Effect.repeat(Schedule.spaced("1 minute")),
        Effect.forkScoped
      )
      yield* Effect.addFinalizer(() => Effect.ignore(write))
      return KeyUsage.of({
        touch: (keyId, now) => {
          const before = used.get(keyId) ?? null
          used.set(keyId, now)
          dirty.add(keyId)
          return before
        },
        lastUsedAt: (keyId) => used.get(keyId) ?? null
      })
    })
  )
}
