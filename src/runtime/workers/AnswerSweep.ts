/** Deletes stored answers whose 24 hours are over (document 1, Idempotency), a bounded number at a time. */
import { Effect, Layer, Schedule } from "effect"
import { idempotency } from "../../machines/shared/Limits.ts"
import { BusinessClock } from "../engine/BusinessClock.ts"
import { AnswerStore } from "../store/AnswerStore.ts"

const pageSize = 2_000

export const AnswerSweep = {
  layer: Layer.effectDiscard(
    Effect.gen(function* () {
      const answers = yield* AnswerStore
      const clock = yield* BusinessClock
      const pass: Effect.Effect<void, unknown> = Effect.suspend(() =>
        answers.sweep(clock.now() - idempotency.replayMillis, pageSize)
      ).pipe(Effect.flatMap((gone) => (gone === pageSize ? pass : Effect.void)))
      yield* pass.pipe(
        Effect.catchCause((cause) => Effect.logDebug("expired answers not swept", cause)),
        Effect.repeat(Schedule.spaced("5 minutes")),
        Effect.forkScoped
      )
    })
  )
}
