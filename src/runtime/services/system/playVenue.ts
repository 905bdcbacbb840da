/**
 * Advances the venue's time no faster than the service takes its events. A venue keeps a bounded number of events for a slow
 * reader. A jump of a year in one step would exceed that number, and the oldest events would be lost (C4).
 */
import { Effect } from "effect"
import type { VenueControl, VenueControlError } from "../../ports/VenueControl.ts"
import type { VenueProgress } from "../../ports/VenueProgress.ts"

/** The first step, business ms. A position has three funding stamps a day. */
const firstStep = 86_400_000
/** More events than `manyEvents` halve the next step. Fewer than `fewEvents` double it. */
const manyEvents = 4_000
const fewEvents = 1_000

interface PlayParts {
  readonly control: VenueControl["Service"]
  readonly progress: VenueProgress["Service"]
}

/** Completes when the venue is at `to` (Unix ms of business time) and the events that it published by then are taken. */
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
