/**
 * Deletes expired answers of requests (24 hours), keys of requests that were begun and never answered, and parts of bulk answers,
 * a bounded number at a time (doc 1, Idempotency).
 */
import { Effect, Layer, Schedule } from "effect"
import { idempotency } from "../../machines/shared/Limits.ts"
import { BusinessClock } from "../engine/clock/BusinessClock.ts"
import { AnswerStore } from "../store/AnswerStore.ts"

const pageSize = 2_000

export const AnswerSweep = {
  layer: Layer.effectDiscard(
    Effect.gen(function* () {
      const answers = yield* AnswerStore
      const clock = yield* BusinessClock
      const pass = (sweep: typeof answers.sweep): Effect.Effect<void, unknown> =>
        Effect.suspend(() => sweep(clock.now() - idempotency.replayMillis, pageSize)).pipe(
          Effect.flatMap((gone) => (gone === pageSize ? pass(sweep) : Effect.void))
        )
      yield* Effect.forEach([answers.sweep, answers.sweepBegun, answers.sweepParts], pass, { discard: true }).pipe(
        Effect.catchCause((cause) =>
          Effect.logDebug("expired answers were not deleted: the next sweep deletes them", cause)
        ),
        Effect.repeat(Schedule.spaced("5 minutes")),
        Effect.forkScoped
      )
    })
  )
}
