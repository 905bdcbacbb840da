/**
 * The rule for every time in a venue message: not later than the venue's clock can be, and not before the request that it
 * answers. Otherwise the venue could choose a time with unknown marks, and no price would be checked (A2-115).
 */

/** A time may lie this much outside the limits that the known clocks allow, ms. */
export const clockSlackMillis = 5_000
/** The largest difference between its clock and the venue's that the service accepts as drift, ms. */
export const driftLimit = 15_000

/** The clock of the venue as the service knows it, Unix ms of business time. */
export interface VenueTime {
  /** The latest time that this clock can have, plus the slack. */
  readonly latest: number
  /** How far this clock may be behind the service's, ms: as measured, or `driftLimit` before the first measurement. */
  readonly lag: number
  /**
   * The largest lag of at least the last hour, ms. A request keeps the time of its clock, even if the clock was corrected since.
   */
  readonly pastLag: number
  /** How far this clock may be ahead of the service's, ms. */
  readonly lead: number
  /**
   * The last time at which this clock was behind the service's. A request sent before this time may be executed at an earlier
   * time than its own. Only in a sandbox, where each start of the service counts as such a time.
   */
  readonly behindUntil: number
}

/** The venue's clock is unknown: every time is possible. */
export const anyTime: VenueTime = { latest: Infinity, lag: 0, pastLag: 0, lead: 0, behindUntil: Infinity }

interface Dated {
  /** The name of the time in the sentence. */
  readonly called: string
  readonly at: number
  /** When the request was sent; null: no request precedes the message. */
  readonly sentAt: number | null
}

/** An error sentence when a time is impossible; null when it is possible. */
export const timeMisfit = (
  { called, at, sentAt }: Dated,
  { latest, pastLag, behindUntil }: VenueTime
): string | null => {
  if (at > latest) return `${called} ${timeText(at)} is in the future`
  return sentAt !== null && sentAt > behindUntil && at < sentAt - pastLag - clockSlackMillis
    ? `${called} ${timeText(at)} is before the request of ${timeText(sentAt)}`
    : null
}

export const timeText = (at: number): string => new Date(at).toISOString()
