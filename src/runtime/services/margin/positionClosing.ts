/**
 * Chooses the position that a close-out closes next, and builds its order. Candidates are positions whose market trades at the
 * venue and has a fresh mark. The largest initial margin goes first; of equal ones, the position that opened first. After an
 * incomplete fill the market pauses for a second, and the other markets go first. The pause grows while nothing changes. A market
 * without counterparties gets no order until one quotes (A2-11, A2-90, F3, F9, F10).
 */
import type { AccountRisk } from "../../../machines/margin/accountRisk.ts"
import {
  type CloseOutContext,
  closeOutName,
  firstPauseMillis,
  lastStep,
  longerPause,
  type Missing,
  pauseAfter
} from "../../../machines/margin/CloseOut.ts"
import { gridOf } from "../../../machines/market/Grid.ts"
import { boundAt } from "../../../machines/margin/priceBound.ts"
import type { Facts } from "../../../machines/market/Facts.ts"
import { decimalText, MoneyDecimal } from "../../../machines/shared/Money.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { rowsInTurn } from "../../engine/mailbox/turnRows.ts"
import type { ClientRow } from "../../tables/client.ts"
import type { CloseOutRow } from "../../tables/margin.ts"
import type { OrderRow, PositionRow } from "../../tables/order.ts"
import { accountInTurn } from "../account/accountNow.ts"
import { chosenInTurn, openPositions, perpTermsOf } from "../account/perpHoldings.ts"
import { boundedInTurn, reducingBpsOf } from "../trading/order/orderBounds.ts"
import {
  closingAtMarket,
  opensRisk,
  orderInTurn,
  ordersInTurn,
  type OrderToPlace
} from "../trading/order/orderDecisions.ts"
import type { OrderMarkets } from "../trading/order/orderMarkets.ts"

/**
 * Markets as a close-out uses them: their listing, halts by the venue, and best quotes. Our own halt stops no closing order,
 * because an account that is short of margin would only lose more under it.
 */
export type ClosingMarkets = Pick<OrderMarkets, "find" | "quoted">

/** A position that a close-out can close now, or that has to wait. */
export interface ToClose {
  readonly position: PositionRow
  /** The largest quantity of one order in its market; null: the position can't be closed now. */
  readonly maxQty: string | null
  /** The missing condition, with a reason for staff; null: the position does not wait. */
  readonly waits: { readonly missing: Missing; readonly why: string } | null
}

/** The working orders that could open risk. They are cancelled before any position is closed. */
export const openingOrders = (turn: Turn): ReadonlyArray<OrderRow> => ordersInTurn(turn).filter(opensRisk)

/** Whether a cancel is due now. A cancel that the venue refused is retried after growing pauses. */
export const cancelDue =
  ({ now }: Pick<Turn, "now">) =>
  ({ context: { cancels, updatedAt } }: OrderRow): boolean =>
    cancels === 0 || now - updatedAt >= pauseAfter(cancels)

/**
 * Whether an order awaits an execution report or a cancel confirmation. An order that has ended in this service counts
 * until the venue confirms its cancel, because it could still be filled there.
 */
export const ordersInFlight = (turn: Turn): boolean =>
  ordersInTurn(turn).some(isUnanswered) ||
  rowsInTurn(turn, "venueCalls").some(({ call, ref }) => call === "cancelOrder" && !turn.draft.ends(ref))

const unanswered: ReadonlySet<OrderRow["state"]> = new Set(["CHECKED", "SENT", "PENDING_CANCEL"])

/** Whether an order still awaits an execution report. */
export const isUnanswered = ({ state }: Pick<OrderRow, "state">): boolean => unanswered.has(state)

/** Whether an order of a close-out is in flight. A close-out has one order at a time. */
export const isClosing = (turn: Turn): boolean =>
  ordersInTurn(turn).some(({ context }) => context.origin === "CLOSE_OUT")

/** The open positions, largest initial margin first; of equal ones, the first opened. Each has its missing condition. */
export const positionsToClose = (turn: Turn, client: ClientRow, markets: ClosingMarkets): ReadonlyArray<ToClose> => {
  const { perps } = accountInTurn(turn, client).risk
  return positionsIn(perps, openPositions(turn), turn.facts, markets)
}

/** Like `positionsToClose`, for rows that are read outside a turn. */
export const positionsIn = (
  perps: AccountRisk["perps"],
  positions: ReadonlyArray<PositionRow>,
  facts: Facts,
  markets: ClosingMarkets
): ReadonlyArray<ToClose> => {
  const known = new Map(perps.map((each) => [each.holding.symbol, each]))
  const marginOf = ({ position: { symbol } }: ToClose): bigint => known.get(symbol)?.initialMargin ?? 0n
  return positions
    .map((position): ToClose => {
      const { symbol } = position
      const isMarked = known.get(symbol)?.markFresh === true && facts.instruments.has(symbol)
      return toClose(position, isMarked ? (facts.marks.get(symbol)?.price ?? null) : null, markets)
    })
    .toSorted((one, other) => {
      const [left, right] = [marginOf(one), marginOf(other)]
      if (left !== right) return left > right ? -1 : 1
      return one.position.openedAt - other.position.openedAt || one.position.id - other.position.id
    })
}

