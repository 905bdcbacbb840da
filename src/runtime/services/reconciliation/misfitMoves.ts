/**
 * The differences of positions and money that the open misfits of a client explain. Nothing of a report that does not fit is
 * booked, so the venue's books differ until the venue corrects itself, or until the misfit stands and opens a break of its own.
 * Orders explain a position up to their open quantity, or up to their trades as reported, and money in the direction of these
 * trades. A contract or a swap explains money of its currency: its report may be false in every amount (A2-103, A2-115).
 */
import { MoneyDecimal } from "../../../machines/shared/Money.ts"
import type { Trade } from "../../../machines/venue/trades.ts"
import { ownerOfRef } from "../../../machines/venue/venueRefs.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { Recall } from "../account/Recall.ts"
import { openMisfits } from "../venue/misfits.ts"

/** A change of a figure at the venue that is not booked here: from zero to `low`, or from zero to `high`. */
interface Range {
  readonly low: MoneyDecimal
  readonly high: MoneyDecimal
}

/** The ranges of all open misfits together. */
export interface MisfitMoves {
  /** Ranges of positions by symbol, in the quantity of the market. */
  readonly positions: ReadonlyMap<string, Range>
  /** Ranges of money by currency. */
  readonly money: ReadonlyMap<string, Range>
}

/** A trade of an order that the venue reports and the service has not booked. */
export interface UnbookedTrade {
  readonly orderId: number
  readonly trade: Trade
}

const none = new MoneyDecimal(0)
const most = new MoneyDecimal(Number.POSITIVE_INFINITY)
const anything: Range = { low: most.negated(), high: most }

export const noMoves: MisfitMoves = { positions: new Map(), money: new Map() }

/** Whether a range explains the venue's figure, given the service's. */
export const explains = (range: Range | undefined, ours: MoneyDecimal, theirs: MoneyDecimal): boolean => {
  const change = theirs.minus(ours)
  return range !== undefined && change.gte(range.low) && change.lte(range.high)
}

/** The moves of the open misfits in the turn. `unbooked`: the trades that the pass found at the venue alone. */
export const misfitMoves = (turn: Turn, recall: Recall, unbooked: ReadonlyArray<UnbookedTrade>): MisfitMoves => {
  const positions = new Map<string, Range>()
  const money = new Map<string, Range>()
  for (const { ref } of openMisfits(turn)) {
    const named = ownerOfRef(ref)
    if (named === null) continue
    const { owner, id } = named
    if (owner === "rfq" || owner === "barrierContract") widen(money, "USDC", anything)
    const swap = owner === "swap" ? recall.row(turn, "swaps", id) : null
    if (swap !== null) widen(money, swap.context.asset, anything)
    const order = owner === "order" ? recall.row(turn, "orders", id) : null
    if (order === null) continue
    const { symbol, family, side, qty, filledQty } = order.context
    const open = signed(side, new MoneyDecimal(qty).minus(filledQty))
    const traded = unbooked
      .filter(({ orderId }) => orderId === id)
      .reduce((sum, { trade }) => sum.plus(signed(trade.side, new MoneyDecimal(trade.qty))), none)
    const range = { low: MoneyDecimal.min(none, open, traded), high: MoneyDecimal.max(none, open, traded) }
    widen(positions, symbol, range)
    const [base = "", quote = ""] = symbol.split("-")
    if (family === "SPOT") widen(money, base, range)
    widen(money, quote, { low: range.high.isZero() ? none : anything.low, high: range.low.isZero() ? none : most })
  }
  return { positions, money }
}

const signed = (side: "BUY" | "SELL", qty: MoneyDecimal): MoneyDecimal => (side === "BUY" ? qty : qty.negated())

const widen = (ranges: Map<string, Range>, name: string, { low, high }: Range): void => {
  const before = ranges.get(name) ?? { low: none, high: none }
  ranges.set(name, { low: before.low.plus(low), high: before.high.plus(high) })
}
