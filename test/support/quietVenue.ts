/**
 * A venue of two markets that accepts every command: a script for `layerVenueControlMemory`, which a test may change.
 */
import type { VenueScript } from "../../src/runtime/ports/VenueControlMemory.ts"
import { noChange, type VenueView } from "../../src/venue/VenueCommand.ts"

const market = (symbol: string): VenueView["markets"][number] => ({
  symbol,
  last: "60000",
  mark: "60001",
  index: "60002",
  held: [],
  path: false,
  halted: false,
  delisted: false
})

export const quietView: VenueView = {
  at: 1_795_000_000_000,
  seed: 7,
  number: 41,
  startedAt: 1_795_000_000_123,
  readers: { events: 1, marketData: 2, subscriptions: 40 },
  markets: [market("BTC-USDC-PERP"), market("BTC-USDC")],
  dealers: [{ name: "one", mood: "normal", latencyMillis: 200, validityMillis: 5_000 }],
  faults: []
}

export const quietVenue = (): VenueScript => ({
  show: () => quietView,
  command: (command) => ({
    number: 42,
    at: command.type === "advance" ? command.to : quietView.at,
    id: null,
    ...noChange
  }),
  sent: []
})
