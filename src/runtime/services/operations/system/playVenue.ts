/**
 * Advances the venue's time no faster than the service takes its events. A venue keeps a bounded number of events for a slow
 * reader. A jump of a year in one step would exceed that number, and the oldest events would be lost (C4).
 */
import { Effect } from "effect"
import type { VenueControl, VenueControlError } from "../../../ports/VenueControl.ts"
import type { VenueProgress } from "../../../ports/VenueProgress.ts"

/** The length of the first two steps, business ms. Events are counted from the second step on. */
const firstStep = 60_000
/** The intended number of events in a step, and the largest ratio of a step's length to that of the step before. */
const eventsWanted = 2_000
const growth = 4
/** The price steps of the venue in a whole jump, shared out to its steps by their length; and the fewest in a step. */
const priceSteps = 10_000
const fewestPriceSteps = 100

interface PlayParts {
  readonly control: VenueControl["Service"]
  readonly progress: VenueProgress["Service"]
}

/** The work around each step of the venue. Times are Unix ms of business time. */
interface Around<E> {
  /** Prepares the step from `at` to `limit` at the furthest, and returns its end. */
  readonly before: (at: number, limit: number) => Effect.Effect<number, E>
  /** The end of a step after which the venue is at `at`. */
  readonly moved: (at: number, end: number) => Effect.Effect<number, E>
  /** Runs once the events up to the step's end are applied. */
  readonly after: (end: number) => Effect.Effect<void, E>
}

const alone: Around<never> = {
  before: (_, limit) => Effect.succeed(limit),
  moved: (_, end) => Effect.succeed(end),
  after: () => Effect.void
}

/** Completes when the venue is at `to` (Unix ms of business time) and its events up to that time are applied. */
export const playVenue = <E = never>(
  { control, progress }: PlayParts,
  from: number,
  to: number,
  around: Around<E> = alone
): Effect.Effect<void, VenueControlError | E> =>
  Effect.gen(function* () {
    let length = firstStep
    let known: number | null = null
    for (let at = from; at < to;) {
      const aim = yield* around.before(at, Math.min(to, at + length))
      const { number, at: there } = yield* control.command({
        type: "advance",
        to: aim,
        steps: Math.max(fewestPriceSteps, Math.ceil((priceSteps * Math.min(aim - at, to - from)) / (to - from)))
      })
      const end = yield* around.moved(there, aim)
      yield* progress.reached(number)
      yield* around.after(end)
      if (known !== null) {
        const wanted = ((end - at) * eventsWanted) / Math.max(1, number - known)
        length = Math.ceil(Math.min(length * growth, wanted))
      }
      known = number
      at = end
    }
  })
