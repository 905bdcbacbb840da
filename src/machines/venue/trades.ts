/** The latest trades of an account at the service and at the venue, as far as both can be compared (A2-44, A2-103, A2-97). */
import { decimalText, MoneyDecimal } from "../shared/Money.ts"
import type { VenueEvent } from "./VenueEvent.ts"

export interface Trade {
  readonly tradeId: number
  readonly side: "BUY" | "SELL"
  readonly qty: string
  readonly price: string
  /** The ref of its order at the venue; null: the venue's own order. */
  readonly ref?: string | null
}

/** The latest trades. `from`: the lowest id from which no trade is missing; infinite when unknown. */
export interface LatestTrades {
  readonly trades: ReadonlyArray<Trade>
  readonly from: number
}

/** The most rows of the service in a comparison; events of the venue are fewer (Venue.accountEvents). */
export const tradesCompared = 2_000

/**
 * The booked trades, newest first, at most `tradesCompared`. A late booking may lie among newer rows. At the limit only the
 * trades beyond the older half therefore count as complete.
 */
export const bookedTrades = (newest: ReadonlyArray<Trade>): LatestTrades => {
  if (newest.length < tradesCompared) return { trades: newest, from: 0 }
  const older = newest.slice(newest.length / 2)
  return { trades: newest, from: 1 + older.reduce((most, { tradeId }) => Math.max(most, tradeId), 0) }
}

/**
 * The trades in an account's latest events, queried after a sequence while `last` was the newest one; fills of one identity are
 * one trade. If the venue no longer keeps all of these events, trades are missing: the result is then unknown.
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
  // Staff decide about a reversed trade: a break is open for it.
  return { trades: [...trades.values()].filter(({ tradeId }) => !busted.has(tradeId)), from: floorOf(from, busted) }
}

const unknown: LatestTrades = { trades: [], from: Number.POSITIVE_INFINITY }

/** The lowest id after every reversed trade. */
const floorOf = (from: number, busted: ReadonlySet<number>): number =>
  Math.max(from, ...[...busted].map((id) => id + 1))

/** The trades that both sides know without a gap. */
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
