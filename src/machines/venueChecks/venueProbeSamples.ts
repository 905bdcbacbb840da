/** Events of a probe of the venue: path tests and diagrams use them. */
import type { VenueProbeEvent, VenueProbeInput } from "./VenueProbe.ts"

export const venueProbeInput: VenueProbeInput = {
  probeId: 1,
  clientId: 1,
  account: "ACM-00000001",
  symbol: "BTC-USDC-PERP",
  side: "BUY",
  price: "60000",
  qty: "0.001",
  startedAt: 0
}

export const venueProbeSamples: ReadonlyArray<VenueProbeEvent> = [
  { type: "EXECUTED", at: 1, venueOrderId: 9 },
  { type: "REFUSED", at: 2, reason: "the market is halted" },
  { type: "VOID", at: 3 }
]
