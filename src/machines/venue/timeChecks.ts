/**
 * The rule for every time in a venue message: not later than the venue's clock can be, and not earlier than the request that
 * the message answers. Without it, the venue could choose a time with unknown marks, and no price would be checked. A new time
 * in an event is not before the earlier events of its account: otherwise the venue could choose a past time whose marks fit
 * (A2-115).
 */

/** Tolerance for times outside the limits of the known clocks, ms. */
export const clockSlackMillis = 5_000
/** The largest difference between the service's clock and the venue's that the service accepts as drift, ms. */
export const driftLimit = 15_000

/** The service's knowledge of the venue's clock, Unix ms of business time. */
export interface VenueTime {
  /** The latest time that the venue's clock can show now, plus the tolerance. */
  readonly latest: number
  /** How far the venue's clock may be behind the service's, ms: as measured, or `driftLimit` before the first measurement. */
  readonly lag: number
  /**
   * The largest lag of at least the last hour, ms. A request counts with the lag at its own time, even if the clock was
   * corrected afterwards.
   */
  readonly pastLag: number
  /** How far the venue's clock may be ahead of the service's, ms. */
  readonly lead: number
  /** The largest lead of at least the last hour, ms. An event keeps the time of its clock, even if the clock was corrected since. */
  readonly pastLead: number
  /**
   * The last time at which the venue's clock was behind the service's. A request sent before this time may be executed at a
   * time earlier than its own. Used in a sandbox only, where each start of the service counts as such a time.
   */
  readonly behindUntil: number
  /** Only for a message that is an event: the latest time of the account's earlier events, Unix ms. */
  readonly takenTo?: number
}

/** For an unknown clock of the venue: every time is possible. */
export const anyTime: VenueTime = { latest: Infinity, lag: 0, pastLag: 0, lead: 0, pastLead: 0, behindUntil: Infinity }

interface Dated {
  /** The name of the checked time, for the sentence. */
  readonly called: string
  readonly at: number
  /** The time when the request was sent; null when the message answers no request. */
  readonly sentAt: number | null
  /** True: an honest event can have this time after later ones, because it was reported before or the terms set it. */
  readonly mayBeOld?: boolean
}

/** An error sentence when a time is impossible; null when it is possible. */
export const timeMisfit = (
  { called, at, sentAt, mayBeOld = false }: Dated,
  { latest, lag, pastLag, pastLead, behindUntil, takenTo }: VenueTime
): string | null => {
  if (at > latest) return `${called} ${timeText(at)} is in the future`
  // The venue's clock may have been ahead when it dated the earlier event, and behind since its correction.
  if (!mayBeOld && takenTo !== undefined && at < takenTo - pastLead - lag - clockSlackMillis)
    return `${called} ${timeText(at)} is before the account's last event of ${timeText(takenTo)}`
  return sentAt !== null && sentAt > behindUntil && at < sentAt - pastLag - clockSlackMillis
    ? `${called} ${timeText(at)} is before the request of ${timeText(sentAt)}`
    : null
}

export const timeText = (at: number): string => new Date(at).toISOString()
