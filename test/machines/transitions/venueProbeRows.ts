/** A probe of the venue as literal rows (D6; architecture, Engine: venue calls). */
import type { TransitionRow } from "./TransitionRow.ts"
import type { VenueProbeEvent } from "../../../src/machines/venueChecks/VenueProbe.ts"
import { venueProbeInput } from "../../../src/machines/venueChecks/venueProbeSamples.ts"

const executed: VenueProbeEvent = { type: "EXECUTED", at: 1, venueOrderId: 9 }
const refused: VenueProbeEvent = { type: "REFUSED", at: 2, reason: "the market is halted" }
const isVoid: VenueProbeEvent = { type: "VOID", at: 3 }

const row = (
  title: string,
  from: string,
  given: ReadonlyArray<VenueProbeEvent>,
  event: VenueProbeEvent,
  to: string,
  effects: ReadonlyArray<string> = [],
  context: object = {}
): TransitionRow => ({ title: `D6: ${title}`, from, input: venueProbeInput, given, event, to, effects, context })

export const venueProbeRows: ReadonlyArray<TransitionRow> = [
  row("IN_FLIGHT, the venue took it", "IN_FLIGHT", [], executed, "EXECUTED", ["audit venueProbe.end"], {
    endedAt: 1,
    venueOrderId: 9
  }),
  row("IN_FLIGHT, the venue refused it", "IN_FLIGHT", [], refused, "REFUSED", ["audit venueProbe.end"], {
    endedAt: 2,
    reason: "the market is halted",
    venueOrderId: null
  }),
  row("IN_FLIGHT, it never came", "IN_FLIGHT", [], isVoid, "VOID", ["audit venueProbe.end"], { endedAt: 3 }),
  row("EXECUTED, said once more", "EXECUTED", [executed], executed, "refused"),
  row("EXECUTED, refused later", "EXECUTED", [executed], refused, "refused"),
  row("REFUSED, found at the venue", "REFUSED", [refused], executed, "EXECUTED", ["audit venueProbe.found"], {
    venueOrderId: 9,
    reason: null
  }),
  row("REFUSED, said once more", "REFUSED", [refused], refused, "refused"),
  row("VOID, found at the venue", "VOID", [isVoid], executed, "EXECUTED", ["audit venueProbe.found"], {
    endedAt: 1,
    venueOrderId: 9
  }),
  row("VOID, said once more", "VOID", [isVoid], isVoid, "refused")
]
