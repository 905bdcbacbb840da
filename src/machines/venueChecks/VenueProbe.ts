/**
 * A probe of the venue: one order that can neither fill nor rest, sent like every call. It shows that a call is executed at
 * most once and its outcome becomes known, even when answers or processes are lost. Only sandboxes have probes (operator
 * surface, sim venue; A2-95).
 */
import type { VenueRequest } from "../venue/venueCalls.ts"

export const venueProbeStates = ["IN_FLIGHT", "EXECUTED", "REFUSED", "VOID"] as const
export type VenueProbeState = (typeof venueProbeStates)[number]

/** Probes that one command starts. */
export const probesAtOnce = 100

/** An order without its refs at the venue. */
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
  /** The venue's id of the order; null unless it was executed. */
  readonly venueOrderId: number | null
  /** Why it was refused, in the venue's words. */
  readonly reason: string | null
}

export type VenueProbeEvent =
  /** The venue accepted the order under this id. */
  | { readonly type: "EXECUTED"; readonly at: number; readonly venueOrderId: number | null }
  | { readonly type: "REFUSED"; readonly at: number; readonly reason: string | null }
  /** The venue never received it, and never will execute it. */
  | { readonly type: "VOID"; readonly at: number }
