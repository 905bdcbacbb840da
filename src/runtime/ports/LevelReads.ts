/**
 * The levels of all open knock-out contracts, as a port: the service reads Postgres; the deterministic simulation reads the
 * store of JournalMemory instead (architecture, Proof).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { Unavailable } from "../engine/mailbox/ActorHost.ts"
import { withinTime } from "../engine/withinTime.ts"
import { type LevelsCursor, type OpenLevels, readLevels } from "../store/reads/levelReads.ts"
import { whenAway } from "../store/whenAway.ts"

export class LevelReads extends Context.Service<
  LevelReads,
  {
    /** Passes every open contract to `take`, in no order. */
    each(take: (contract: OpenLevels) => void): Effect.Effect<void, Unavailable>
  }
>()("brokerage/runtime/ports/LevelReads") {
  static readonly layer: Layer.Layer<LevelReads, never, PgClient.PgClient> = Layer.effect(
    LevelReads,
    Effect.map(PgClient.PgClient, (sql) =>
      LevelReads.of({
        each: Effect.fnUntraced(function* (take) {
          for (let after: LevelsCursor | null = { clientId: 0, contractId: 0 }; after !== null;) {
            const page: Effect.Effect<LevelsCursor | null, Unavailable> = Effect.catch(
              readLevels(sql, after, take),
              whenAway
            )
            after = yield* withinTime(page, () => new Unavailable({ unknown: false }))
          }
        })
      })
    )
  )
}
