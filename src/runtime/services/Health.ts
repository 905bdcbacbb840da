/** Whether the service can do its work now: the database answers and this process still owns it. */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { Journal } from "../engine/Journal.ts"

export class Health extends Context.Service<Health, { readonly check: Effect.Effect<boolean> }>()(
  "brokerage/runtime/services/Health"
) {
  static readonly layer = Layer.effect(
    Health,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const journal = yield* Journal
      return Health.of({
        check: Effect.suspend(() =>
          journal.accepting()
            ? sql`SELECT 1`.pipe(
                Effect.as(true),
                Effect.timeout("2 seconds"),
                Effect.catchCause(() => Effect.succeed(false))
              )
            : Effect.succeed(false)
        )
      })
    })
  )
}