const toClose = (position: PositionRow, mark: MoneyDecimal | null, markets: ClosingMarkets): ToClose => {
  const { symbol, netQty } = position
  const waiting = (missing: Missing, why: string): ToClose => ({ position, maxQty: null, waits: { missing, why } })
  const found = markets.find(symbol)
  if (!found.ok) {
    const isUnknown = found.refusal._tag === "NoVenue" || found.refusal._tag === "VenueAway"
    return waiting("MARKET", isUnknown ? "the venue can not be reached" : `${symbol} is not listed`)
  }
  const { delisted, halt, maxQty, qtyStep, priceTick } = found.value.market
  if (delisted) return waiting("MARKET", `${symbol} is delisted`)
  if (halt !== null) return waiting("MARKET", `${symbol} is halted by the venue`)
  // The market's lot size may have grown since the position was opened, so that no lot of it can be closed.
  if (new MoneyDecimal(netQty).abs().lt(qtyStep)) return waiting("MARKET", `${symbol} is traded in lots of ${qtyStep}`)
  if (mark === null) return waiting("MARK", `${symbol} has no live price`)
  const { bestBid, bestAsk } = markets.quoted(symbol)
  const isShort = netQty.startsWith("-")
  const tick = gridOf(priceTick)
  if (tick === null || boundAt(isShort ? "BUY" : "SELL", mark, 1, tick) === null) {
    return waiting("MARKET", `no price of ${symbol} is a multiple of its tick of ${priceTick}`)
  }
  // Quotes arrive with the mark, so a fresh mark means a fresh quote: without a counterparty the venue would only
  // reject the order.
  if ((isShort ? bestAsk : bestBid) === null) return waiting("MARKET", `nobody ${isShort ? "sells" : "buys"} ${symbol}`)
  return { position, maxQty, waits: null }
}

/**
 * The missing condition to report if no position can be closed now. MARKET precedes MARK: a market that resumes
 * publishes a mark anyway.
 */
export const missingOf = (all: ReadonlyArray<ToClose>): { readonly missing: Missing; readonly reason: string } => {
  const missing = all.some(({ waits }) => waits?.missing === "MARKET") ? "MARKET" : "MARK"
  return { missing, reason: all.flatMap(({ waits }) => waits?.why ?? []).join("; ") }
}

/** The end of the market's pause after its last order, ms; null: the episode has sent no order there. */
export const pausedUntil = (
  { tried }: Pick<CloseOutContext, "tried">,
  { symbol, netQty }: Pick<PositionRow, "symbol" | "netQty">
): number | null => {
  const last = tried[symbol]
  if (last === undefined) return null
  return last.at + (last.held === netQty ? last.pause : Math.min(last.pause, firstPauseMillis))
}

/** Whether an order may be sent in the market now. */
export const isDue = (turn: Turn, context: CloseOutContext, position: PositionRow): boolean => {
  const until = pausedUntil(context, position)
  return until === null || turn.now >= until || wasFilled(turn, context, position)
}

/** Whether the last order of the episode was in this market and was filled completely. */
const wasFilled = (turn: Turn, { lastOrderId }: CloseOutContext, { symbol }: PositionRow): boolean => {
  const last = lastOrderId === null ? undefined : orderInTurn(turn, lastOrderId)
  return last?.symbol === symbol && last.state === "FILLED"
}

/**
 * The attempts of the episode, with this order as the last one. The pause grows if the last order changed nothing. The
 * distance from the mark grows if the last order was not filled completely. Markets that do not trade now are removed.
 */
export const triedWith = (
  turn: Turn,
  context: CloseOutContext,
  position: PositionRow,
  all: ReadonlyArray<ToClose>
): CloseOutContext["tried"] => {
  const { symbol, netQty } = position
  const { tried } = context
  const before = tried[symbol]
  const step = before === undefined || wasFilled(turn, context, position) ? 0 : Math.min(before.step + 1, lastStep)
  const pause = before === undefined || before.held !== netQty ? firstPauseMillis : longerPause(before.pause)
  const trading = all.flatMap(({ position, waits }) => {
    const last = tried[position.symbol]
    return waits === null && last !== undefined ? [[position.symbol, last] as const] : []
  })
  return { ...Object.fromEntries(trading), [symbol]: { at: turn.now, pause, held: netQty, step } }
}

/**
 * The order that closes the position, up to the quantity of one order. It trades no further from the mark than the episode's
 * present step.
 */
export const closingOrder = (
  turn: Turn,
  client: ClientRow,
  { symbol, netQty }: PositionRow,
  maxQty: string,
  episode: CloseOutRow
): OrderToPlace => {
  const { facts } = turn
  const instrument = facts.instruments.get(symbol)
  if (instrument === undefined) throw new Error(`${symbol} is closed without being listed`)
  const { priceDecimals, qtyDecimals, priceTick } = instrument
  const held = new MoneyDecimal(netQty)
  const side = held.isNegative() ? "BUY" : "SELL"
  const bps = reducingBpsOf({ ...boundedInTurn(turn, client), episode }, symbol)
  const mark = facts.marks.get(symbol)?.price
  const venuePrice = mark === undefined ? null : boundAt(side, mark, bps, priceTick)
  if (venuePrice === null) throw new Error(`${symbol} is closed without a mark`)
  return closingAtMarket({
    symbol,
    side,
    venuePrice,
    qty: decimalText(MoneyDecimal.min(held.abs(), maxQty), qtyDecimals, MoneyDecimal.ROUND_DOWN),
    note: closeOutName(episode.id),
    leverage: perpTermsOf(symbol, client, chosenInTurn(turn), facts).leverage,
    commissionBps: facts.terms.commissionBps.PERP,
    priceDecimals,
    qtyDecimals
  })
}
