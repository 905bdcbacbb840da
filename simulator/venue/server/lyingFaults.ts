/** Applies the faults that make the venue lie: at most one lie in a message, about an object of that message. */
import type { VenueOutcome } from "../../../src/machines/venue/venueCalls.ts"
import type { VenueFact } from "../../../src/machines/venue/VenueEvent.ts"
import type { VenueFill } from "../../../src/machines/venue/venueObjects.ts"
import { type LieKind, lieKinds } from "../../../src/venue/testerTokens.ts"
import { lieOfFact, lieOfFill, lieOfOutcome } from "../core/lies.ts"
import type { Faults, Target } from "./Faults.ts"

/**
 * The event as a lying venue publishes it: changed by the faults that are aimed at the stream or at the call that made its
 * object.
 */
export const liedFact = <Fact extends VenueFact>(faults: Faults, targets: ReadonlyArray<Target>, fact: Fact): Fact =>
  lied(faults, targets, fact, lieOfFact)

/** The outcome as a lying venue gives it: changed by the faults that are aimed at the call that made its object. */
export const liedOutcome = (faults: Faults, outcome: VenueOutcome): VenueOutcome =>
  lied(faults, [targetOf(outcome)], outcome, lieOfOutcome)

/** The trade as a lying venue reports it: changed by the faults that are aimed at orders. */
export const liedFill = (faults: Faults, fill: VenueFill): VenueFill =>
  lied(faults, [{ route: "order", symbol: fill.symbol }], fill, lieOfFill)

const lied = <Message>(
  faults: Faults,
  targets: ReadonlyArray<Target>,
  message: Message,
  lieOf: (kind: LieKind, message: Message) => Message | null
): Message => {
  for (const target of targets) {
    if (!faults.awaits(lieKinds, target)) continue
    const struck = faults.strike(
      lieKinds.filter((kind) => lieOf(kind, message) !== null),
      target
    )
    if (struck !== null) return lieOf(struck.kind as LieKind, message) ?? message
  }
  return message
}

const targetOf = ({ order, rfq, contract, swap }: VenueOutcome): Target => {
  if (contract !== null) return { route: "accept", symbol: contract.symbol }
  if (swap !== null) return { route: "take", symbol: swap.symbol }
  if (rfq !== null) return { route: "rfq", symbol: rfq.symbol }
  return { route: order === null ? null : "order", symbol: order?.symbol ?? null }
}
