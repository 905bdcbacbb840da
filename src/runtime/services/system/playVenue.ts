/**
 * Plays the venue's time forward no faster than its events are taken. A venue keeps a bounded number of events for a reader
 * that is behind: a jump of a year in one step makes more of them, and the oldest are lost (C4).
 */
import { Effect } from "effect"
import type { VenueControl, VenueControlError } from "../../ports/VenueControl.ts"
import type { VenueProgress } from "../../ports/VenueProgress.ts"

/** The first step, business ms: a day has three stamps of funding a position. */
const firstStep = 86_400_000
/** The next step is shorter after more events, and longer after fewer. */
const manyEvents = 4_000
const fewEvents = 1_000

interface PlayParts {
  readonly control: VenueControl["Service"]
  readonly progress: VenueProgress["Service"]
}

/** Done when the venue is at `to` (Unix ms of business time) and what it has published by then is taken. */
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
      const events: number | null = known === null ? null : number - known
      if (events !== null && events > manyEvents) step = Math.ceil(step / 2)
      if (events !== null && events < fewEvents) step *= 2
      known = number
    }
  })
