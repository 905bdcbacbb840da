/** Tokens of a tester's commands, without imports: the command line offers them as choices without loading a schema (A2-97). */
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

/** Faults that make one member of an object false: in events, answers, lookups and trades of orders. */
export const lieKinds = [
  "false-fill-quantity",
  "false-fill-side",
  "false-fill-price",
  "false-fill-ref",
  "false-fill-time",
  "false-own-trade",
  "false-order-side",
  "false-order-bound",
  "false-order-quantity",
  "false-order-state",
  "false-order-trigger",
  "false-trigger-time",
  "false-request-barrier",
  "false-contract-quantity",
  "false-contract-entry",
  "false-contract-barrier",
  "false-contract-side",
  "false-early-close",
  "false-early-expiry",
  "false-tear-up",
  "false-contract-time",
  "false-knock-out",
  "false-swap-notional",
  "false-swap-reward",
  "false-swap-time",
  "false-swap-fee",
  "false-swap-end",
  "false-stamp"
] as const
export type LieKind = (typeof lieKinds)[number]

export const everyFault = [...faultKinds, ...lieKinds] as const
export type FaultKind = (typeof everyFault)[number]

export const faultRoutes = ["order", "cancel", "rfq", "accept", "take", "market-data", "events", "all"] as const
export type FaultRoute = (typeof faultRoutes)[number]

/** The prices of a market that a tester can hold. */
export const heldPrices = ["last", "mark", "index"] as const
export const dealerMoods = ["silent", "normal"] as const
/** Why the venue trades an account by itself. */
export const executionReasons = ["deleverage", "liquidation"] as const
/** The most characters of a file of knobs. */
export const longestKnobs = 262_144
