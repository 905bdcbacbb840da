/** Applies outcomes of venue probes in their client's turn (architecture, Engine: venue calls; D6). */
import type { VenueOrder } from "../../../machines/venue/venueObjects.ts"
import type { VenueProbeEvent } from "../../../machines/venueChecks/VenueProbe.ts"
import { advance } from "../../effects/advance.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { VenueProbeRow } from "../../tables/venue.ts"
import type { CallEnd, DefiniteOutcome, VenueHandler } from "./VenueHandler.ts"

export const probeHandler: VenueHandler = {
  // A probe has no bookings.
  verdict: () => null,
  ended: (turn, { id, outcome }: CallEnd) => {
    const row = probeOf(turn, id)
    // A repeated outcome changes nothing.
    if (row !== undefined) advance(turn, "venueProbes", row, eventOf(turn.now, outcome))
  },
  reported: (turn, { id, fact }) => {
    const row = probeOf(turn, id)
    if (row === undefined) return false
    if (fact.type === "order") advance(turn, "venueProbes", row, executed(turn.now, fact.order))
    return true
  },
  quoted: null
}

const probeOf = (turn: Turn, id: number): VenueProbeRow | undefined =>
  turn.draft.peek("venueProbes", String(id)) ?? turn.state.get("venueProbes", String(id))

const executed = (at: number, order: VenueOrder | null): VenueProbeEvent => ({
  type: "EXECUTED",
  at,
  venueOrderId: order?.id ?? null
})

const eventOf = (at: number, { outcome, reason, order }: DefiniteOutcome): VenueProbeEvent => {
  switch (outcome) {
    case "EXECUTED":
      return executed(at, order)
    case "REFUSED":
      return { type: "REFUSED", at, reason }
    case "VOID":
      return { type: "VOID", at }
  }
}
