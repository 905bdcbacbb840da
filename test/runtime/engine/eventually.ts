/** Polls a fact of the database or of a journal on it; gives up after ten seconds. */
import { Effect, Schedule } from "effect"

export const eventually = (fact: () => boolean | Promise<boolean>): Promise<void> =>
  Effect.runPromise(
    Effect.promise(async () => fact()).pipe(
      Effect.filterOrFail(
        (held) => held,
        () => new Error("the awaited fact did not come")
      ),
      Effect.retry(Schedule.max([Schedule.spaced("20 millis"), Schedule.recurs(500)])),
      Effect.asVoid
    )
  )
