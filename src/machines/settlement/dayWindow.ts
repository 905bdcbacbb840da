/**
 * Splits a window of time into whole days, whose totals are stored, and the partial days at its ends, whose rows are read one
 * by one. A day is Unix ms divided by 86,400,000, as in the stored totals.
 */
const dayMillis = 86_400_000

/** Unix ms, both ends inclusive; empty when `from` is after `to`. */
export interface Span {
  readonly from: number
  readonly to: number
}

export interface DayWindow {
  /** Whole days, both inclusive; empty when `from` is after `to`. */
  readonly days: Span
  /** The partial days before the first and after the last whole day; either may be empty. */
  readonly edges: readonly [Span, Span]
}

/**
 * The last day that ends at or before `to`; -1 when there is none. If `to` is at or after `now`, the day of `to` counts as ended,
 * because no row is later than `now`.
 */
const lastWholeDay = (to: number, now: number): number =>
  to >= now ? Math.floor(to / dayMillis) : Math.floor((to + 1) / dayMillis) - 1

/** Splits all time up to `to`, inclusive, into the last whole day and the partial day after that day. */
export const everythingUntil = (to: number, now: number): { readonly lastDay: number; readonly part: Span } => {
  const lastDay = lastWholeDay(to, now)
  return { lastDay, part: { from: (lastDay + 1) * dayMillis, to } }
}

const nothing: Span = { from: 1, to: 0 }

/**
 * Splits the window from `from` to `to`, both inclusive. No row is later than `now`, so a window that reaches `now` takes the
 * present day as a whole: the usual query, all time up to now, reads no row at all.
 */
export const dayWindow = (from: number, to: number, now: number): DayWindow => {
  if (from > to) return { days: nothing, edges: [nothing, nothing] }
  const first = Math.ceil(from / dayMillis)
  const last = lastWholeDay(to, now)
  if (first > last) return { days: nothing, edges: [{ from, to }, nothing] }
  const days = { from: first, to: last }
  return {
    days,
    edges: [
      { from, to: first * dayMillis - 1 },
      { from: (last + 1) * dayMillis, to }
    ]
  }
}
