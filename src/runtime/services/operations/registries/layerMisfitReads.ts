/**
 * Repeats the venue query for objects with a misfit, checks each reply like any other, and raises an alarm for each
 * misfit that stands (A2-115).
 */
import { Effect, Latch, Layer } from "effect"
import type { VenueOutcome } from "../../../../machines/venue/venueCalls.ts"
import { ActorHost, type DispatchError } from "../../../engine/mailbox/ActorHost.ts"
import { Venue, VenueUnanswered } from "../../../ports/Venue.ts"
import type { VenueMisfitRow } from "../../../tables/venue.ts"
import { clientSubject } from "../../account/clientState.ts"
import { answerWithin } from "../../venue/VenueGateway.ts"
import { misfitUnknown } from "../../venue/misfits.ts"
import { MisfitReads, type WantedRead } from "../../venue/MisfitReads.ts"
import { definite, endCall } from "../../venue/outcomes.ts"
import { venueHandlers } from "./VenueHandlers.ts"
import type { VenueHandlers } from "../../venue/VenueHandler.ts"
import { byVenue } from "../../venue/venueQuarantine.ts"
import { subscribe } from "../../../subscriptions.ts"

export const layerMisfitReads = Layer.effectDiscard(
  Effect.gen(function* () {
    const reads = yield* MisfitReads
    const parts = { host: yield* ActorHost, venue: yield* Venue, handlers: yield* venueHandlers }
    const standing: Array<VenueMisfitRow> = []
    const alarm = Latch.makeUnsafe(false)
    subscribe(parts.host, "layerMisfitReads", {
      venueMisfits: (row) => {
        if (row.state !== "STANDING") return
        standing.push(row)
        alarm.openUnsafe()
      }
    })
    const alarms = Effect.suspend(() => {
      alarm.closeUnsafe()
      return Effect.forEach(standing.splice(0), alarmStanding, { discard: true })
    })
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(alarm.await, alarms), { disableYield: true }))
    const round = Effect.suspend(() => readAll(parts, reads.take()))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(reads.some.await, round), { disableYield: true }))
  })
)

let standingMisfits = 0
/** The number of misfits that have become standing since the start of this process, for metrics. */
export const standingMisfitCount = (): number => standingMisfits

/** Counts and logs a misfit that stands, because no reply for the object was valid. */
const alarmStanding = ({ ref, context: { reason }, breakId, clientId }: VenueMisfitRow): Effect.Effect<void> =>
  Effect.suspend(() => {
    standingMisfits++
    return Effect.annotateLogs(
      Effect.logError(
        "the venue's reports of an object do not fit the request: a break pauses the client's withdrawals until staff close it (break close); venue resolve ends the misfit"
      ),
      {
        ref,
        reason,
        break: breakId,
        client: clientId
      }
    )
  })

interface Parts {
  readonly host: ActorHost["Service"]
  readonly venue: Venue["Service"]
  readonly handlers: VenueHandlers
}

/** Queries the venue for the objects. After a failed read or write the object's timer repeats the read. */
const readAll = ({ host, venue, handlers }: Parts, wanted: ReadonlyArray<WantedRead>): Effect.Effect<void> => {
  const clientOf = new Map(wanted.map(({ ref, clientId }) => [ref, clientId]))
  const take = (clientId: number, outcomes: ReadonlyArray<VenueOutcome>): Effect.Effect<void, DispatchError> =>
    host.dispatch({
      subject: clientSubject(clientId),
      by: byVenue,
      lane: "internal",
      decide: (turn) => {
        for (const outcome of outcomes) {
          const known = definite(outcome)
          if (known === null) misfitUnknown(turn, outcome.ref)
          else endCall(turn, handlers, known, { isRead: true })
        }
      }
    })
  return venue.lookup([...clientOf.keys()]).pipe(
    Effect.timeoutOrElse({
      duration: answerWithin,
      orElse: () => Effect.fail(new VenueUnanswered({ reason: "no answer within 5 s" }))
    }),
    Effect.flatMap((outcomes) => {
      const byClient = Map.groupBy(outcomes, ({ ref }) => clientOf.get(ref))
      return Effect.forEach(
        byClient,
        ([clientId, ends]) => (clientId === undefined ? Effect.void : take(clientId, ends)),
        { discard: true }
      )
    }),
    Effect.catchCause((cause) =>
      Effect.logDebug("misfit objects could not be read again: their timers repeat the read", cause)
    )
  )
}
