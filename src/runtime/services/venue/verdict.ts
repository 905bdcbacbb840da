/**
 * Checks whether the venue's report of an object fits the service's calls, in the client's turn. `machines/venueChecks` holds the
 * checks of each message. A handler supplies the terms of the call (`VenueHandler.verdict`, A2-115).
 */
import { marksAboutMillis, type PriceBand } from "../../../machines/market/PriceBand.ts"
import { clockSlackMillis, timeMisfit, type VenueTime } from "../../../machines/venueChecks/timeChecks.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"

/** A report that does not fit. Nothing of it is booked. */
export interface Misfit {
  /** The reason, in a few words. */
  readonly reason: string
  /** The value at stake, micro-USDC. A break of this amount opens if the misfit stands. */
  readonly worth: bigint
  /** A later mark or listing may still explain the report. */
  readonly isEarly?: true
}

/** Null: the report fits. */
export type Verdict = Misfit | null

/** The market around a time of the venue, as a check sees it. */
export interface MarketSeen {
  readonly bandAt: (at: number, bps?: number) => PriceBand | null
  readonly isListed: boolean | null
  readonly venueTime: VenueTime
}

/**
 * Judges a message against the known market. `at` is the message's time. A message that fits only without the market is early for
 * five seconds after its time, and fits from then on. So a price alone sets nothing aside while marks are missing.
 */
export const judgedOn = (
  { facts, now }: Pick<Turn, "facts" | "now">,
  { symbol, at }: { readonly symbol: string; readonly at: number },
  misfitOn: (seen: MarketSeen) => string | null,
  worthOf: () => bigint
): Verdict => {
  const { venueTime, recent } = facts
  let early = false
  const mayCome = (time: number): boolean => now < time + marksAboutMillis
  const seen = (waits: boolean): MarketSeen => ({
    venueTime,
    bandAt: (time, bps) => {
      const band = recent.bandAt(symbol, time, bps)
      if (band === null || band.isWhole) return band
      // A time further ahead than the clocks can differ comes from a jump of the clock, during which no marks come.
      if (!waits || time > now + clockSlackMillis || !mayCome(time)) return null
      early = true
      return band
    },
    get isListed() {
      const listed = recent.isListed(symbol)
      if (listed !== true || !mayCome(at)) return listed
      early = true
      return waits ? listed : null
    }
  })
  const checked = (waits: boolean): string | null =>
    timeMisfit({ called: "the time of the message", at, sentAt: null }, venueTime) ?? misfitOn(seen(waits))
  const reason = checked(true)
  if (reason === null) return null
  const certain = early ? checked(false) : reason
  const worth = worthOf()
  return certain === null ? { reason: `not judged yet, ${reason}`, worth, isEarly: true } : { reason: certain, worth }
}
