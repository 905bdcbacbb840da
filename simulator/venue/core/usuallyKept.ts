/**
 * How much of what is over a venue keeps: far more than anybody asks for again (a call that got no answer is looked up within
 * minutes), and no more than a process and its snapshot can hold.
 */
import type { Kept } from "./VenueInput.ts"

export const usuallyKept: Kept = {
  refs: 1_000_000,
  orders: 100_000,
  requests: 10_000,
  contracts: 50_000,
  swaps: 50_000
}
