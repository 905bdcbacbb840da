/**
 * What a close-out closes next, and the order that does it (F9): of the positions whose market trades at the venue and has a fresh
 * mark that with the largest initial margin, of equal ones that opened first. What a market did not fill whole is asked for again
 * at the next look of the monitor, and the other markets go first meanwhile.
 */
import { type CloseOutContext, closeAgainMillis, closeOutName } from "../../../machines/margin/CloseOut.ts"
import { MoneyDecimal } from "../../../machines/shared/Money.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { ClientRow } from "../../store/tables/client.ts"
import type { OrderRow, PositionRow } from "../../store/tables/order.ts"
import { accountInTurn } from "../account/accountNow.ts"
import { chosenInTurn, openPositions, perpTermsOf } from "../account/perpHoldings.ts"
import { closingAtMarket, opensRisk, orderInTurn, ordersInTurn, type OrderToPlace } from "../order/orderDecisions.ts"
import type { OrderMarkets } from "../order/orderMarkets.ts"

/**
 * Markets as a close-out meets them: listed or not, halted by the venue or not. A halt of ours stops nothing that closes (A2-11,
 * A2-90): an account that is short of margin would only lose more under it.
 */
export type ClosingMarkets = Pick<OrderMarkets, "find">

/** A position that can be closed now. */
export interface Closable {
  readonly position: PositionRow
  /** The most that one order in its market may have. */
  readonly maxQty: string
}

/** The working orders that could open risk: they are cancelled before anything is closed (F9). */
export const openingOrders = (turn: Turn): ReadonlyArray<OrderRow> => ordersInTurn(turn).filter(opensRisk)

/** Whether the venue has still to answer an order, or to confirm a cancel, whose hold is out until then (F10). */
export const ordersInFlight = (turn: Turn): boolean => ordersInTurn(turn).some(({ state }) => unanswered.has(state))

const unanswered: ReadonlySet<OrderRow["state"]> = new Set(["CHECKED", "SENT", "PENDING_CANCEL"])

/** Whether an order of a close-out is under way: there is one at a time. */
export const isClosing = (turn: Turn): boolean =>
  ordersInTurn(turn).some(({ context }) => context.origin === "CLOSE_OUT")

/** The positions that can be closed now, largest initial margin first (F3, F9). */
export const closablePositions = (turn: Turn, client: ClientRow, markets: ClosingMarkets): ReadonlyArray<Closable> => {
  const perps = new Map(accountInTurn(turn, client).risk.perps.map((each) => [each.holding.symbol, each]))
  const marginOf = ({ position: { symbol } }: Closable): bigint => perps.get(symbol)?.initialMargin ?? 0n
  return openPositions(turn)
    .flatMap((position): ReadonlyArray<Closable> => {
      const { symbol } = position
      if (perps.get(symbol)?.markFresh !== true || !turn.facts.instruments.has(symbol)) return []
      const found = markets.find(symbol)
      if (!found.ok) return []
      const { delisted, halt, maxQty } = found.value.market
      return delisted || halt !== null ? [] : [{ position, maxQty }]
    })
    .toSorted((one, other) => {
      const [left, right] = [marginOf(one), marginOf(other)]
      if (left !== right) return left > right ? -1 : 1
      return one.position.openedAt - other.position.openedAt || one.position.id - other.position.id
    })
}

/** Whether an order may be sent in the market now: the last one there was filled whole, or the monitor has looked again. */
export const isDue = (turn: Turn, { tried, lastOrderId }: CloseOutContext, symbol: string): boolean => {
  const triedAt = tried[symbol]
  if (triedAt === undefined || turn.now - triedAt >= closeAgainMillis) return true
  const last = lastOrderId === null ? undefined : orderInTurn(turn, lastOrderId)
  return last?.symbol === symbol && last.state === "FILLED"
}

/** The order that closes the position, or as much of it as one order may. */
export const closingOrder = (
  turn: Turn,
  client: ClientRow,
  { position: { symbol, netQty }, maxQty }: Closable,
  closeOutId: number
): OrderToPlace => {
  const { facts } = turn
  const instrument = facts.instruments.get(symbol)
  if (instrument === undefined) throw new Error(`${symbol} is closed without being listed`)
  const { priceDecimals, qtyDecimals } = instrument
  const held = new MoneyDecimal(netQty)
  return closingAtMarket({
    symbol,
    side: held.isNegative() ? "BUY" : "SELL",
    qty: MoneyDecimal.min(held.abs(), maxQty).toFixed(qtyDecimals),
    note: closeOutName(closeOutId),
    leverage: perpTermsOf(symbol, client, chosenInTurn(turn), facts).leverage,
    commissionBps: facts.terms.commissionBps.PERP,
    priceDecimals,
    qtyDecimals
  })
}
