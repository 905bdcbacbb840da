/**
 * Health: the database responds, and this process still owns it. A read-only database counts as healthy: to take the
 * service out of rotation would stop the reads and help no write. A table that another session has locked counts as
 * healthy too, because only an operator can find and end that session (decision 11; A1-55).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { Journal } from "../../../engine/journal/Journal.ts"
import { hanging } from "../../../engine/journal/sqlFailure.ts"
import { withinTime } from "../../../engine/withinTime.ts"
import { databaseAnswers } from "../../../store/reads/databaseAnswers.ts"

export class Health extends Context.Service<Health, { readonly check: Effect.Effect<boolean> }>()(
  "brokerage/runtime/services/operations/system/Health"
) {
  static readonly layer = Layer.effect(
    Health,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const journal = yield* Journal
      return Health.of({
        check: Effect.suspend(() =>
          journal.certain() && journal.held().tables === 0
            ? withinTime(databaseAnswers(sql), () => hanging, "2 seconds").pipe(
                Effect.catchCause(() => Effect.succeed(false))
              )
            : Effect.succeed(false)
        )
      })
    })
  )
}
