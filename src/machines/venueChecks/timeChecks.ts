/**
 * The rule for every time in a message of the venue: not later than the venue's clock can be, and not before the request that it
 * answers. Without the rule the venue could choose a time whose marks are unknown, and no price would be checked (A2-115).
 */

/** The clocks of service and venue may differ by this much, ms. */
export const clockSlackMillis = 5_000

/** The clock of the venue as the service knows it, Unix ms of business time. */
export interface VenueTime {
  /** The latest time that this clock can have, plus the slack. */
  readonly latest: number
  /**
   * The last time at which this clock was seen behind the service's. A request of before that may be executed at an earlier time.
   * In a sandbox alone (C4).
   */
  readonly behindUntil: number
}

/** Nothing is known of the venue's clock: every time is possible. */
export const anyTime: VenueTime = { latest: Infinity, behindUntil: Infinity }

interface Dated {
  /** The name of the time in the sentence. */
  readonly called: string
  readonly at: number
  /** When our request was sent; null: no request precedes the message. */
  readonly sentAt: number | null
}

/** An error sentence when a time is not possible; null when it is. */
export const timeMisfit = ({ called, at, sentAt }: Dated, { latest, behindUntil }: VenueTime): string | null => {
  if (at > latest) return `${called} ${textOf(at)} is in the future`
  return sentAt !== null && sentAt > behindUntil && at < sentAt - clockSlackMillis
    ? `${called} ${textOf(at)} is before the request of ${textOf(sentAt)}`
    : null
}

const textOf = (at: number): string => new Date(at).toISOString()
