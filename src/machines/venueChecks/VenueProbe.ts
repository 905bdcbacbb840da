/**
 * A probe of the venue: one order that can neither fill nor rest, sent the way every call goes. It shows that what is asked of
 * the venue is done at most once and known in the end, whatever happens to answers and processes. Sandboxes alone have probes
 * (operator surface, sim venue; A2-95).
 */
import type { VenueRequest } from "../venue/venueCalls.ts"

export const venueProbeStates = ["IN_FLIGHT", "EXECUTED", "REFUSED", "VOID"] as const
export type VenueProbeState = (typeof venueProbeStates)[number]

/** Probes that one command starts. */
export const probesAtOnce = 100

/** An order without the names that the venue keeps of it. */
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
  /** The venue took the order: it has this id there. */
  | { readonly type: "EXECUTED"; readonly at: number; readonly venueOrderId: number | null }
  | { readonly type: "REFUSED"; readonly at: number; readonly reason: string | null }
  /** It never came to the venue and never will be executed. */
  | { readonly type: "VOID"; readonly at: number }
