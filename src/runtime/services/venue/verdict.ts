/**
 * Checks whether the venue's report of an object fits the service's calls, in the client's turn. `machines/venueChecks` holds the
 * checks of each message. A handler supplies the terms of the call (`VenueHandler.verdict`, A2-115).
 */
import { marksAboutMillis, type PriceBand } from "../../../machines/market/PriceBand.ts"
import type { KeptMarket } from "../../../machines/venue/VenueMisfit.ts"
import { clockSlackMillis, timeMisfit, type VenueTime } from "../../../machines/venueChecks/timeChecks.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { KeptMarks, marketOf } from "./keptMarks.ts"

/** A report that does not fit. Nothing of it is booked. */
export interface Misfit {
  /** The reason, in a few words. */
  readonly reason: string
  /** The value at stake, micro-USDC. A break of this amount opens if the misfit stands. */
  readonly worth: bigint
  /** A later mark or listing may still explain the report. */
  readonly isEarly?: true
  /** The market by which the report was judged. Absent: no price was judged. */
  readonly market?: KeptMarket
}

/** Null: the report fits. */
export type Verdict = Misfit | null

/** The market around a time of the venue, as a check sees it. */
export interface MarketSeen {
  readonly bandAt: (at: number, bps?: number) => PriceBand | null
  readonly isListed: boolean | null
  readonly venueTime: VenueTime
}

interface Reported {
  readonly symbol: string
  /** The message's time. */
  readonly at: number
  /** The refs of the object's calls begin with these objects (`objectOfRef`). Absent: the report names no object of ours. */
  readonly of?: ReadonlyArray<string>
}

/**
 * Judges a message against the known market. A message that fits only without the market is early for five seconds after its time,
 * and fits from then on. So a price alone sets nothing aside while marks are missing. An object whose misfit is open is judged by
 * the marks that the misfit keeps.
 */
export const judgedOn = (
  turn: Pick<Turn, "facts" | "now" | "state" | "draft">,
  { symbol, at, of = [] }: Reported,
  misfitOn: (seen: MarketSeen) => string | null,
  worthOf: () => bigint
): Verdict => {
  const { facts, now } = turn
  const { venueTime, recent } = facts
  const kept = new KeptMarks(marketOf(turn, of), now)
  let early = false
  const mayCome = (time: number): boolean => now < time + marksAboutMillis
  const seen = (waits: boolean): MarketSeen => ({
    venueTime,
    bandAt: (time, bps) => {
      const band = kept.bandAt(time, bps ?? null, () => recent.bandAt(symbol, time, bps))
      if (band === null || band.isWhole) return band
      // A time further ahead than the clocks can differ comes from a jump of the clock, during which no marks come.
      if (!waits || time > now + clockSlackMillis || !mayCome(time)) return null
      early = true
      return band
    },
    get isListed() {
      const listed = kept.isListed(recent.isListed(symbol))
      if (listed !== true || !mayCome(at)) return listed
      early = true
      return waits ? listed : null
    }
  })
  const checked = (waits: boolean): string | null =>
    timeMisfit({ called: "the time of the message", at, sentAt: null }, venueTime) ??
    misfitOn(seen(waits)) ??
    kept.tooManyTimes()
  const reason = checked(true)
  if (reason === null) return null
  const certain = early ? checked(false) : reason
  // A later report of this time may have another misfit, whose price is judged after a restart.
  seen(false).bandAt(at)
  const found = { worth: worthOf(), market: kept.market }
  return certain === null
    ? { ...found, reason: `not judged yet, ${reason}`, isEarly: true }
    : { ...found, reason: certain }
}
