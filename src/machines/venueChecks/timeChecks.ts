/**
 * The rule for every time in a message of the venue: not later than the venue's clock can be, and not before the request that it
 * answers. Without the rule the venue could choose a time whose marks are unknown, and no price would be checked (A2-115).
 */

/** The clocks of service and venue may differ by this much, ms. */
export const clockSlackMillis = 5_000

/** The times that a message can have, Unix ms. */
export interface PossibleTimes {
  /** When our request was sent; null: no request precedes the message. */
  readonly sentAt: number | null
  /** The latest time of the venue's clock, with the slack. */
  readonly latest: number
}

/** An error sentence when a time lies outside the possible ones; null when it lies inside. `called`: its name in the sentence. */
export const timeMisfit = (called: string, at: number, { sentAt, latest }: PossibleTimes): string | null => {
  if (at > latest) return `${called} ${textOf(at)} is in the future`
  return sentAt !== null && at < sentAt - clockSlackMillis
    ? `${called} ${textOf(at)} is before the request of ${textOf(sentAt)}`
    : null
}

const textOf = (at: number): string => new Date(at).toISOString()
