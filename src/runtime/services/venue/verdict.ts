/**
 * Checks whether the venue's report of an object fits the service's calls, in the client's turn. `machines/venueChecks` holds the
 * checks of each message. A handler supplies the terms of the call (`VenueHandler.verdict`; A2-115).
 */
import { marksAboutMillis, type PriceBand } from "../../../machines/market/PriceBand.ts"
import type { RecentMarket } from "../../../machines/market/Facts.ts"
import type { KeptMarket } from "../../../machines/venueChecks/VenueMisfit.ts"
import { clockSlackMillis, timeMisfit, type VenueTime } from "../../../machines/venue/timeChecks.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { oneInTurn } from "../../engine/mailbox/turnRows.ts"
import { KeptMarks, marketOf } from "./keptMarks.ts"

/** A report that does not fit. Nothing of it is booked. */
export interface Misfit {
  /** The reason, in a few words. */
  readonly reason: string
  /** The value at stake, micro-USDC. A break of this amount opens if the misfit stands. */
  readonly worth: bigint
  /** A later mark or listing may still explain the report. */
  readonly isEarly?: true
  /** The market data by which the report was judged. Absent: no price was judged. */
  readonly market?: KeptMarket
  /** The contract that the reported request is to close. */
  readonly contractId?: number
}

/** Null: the report fits. */
export type Verdict = Misfit | null

/** The market around a time of the venue, as a check sees it. */
export interface MarketSeen {
  /**
   * The band of the marks around a time, wider if some were lost; null: unknown, because of an outage or a restart of the
   * service.
   */
  readonly bandAt: (at: number, bps?: number) => PriceBand | null
  readonly isListed: boolean | null
  readonly venueTime: VenueTime
}

/** The latest venue time of the account's events that were processed. 0: unknown. */
export const takenToIn = (turn: Pick<Turn, "state" | "draft">): number => oneInTurn(turn, "venueAccounts")?.takenTo ?? 0

/** The market's band is widened by this factor where marks were lost, or where present marks judge a passed time. */
const movedSince = 5

interface Reported {
  readonly symbol: string
  /** The message's time. */
  readonly at: number
  /** The objects whose open misfits keep marks for the report (`objectOfRef`). Absent: the report names no object of ours. */
  readonly of?: ReadonlyArray<string>
  /** The time is already known here, so the venue can't choose it now. */
  readonly isKnown?: boolean
}

/**
 * Judges a message against the known market. If only missing market data can make a message fit, it is early for five seconds
 * after its time. From then on it fits if only marks are missing: a price alone quarantines nothing while marks are missing. A
 * settlement never fits before a listing confirms it. The marks that an open misfit keeps judge the later reports of its object.
 */
export const judgedOn = (
  turn: Pick<Turn, "facts" | "now" | "state" | "draft">,
  { symbol, at, of = [], isKnown = false }: Reported,
  misfitOn: (seen: MarketSeen) => string | null,
  worthOf: () => bigint
): Verdict => {
  const { facts, now } = turn
  const { venueTime, recent } = facts
  const kept = new KeptMarks(marketOf(turn, of), now)
  let early = false
  const venueNow = now + venueTime.lead - venueTime.lag
  const mayCome = (time: number): boolean => venueNow < time + marksAboutMillis
  /** The account's events have passed such a time, so no outage of the service excuses that its marks are unknown. */
  const isPassed = (time: number): boolean => !isKnown && time < takenToIn(turn) - clockSlackMillis
  const bandBps = facts.instruments.get(symbol)?.bandBps
  /** A band from `by`, widened because marks were lost; null: the market is not listed, or `by` knows no marks. */
  const widened = (by: RecentMarket["bandNear"], time: number, bps = 0): PriceBand | null =>
    bandBps === undefined ? null : by(symbol, time, Math.max(bps, bandBps * movedSince))
  const nearest = (time: number, bps?: number): PriceBand | null => widened(recent.bandNear, time, bps)
  const known = (time: number, bps?: number): PriceBand | null => {
    const exact = recent.bandAt(symbol, time, bps)
    if (exact?.isWhole === true) return exact
    const near = nearest(time, bps)
    return near?.isWhole === true ? near : exact
  }
  const seen = (waits: boolean): MarketSeen => ({
    venueTime,
    bandAt: (time, bps) => {
      const band = kept.bandAt(time, bps ?? null, () => known(time, bps))
      if (band?.isWhole === true) return band
      // Present marks judge a passed time by a wide band, because prices may have moved since.
      if (isPassed(time)) return nearest(time, bps) ?? widened(recent.bandAt, venueNow, bps)
      // A time further ahead than the clocks can differ comes from a jump of the clock, during which no marks come.
      if (time > venueNow + clockSlackMillis) return null
      if (!mayCome(time)) return nearest(time, bps)
      const open = waits ? (band ?? nearest(time, bps)) : null
      if (open !== null) early = true
      return open
    },
    get isListed() {
      const listed = kept.isListed(at, recent.isListed(symbol, at))
      if (listed !== null || !mayCome(at)) return listed
      early = true
      return waits
    }
  })
  const checked = (waits: boolean): string | null =>
    timeMisfit({ called: "the time of the message", at, sentAt: null }, venueTime) ??
    misfitOn(seen(waits)) ??
    kept.tooManyTimes()
  const reason = checked(true)
  if (reason === null) return null
  const certain = early ? checked(false) : reason
  // Keeps the bands even if no price was judged: a later report of this time may have one, and a restart loses the marks.
  for (const bps of [undefined, 0]) seen(false).bandAt(at, bps)
  const found = { worth: worthOf(), market: kept.market }
  return certain === null
    ? { ...found, reason: `not judged yet, ${reason}`, isEarly: true }
    : { ...found, reason: certain }
}
