/** The orders that every book of the comparison gets: seeded, so that each has the same work to do. */
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"

export type StreamOrder =
  | { readonly cancel: string }
  | {
      readonly cancel: null
      readonly ref: string
      readonly account: number
      readonly side: "BUY" | "SELL"
      /** Ticks and lots. */
      readonly price: number
      readonly quantity: number
    }

/** Buyers have the first half of the accounts, sellers the second: nobody meets an order of its own. */
export const accounts = 64
const middle = 600_000
/** Prices lie this far around the middle: about two orders of three trade at once. */
const ticks = 40

/** Limit orders around a middle, one cancel of an earlier order in five. */
export const orderStream = (length: number, seed: number): ReadonlyArray<StreamOrder> => {
  const random = new SeededRandom(seed)
  return Array.from({ length }, (_, n): StreamOrder => {
    if (n > 0 && random.chance(0.2)) return { cancel: `O-${Math.max(0, n - random.between(1, 2_000))}` }
    const side = random.chance(0.5) ? "BUY" : "SELL"
    const half = accounts / 2
    return {
      cancel: null,
      ref: `O-${n}`,
      account: random.between(1, half) + (side === "SELL" ? half : 0),
      side,
      price: middle + random.between(-ticks, ticks),
      quantity: random.between(1, 20)
    }
  })
}
