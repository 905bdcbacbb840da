/** Removes models without a statement: a crash between model and row leaves one (STS-22). */
import { Clock, Effect, Layer, Schedule } from "effect"
import { StatementModels } from "../ports/StatementModels.ts"

/** The age from which a model without a statement is removed, ms: far longer than any build waits for its commit. */
const forgottenAfterMillis = 24 * 3_600_000

export const ModelSweep = {
  layer: Layer.effectDiscard(
    Effect.gen(function* () {
      const models = yield* StatementModels
      yield* Clock.currentTimeMillis.pipe(
        Effect.flatMap((now) => models.sweep(now - forgottenAfterMillis)),
        Effect.catchCause((cause) =>
          Effect.logDebug("models without a statement were not deleted: the next sweep deletes them", cause)
        ),
        Effect.repeat(Schedule.spaced("1 hour")),
        Effect.forkScoped
      )
    })
  )
}
