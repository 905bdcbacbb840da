/** Removes contents without a document: a crash between content and commit leaves one (A1-37). */
import { Clock, Effect, Layer, Schedule } from "effect"
import { DocumentContents } from "../ports/DocumentContents.ts"

/** Far longer than any upload waits for its commit. */
const forgottenAfterMillis = 24 * 3_600_000

export const ContentSweep = {
  layer: Layer.effectDiscard(
    Effect.gen(function* () {
      const contents = yield* DocumentContents
      yield* Clock.currentTimeMillis.pipe(
        Effect.flatMap((now) => contents.sweep(now - forgottenAfterMillis)),
        Effect.catchCause((cause) =>
          Effect.logDebug(
            "stored files that no document refers to were not deleted: the next sweep, in an hour, deletes them",
            cause
          )
        ),
        Effect.repeat(Schedule.spaced("1 hour")),
        Effect.forkScoped
      )
    })
  )
}
