/**
 * What pages that are open read of the database: few reads at a time for all of them, so that partners' requests have it for
 * themselves however many pages are followed. What more ask for than may wait is refused at once, and asked again by the page.
 */
import { Effect, Semaphore } from "effect"

/** Reads at a time, and how many more may wait. */
export const pageReads = { atOnce: 4, waiting: 60 } as const

export const boundedReads = <A>(
  refused: A
): Effect.Effect<<E, R>(read: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>> =>
  Effect.map(Semaphore.make(pageReads.atOnce), (turn) => {
    let asked = 0
    return (read) =>
      Effect.suspend(() => {
        if (asked >= pageReads.atOnce + pageReads.waiting) return Effect.succeed(refused)
        asked++
        return Effect.ensuring(
          turn.withPermits(1)(read),
          Effect.sync(() => void asked--)
        )
      })
  })
