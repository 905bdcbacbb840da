/**
 * The time of last use of each partner key: kept in memory, and written at most once a minute per key. It is only
 * information for people, so it does not go through the journal; a crash may lose the last minute (A1-06).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schedule } from "effect"
import { hanging } from "../../engine/journal/sqlFailure.ts"
import { withinTime } from "../../engine/withinTime.ts"
import { keyUses } from "../../store/reads/partnerReads.ts"
import { writeKeyUses } from "../../store/writes/keyUseWrites.ts"

/** The longest wait at shutdown for the last writes. */
const endWithin = "1 second"

export class KeyUsage extends Context.Service<
  KeyUsage,
  {
    /** Records a use and returns the time of the previous use (Unix ms), or null. */
    readonly touch: (keyId: number, now: number) => number | null
    readonly lastUsedAt: (keyId: number) => number | null
  }
>()("brokerage/runtime/services/partners/KeyUsage") {
  static readonly layer = Layer.effect(
    KeyUsage,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const used = new Map(yield* Effect.orDie(keyUses(sql)))
      const dirty = new Set<number>()
      const write = Effect.suspend(() => {
        const keys = [...dirty]
        if (keys.length === 0) return Effect.void
        dirty.clear()
        return writeKeyUses(
          sql,
          keys.map((key) => [key, used.get(key) ?? 0])
        )
      })
      yield* write.pipe(
        Effect.catch((error) =>
          Effect.logDebug("the last use of keys was not stored: the service tries again in a minute", error)
        ),
        Effect.repeat(Schedule.spaced("1 minute")),
        Effect.forkScoped
      )
      yield* Effect.addFinalizer(() => Effect.ignore(withinTime(write, () => hanging, endWithin)))
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
