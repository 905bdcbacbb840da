/**
 * Default limits on ended data: far more than callers still need (a call without an answer is looked up within minutes), and no
 * more than a process and its snapshot can hold.
 */
import type { Kept } from "./VenueInput.ts"

export const usuallyKept: Kept = {
  refs: 1_000_000,
  orders: 100_000,
  requests: 10_000,
  contracts: 50_000,
  swaps: 50_000
}
