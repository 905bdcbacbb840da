/**
 * A probe of the venue. It is in flight from the commit that emits its call until the commit that records the outcome. A late
 * report of the order is accepted, because the venue decides about its own orders (D6).
 */
import { assertEvent, setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import type { VenueProbeContext, VenueProbeEvent, VenueProbeInput, VenueProbeState } from "./VenueProbe.ts"

const probe = setup({
  types: {
    context: {} as VenueProbeContext,
    events: {} as VenueProbeEvent,
    emitted: {} as MachineEffect,
    input: {} as VenueProbeInput
  }
})

const call = probe.emit(({ context: { probeId, account, symbol, side, price, qty } }) => ({
  type: "venue.call",
  call: {
    name: "placeOrder",
    request: {
      ref: `P-${probeId}`,
      account,
      symbol,
      side,
      price,
      qty,
      tif: "IOC",
      reduceOnly: false,
      trigger: null,
      group: null
    }
  }
}))

const note = (action: string, before: VenueProbeState | null, after: VenueProbeState) =>
  probe.emit(({ context: { reason } }) => ({ type: "audit", action, before, after, reason }))

const executed = probe.assign(({ event }) => {
  assertEvent(event, "EXECUTED")
  return { endedAt: event.at, venueOrderId: event.venueOrderId, reason: null }
})
const refused = probe.assign(({ event }) => {
  assertEvent(event, "REFUSED")
  return { endedAt: event.at, reason: event.reason }
})
const ended = probe.assign({ endedAt: ({ event }) => event.at })

const foundAfter = (before: VenueProbeState) =>
  ({ target: "EXECUTED", actions: [executed, note("venueProbe.found", before, "EXECUTED")] }) as const

export const venueProbeMachine = probe.createMachine({
  id: "venueProbe",
  version: "1",
  context: ({ input }) => ({ ...input, endedAt: null, venueOrderId: null, reason: null }),
  initial: "IN_FLIGHT",
  states: {
    IN_FLIGHT: {
      description: "The order is sent, and its outcome is not known yet.",
      entry: [call, note("venueProbe.begin", null, "IN_FLIGHT")],
      on: {
        EXECUTED: { target: "EXECUTED", actions: [executed, note("venueProbe.end", "IN_FLIGHT", "EXECUTED")] },
        REFUSED: { target: "REFUSED", actions: [refused, note("venueProbe.end", "IN_FLIGHT", "REFUSED")] },
        VOID: { target: "VOID", actions: [ended, note("venueProbe.end", "IN_FLIGHT", "VOID")] }
      }
    },
    EXECUTED: { type: "final", description: "The venue took the order, which ended there without a fill." },
    REFUSED: { description: "The venue refused the order.", on: { EXECUTED: foundAfter("REFUSED") } },
    VOID: {
      description: "The order never came to the venue, and it is never executed there.",
      on: { EXECUTED: foundAfter("VOID") }
    }
  }
})
