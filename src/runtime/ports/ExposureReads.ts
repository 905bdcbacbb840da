/**
 * The accounts with open positions, as a port, from which the risk index is built at start. The service reads Postgres; the
 * deterministic simulation reads the store of JournalMemory instead (architecture, Proof).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { Unavailable } from "../engine/mailbox/ActorHost.ts"
import { withinTime } from "../engine/withinTime.ts"
import { type ExposedAccount, readExposures, readOrdering } from "../store/reads/exposureReads.ts"
import { whenAway } from "../store/whenAway.ts"

export class ExposureReads extends Context.Service<
  ExposureReads,
  {
    /** Passes every account with open positions to `take`; loss notices only of the UTC day (days since 1970). */
    each(day: number, take: (account: ExposedAccount) => void): Effect.Effect<void, Unavailable>
    /** Passes every client with a working perpetual order to `take`. */
    ordering(take: (clientId: number) => void): Effect.Effect<void, Unavailable>
  }
>()("brokerage/runtime/ports/ExposureReads") {
  static readonly layer: Layer.Layer<ExposureReads, never, PgClient.PgClient> = Layer.effect(
    ExposureReads,
    Effect.map(PgClient.PgClient, (sql) =>
      ExposureReads.of({
        ordering: Effect.fnUntraced(function* (take) {
          for (let after: number | null = 0; after !== null;) {
            const page: Effect.Effect<number | null, Unavailable> = Effect.catch(
              readOrdering(sql, after, take),
              whenAway
            )
            after = yield* withinTime(page, () => new Unavailable({ unknown: false }))
          }
        }),
        each: Effect.fnUntraced(function* (day, take) {
          for (let after: number | null = 0; after !== null;) {
            const page: Effect.Effect<number | null, Unavailable> = Effect.catch(
              readExposures(sql, { after, day }, take),
              whenAway
            )
            after = yield* withinTime(page, () => new Unavailable({ unknown: false }))
          }
        })
      })
    )
  )
}
