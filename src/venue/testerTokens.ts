/** Tokens of a tester's commands, free of any import: the command line offers them as choices without loading a schema. */
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
  "writer-default",
  "unpriced-funding"
] as const
export type FaultKind = (typeof faultKinds)[number]

export const faultRoutes = ["order", "cancel", "rfq", "accept", "take", "market-data", "events", "all"] as const
export type FaultRoute = (typeof faultRoutes)[number]

/** The prices of a market that can be held. */
export const heldPrices = ["last", "mark", "index"] as const
export const dealerMoods = ["silent", "normal"] as const
/** Why the venue trades an account by itself (A2-97). */
export const executionReasons = ["deleverage", "liquidation"] as const
/** Characters of a file of knobs. */
export const longestKnobs = 262_144
