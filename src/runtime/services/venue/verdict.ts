/**
 * Whether what the venue says of an object fits what was asked for, in its client's turn (A2-115). The rows of each message are in
 * `machines/venueChecks`; a handler says what was asked for (`VenueHandler.verdict`).
 */
import { marksAboutMillis, type PriceBand } from "../../../machines/market/PriceBand.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"

/** Does not fit: none of it is booked. */
export interface Misfit {
  /** What does not fit, in a few words. */
  readonly reason: string
  /** What hangs on it, micro-USDC: the amount of the break if it stands. */
  readonly worth: bigint
}

/** Null: it fits. EARLY: a mark or a listing that decides it may still come. */
export type Verdict = Misfit | "EARLY" | null

/** What a check sees of the market about a time of the venue's. */
export interface MarketSeen {
  readonly bandAt: (at: number) => PriceBand | null
  readonly isListed: boolean | null
}

/** How far a time may be ahead of the business clock to be judged by marks: beyond it a jump of time is under way. */
const jumpMillis = 2_000

/**
 * Judges a message on the market as it is known. `at`: the message's time. What fits only without the market is EARLY for five seconds
 * after its time, and fits from then on: without marks price alone sets nothing aside.
 */
export const judgedOn = (
  { facts, now }: Pick<Turn, "facts" | "now">,
  { symbol, at }: { readonly symbol: string; readonly at: number },
  misfitOn: (seen: MarketSeen) => string | null,
  worthOf: () => bigint
): Verdict => {
  let early = false
  const mayCome = (time: number): boolean => now < time + marksAboutMillis
  const seen = (waits: boolean): MarketSeen => ({
    bandAt: (time) => {
      const band = facts.recent.bandAt(symbol, time)
      if (band === null || band.isWhole) return band
      if (!waits || time > now + jumpMillis || !mayCome(time)) return null
      early = true
      return band
    },
    get isListed() {
      const listed = facts.recent.isListed(symbol)
      if (listed !== true || !mayCome(at)) return listed
      early = true
      return waits ? listed : null
    }
  })
  const reason = misfitOn(seen(true))
  if (reason === null) return null
  const certain = early ? misfitOn(seen(false)) : reason
  return certain === null ? "EARLY" : { reason: certain, worth: worthOf() }
}
