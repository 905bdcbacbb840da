/**
 * Checks whether the venue's report of an object fits the service's calls, in the client's turn. `machines/venueChecks`
 * contains the checks of each kind of message. A handler supplies the terms of the call (`VenueHandler.verdict`;
 * A2-115).
 */
import { marksAboutMillis, type PriceBand } from "../../../machines/market/PriceBand.ts"
import type { RecentMarket } from "../../../machines/market/Facts.ts"
import type { KeptMarket } from "../../../machines/venueChecks/VenueMisfit.ts"
import { clockSlackMillis, timeMisfit, type VenueTime } from "../../../machines/venue/timeChecks.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { oneInTurn } from "../../engine/mailbox/turnRows.ts"
import { KeptMarks, marketOf } from "./keptMarks.ts"

/** A report that does not fit, so that nothing of it is booked. */
export interface Misfit {
  /** Why the report does not fit, in a few words for staff. */
  readonly reason: string
  /** The value at stake, micro-USDC. A break of this amount opens if the misfit stands. */
  readonly worth: bigint
  /** True if a later mark or listing may still explain the report, so that staff are not alarmed yet. */
  readonly isEarly?: true
  /** The marks and the listing by which the report was checked; absent if the check used none. */
  readonly market?: KeptMarket
  /** The id of the contract that the reported request is to close. */
  readonly contractId?: number
}

/** The misfit of a report; null if the report fits. */
export type Verdict = Misfit | null

/** The market data around a venue time, as a check uses them. */
export interface MarketSeen {
  /**
   * The band of the marks around a time, widened if some marks were lost. Null: unknown because of an outage or a
   * restart.
   */
  readonly bandAt: (at: number, bps?: number) => PriceBand | null
  readonly isListed: boolean | null
  readonly venueTime: VenueTime
}

/** The latest venue time of the account's processed events; 0: unknown. */
const takenToIn = (turn: Pick<Turn, "state" | "draft">): number => oneInTurn(turn, "venueAccounts")?.takenTo ?? 0

/**
 * The factor by which a market's band is widened if marks were lost, or if present marks replace the unknown marks of
 * a past time.
 */
const movedSince = 5

interface Reported {
  readonly symbol: string
  /** The venue's time of the message, Unix ms. */
  readonly at: number
  /** The objects whose open misfits keep marks for the report (`objectOfRef`). Absent: the report names no object of ours. */
  readonly of?: ReadonlyArray<string>
  /** True if the service knew this time before the message, so that the venue can't have chosen it for the message. */
  readonly isKnown?: boolean
  /** True for a message of the event stream, as in `ObjectReport.isEvent`. */
  readonly isEvent?: boolean
}

/**
 * Checks a message against the known market data. A message that lacks only market data counts as early for up to
 * five seconds after its time. Afterwards it fits if only marks are missing, because without marks no price is
 * implausible. A settlement of a market never fits before a listing confirms it. The marks that an open misfit stores
 * apply to later reports of its object.
 */
export const judgedOn = (
  turn: Pick<Turn, "facts" | "now" | "state" | "draft">,
  { symbol, at, of = [], isKnown = false, isEvent = false }: Reported,
  misfitOn: (seen: MarketSeen) => string | null,
  worthOf: () => bigint
): Verdict => {
  const { facts, now } = turn
  const { recent } = facts
  const takenTo = takenToIn(turn)
  const venueTime = isEvent ? { ...facts.venueTime, takenTo } : facts.venueTime
  const kept = new KeptMarks(marketOf(turn, of), now)
  let early = false
  const venueNow = now + venueTime.lead - venueTime.lag
  const mayCome = (time: number): boolean => venueNow < time + marksAboutMillis
  /**
   * True if later events of the account are already processed. Then no outage of the service explains that the marks of
   * that time are unknown.
   */
  const isPassed = (time: number): boolean => !isKnown && time < takenTo - clockSlackMillis
  const bandBps = facts.instruments.get(symbol)?.bandBps
  /** A band from `by`, widened because marks were lost. Null: the market is not listed, or `by` knows no marks. */
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
      // Present marks stand for those of a past time with a wide band, because prices may have moved since.
      if (isPassed(time)) return nearest(time, bps) ?? widened(recent.bandAt, venueNow, bps)
      // A time that is further ahead than the clocks can differ comes from a jump of the clock. During a jump no marks
      // arrive.
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
  // Stores the bands even if no price was checked: a later report of this time may contain one, and a restart loses the
  // marks.
  for (const bps of [undefined, 0]) seen(false).bandAt(at, bps)
  const found = { worth: worthOf(), market: kept.market }
  return certain === null
    ? { ...found, reason: `not judged yet, ${reason}`, isEarly: true }
    : { ...found, reason: certain }
}
