/**
 * Receives the venue's numbered events. One reader stores a checkpoint; all events up to it are committed. The events
 * of an account go in sequence to its client's mailbox, and there to the handler of the object that they name. A gap in
 * an account's sequence is fetched first, and repeated events are dropped by sequence.
 *
 * An event is quarantined and skipped if it can't be read, lies more than 5 s ahead, is off its market's grid, or names
 * no object of ours. So one bad event never blocks all accounts. The stream reconnects automatically (A2-95, A2-96,
 * A2-115).
 */
import { Clock, Context, Effect, Layer, Semaphore } from "effect"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { Journal } from "../../engine/journal/Journal.ts"
import { ActorHost } from "../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../ports/RowReads.ts"
import { Venue } from "../../ports/Venue.ts"
import { VenueProgress } from "../../ports/VenueProgress.ts"
import { LastListing } from "../market/LastListing.ts"
import { AccountEvents } from "./AccountEvents.ts"
import { type EventFigures, EventIntake } from "./EventIntake.ts"
import type { VenueHandlers } from "./VenueHandler.ts"
import { VenueLink } from "./VenueLink.ts"
import { QuarantineAlarms } from "./venueQuarantine.ts"

/** The most concurrent quarantine writes. At the limit the stream waits. */
const quarantinedAtOnce = 256

export class VenueEvents extends Context.Service<VenueEvents, { readonly figures: () => EventFigures }>()(
  "brokerage/runtime/services/venue/VenueEvents"
) {
  static readonly layer = <R>(makeHandlers: Effect.Effect<VenueHandlers, never, R>) =>
    Layer.effectContext(
      Effect.gen(function* () {
        const stored = yield* RowReads
        const venue = yield* Venue
        const [row] = yield* Effect.orDie(stored.all("venueCursor"))
        const wall = yield* Clock.Clock
        const parts = {
          host: yield* ActorHost,
          journal: yield* Journal,
          clock: yield* BusinessClock,
          venue,
          listing: yield* LastListing,
          stored,
          alarms: new QuarantineAlarms(() => wall.currentTimeMillisUnsafe())
        }
        const handlers = yield* makeHandlers
        const accounts = new AccountEvents({ ...parts, handlers })
        const intake = new EventIntake({
          ...parts,
          wall,
          link: yield* VenueLink,
          room: yield* Semaphore.make(quarantinedAtOnce),
          scope: yield* Effect.scope,
          accounts,
          lost: () => handlers.doubted(null),
          mark: row?.number ?? 0
        })
        for (const work of intake.works) yield* Effect.forkScoped(work)
        return Context.make(VenueEvents, VenueEvents.of({ figures: () => intake.figures() })).pipe(
          Context.add(
            VenueProgress,
            VenueProgress.of({
              reached: (number) => intake.reached(number),
              isAt: (number) => intake.isAt(number),
              // A read of one account in the middle of a step would carry the clock past other accounts' events.
              readAccount: (account, to) =>
                Effect.andThen(
                  Effect.suspend(() => parts.clock.carrier()?.still ?? Effect.void),
                  accounts.readWhole(account, intake.aside, to)
                )
            })
          )
        )
      })
    )
}
