/** The latest trades of an account at the service and at the venue, as far as both can be compared (A2-44, A2-103, A2-97). */
import { decimalText, MoneyDecimal } from "../shared/Money.ts"
import type { VenueEvent } from "./VenueEvent.ts"

export interface Trade {
  readonly tradeId: number
  readonly side: "BUY" | "SELL"
  readonly qty: string
  readonly price: string
  /** The ref of the trade's order; null for an order that the venue created. */
  readonly ref?: string | null
}

/**
 * The latest trades of one side. All trades with an id of `from` or more are among them; `from` is infinite when that is
 * unknown.
 */
export interface LatestTrades {
  readonly trades: ReadonlyArray<Trade>
  readonly from: number
}

/** Limit of the service's trades in one comparison. The venue's events are fewer (Venue.accountEvents). */
export const tradesCompared = 2_000

/**
 * The booked trades, newest first, at most `tradesCompared`. A trade that was booked late may stand among newer rows. So when
 * the limit is reached, only the newer half counts as complete.
 */
export const bookedTrades = (newest: ReadonlyArray<Trade>): LatestTrades => {
  if (newest.length < tradesCompared) return { trades: newest, from: 0 }
  const older = newest.slice(newest.length / 2)
  return { trades: newest, from: 1 + older.reduce((most, { tradeId }) => Math.max(most, tradeId), 0) }
}

/**
 * The trades among an account's latest events, which were queried from a sequence on. A trade that is reported twice counts
 * once. If the venue no longer keeps all of these events, it is not known whether trades are missing.
 */
export const venueTrades = (
  events: ReadonlyArray<VenueEvent | { readonly unreadable: string }>,
  { after, last }: { readonly after: number; readonly last: number }
): LatestTrades => {
  const trades = new Map<number, Trade>()
  const busted = new Set<number>()
  let next = after + 1
  for (const event of events) {
    if ("unreadable" in event) return unknown
    const { fact } = event
    if (!("sequence" in fact) || fact.sequence > next) return unknown
    next = fact.sequence + 1
    if (fact.type === "bust") busted.add(fact.tradeId)
    if (fact.type !== "fill") continue
    const { tradeId, side, qty, price, ref } = fact.fill
    const before = trades.get(tradeId)
    const whole = before === undefined ? qty : decimalText(new MoneyDecimal(before.qty).plus(qty))
    trades.set(tradeId, { tradeId, side, qty: whole, price, ref })
  }
  if (next <= last) return unknown
  const ids = [...trades.keys()]
  const from = after === 0 ? 0 : ids.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...ids)
  // A trade that the venue has reversed is left out of the comparison: it has an open break, on which staff decide.
  return { trades: [...trades.values()].filter(({ tradeId }) => !busted.has(tradeId)), from: floorOf(from, busted) }
}

const unknown: LatestTrades = { trades: [], from: Number.POSITIVE_INFINITY }

/** `from`, or the id after the highest reversed trade if that is more: below that id, trades are missing on purpose. */
const floorOf = (from: number, busted: ReadonlySet<number>): number =>
  Math.max(from, ...[...busted].map((id) => id + 1))

/** The trades of both sides in the range of ids that both know without a gap. */
export const tradesKnownToBoth = (
  ours: LatestTrades,
  theirs: LatestTrades
): { readonly ours: ReadonlyArray<Trade>; readonly theirs: ReadonlyArray<Trade> } => {
  const from = Math.max(ours.from, theirs.from)
  const known = ({ tradeId }: Trade): boolean => tradeId >= from
  return { ours: ours.trades.filter(known), theirs: theirs.trades.filter(known) }
}

/** A trade as text, equal for equal trades, such as `BUY 0.5 at 60000`. */
export const tradeFigure = ({ side, qty, price }: Trade): string =>
  `${side} ${decimalText(new MoneyDecimal(qty))} at ${decimalText(new MoneyDecimal(price))}`
