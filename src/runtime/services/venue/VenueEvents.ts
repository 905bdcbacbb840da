/**
 * Takes the venue's numbered events: one reader with a cursor that is a low-water mark of committed events; those of an
 * account go to its client's mailbox, in their order, to the handler of the object that they name (A2-95, A2-96). A gap in
 * an account's sequence is fetched before what follows, what comes again is dropped by it. What can't be read, lies more than
 * 5 s ahead, is off its market's grid or names no object of ours is set aside and passed: one bad event never stops
 * everybody's money (A2-115). The stream is connected again by itself.
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
import { AsideAlarms } from "./venueQuarantine.ts"

/** Lines that are set aside at once; the stream waits for the rest. */
const asideAtOnce = 256

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
          alarms: new AsideAlarms(() => wall.currentTimeMillisUnsafe())
        }
        const handlers = yield* makeHandlers
        const intake = new EventIntake({
          ...parts,
          wall,
          link: yield* VenueLink,
          room: yield* Semaphore.make(asideAtOnce),
          scope: yield* Effect.scope,
          accounts: new AccountEvents({ ...parts, handlers }),
          lost: () => handlers.doubted(null),
          mark: row?.number ?? 0
        })
        for (const work of intake.works) yield* Effect.forkScoped(work)
        return Context.make(VenueEvents, VenueEvents.of({ figures: () => intake.figures() })).pipe(
          Context.add(
            VenueProgress,
            VenueProgress.of({ reached: (number) => intake.reached(number), isAt: (number) => intake.isAt(number) })
          )
        )
      })
    )
}
