/**
 * A probe of the venue: one order that can neither fill nor rest, sent like every call. It proves that a call is executed at
 * most once and that its outcome becomes known, even when answers or processes are lost. Only sandboxes have probes (operator
 * surface, sim venue; A2-95).
 */
import type { VenueRequest } from "../venue/venueCalls.ts"

export const venueProbeStates = ["IN_FLIGHT", "EXECUTED", "REFUSED", "VOID"] as const
export type VenueProbeState = (typeof venueProbeStates)[number]

/** The number of probes that one command may start. */
export const probesAtOnce = 100

/** The terms of a probe's order; its refs are added when it is sent. */
export type ProbeOrder = Pick<VenueRequest<"placeOrder">, "symbol" | "side" | "price" | "qty">

export interface VenueProbeInput extends ProbeOrder {
  readonly probeId: number
  readonly clientId: number
  /** The client's account at the venue: its uid. */
  readonly account: string
  readonly startedAt: number
}

export interface VenueProbeContext extends VenueProbeInput {
  readonly endedAt: number | null
  /** The venue's id of the order; null unless the order was executed. */
  readonly venueOrderId: number | null
  /** The venue's reason for a refusal; null otherwise. */
  readonly reason: string | null
}

export type VenueProbeEvent =
  /** The venue executed the call. `venueOrderId`: the venue's id of the order; null if the venue did not report it. */
  | { readonly type: "EXECUTED"; readonly at: number; readonly venueOrderId: number | null }
  | { readonly type: "REFUSED"; readonly at: number; readonly reason: string | null }
  /** The venue never received the order, and never will execute it. */
  | { readonly type: "VOID"; readonly at: number }
