/** Faults of the simulated venue by name, free of any import: the command line offers them without loading a schema. */
export const faultKinds = [
  "timeout-before",
  "timeout-after",
  "reset",
  "http-500",
  "broken-json",
  "reject",
  "silent",
  "slow",
  "visibility-lag",
  "duplicate-events",
  "reorder-events",
  "drop-events",
  "fill-before-ack",
  "stale-marks",
  "outage",
  "quote-withdrawn",
  "writer-default"
] as const
export type FaultKind = (typeof faultKinds)[number]

export const faultRoutes = ["order", "cancel", "rfq", "accept", "take", "market-data", "events", "all"] as const
export type FaultRoute = (typeof faultRoutes)[number]
