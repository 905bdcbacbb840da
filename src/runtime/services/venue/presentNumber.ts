/**
 * The present event number of a venue that no longer keeps the older events, so that its event stream can't show the
 * number.
 */
import { Effect, Stream } from "effect"
import { type Venue, VenueUnanswered } from "../../ports/Venue.ts"

/** The number of the venue's last event, from the first heartbeat of its market data. Fails if none arrives. */
export const presentNumber = (venue: Venue["Service"]): Effect.Effect<number, VenueUnanswered> =>
  Effect.gen(function* () {
    const { markets } = yield* venue.listing
    const subscriptions = markets.slice(0, 1).map(({ symbol }) => ({ channel: "ticker" as const, symbol }))
    const lines = yield* venue.marketData(subscriptions).pipe(
      Stream.filter((line) => "heartbeat" in line),
      Stream.take(1),
      Stream.runCollect,
      Effect.timeoutOrElse({
        duration: "5 seconds",
        orElse: () => Effect.fail(new VenueUnanswered({ reason: "no heartbeat" }))
      })
    )
    const [line] = lines
    return line !== undefined && "heartbeat" in line
      ? line.number
      : yield* new VenueUnanswered({ reason: "no heartbeat" })
  })
