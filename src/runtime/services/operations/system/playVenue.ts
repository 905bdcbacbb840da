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

interface PlayParts {
  readonly control: VenueControl["Service"]
  readonly progress: VenueProgress["Service"]
}

/** Completes when the venue is at `to` (Unix ms of business time) and its events up to that time are applied. */
export const playVenue = (
  { control, progress }: PlayParts,
  from: number,
  to: number
): Effect.Effect<void, VenueControlError> =>
  Effect.gen(function* () {
    let step = firstStep
    let known: number | null = null
    for (let at = from; at < to;) {
      at = Math.min(to, at + step)
      const { number } = yield* control.command({ type: "advance", to: at })
      yield* progress.reached(number)
      if (known !== null) step = Math.ceil(step * Math.min(growth, eventsWanted / Math.max(1, number - known)))
      known = number
    }
  })
