/**
 * An account's holdings in perpetual markets as input of its risk: positions, working orders, and the leverage in force
 * in each market. No other file decides the leverage, so a client's choice applies at once to positions, working orders
 * and the next request (F5, F6; A2-50).
 */
import { leverageCap, leverageInForce, type LeverageTerms } from "../../../machines/margin/accountRisk.ts"
import type { PerpPosition, PerpTerms, WorkingOrder } from "../../../machines/margin/perpetual.ts"
import type { PerpHolding } from "../../../machines/margin/perpRisk.ts"
import type { Facts } from "../../../machines/market/Facts.ts"
import type { AssetClass, MarketTerms } from "../../../machines/market/marketTerms.ts"
import { isWorking } from "../../../machines/order/Order.ts"
import { scaled } from "../../../machines/shared/Exact.ts"
import { MoneyDecimal } from "../../../machines/shared/Money.ts"
import { assetClasses } from "../../../machines/venue/VenueMarket.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { RowsOf } from "../../engine/mailbox/SubjectState.ts"
import { rowsInTurn } from "../../engine/mailbox/turnRows.ts"
import type { ClientRow } from "../../tables/client.ts"
import type { LeverageRow, OrderRow, PositionRow } from "../../tables/order.ts"

type Categorized = Pick<ClientRow, "categorization">

/** The rows behind the holdings: open positions, and orders at work. */
export interface PerpRows {
  readonly positions: ReadonlyArray<PositionRow>
  readonly orders: ReadonlyArray<OrderRow>
  readonly chosen: Chosen
}

/** The chosen leverages, by symbol; markets without a choice are absent. */
export type Chosen = ReadonlyMap<string, number>

/**
 * Each perpetual market in which the client has a position or working orders, as the turn sees it. `chosen` replaces
 * the client's own choices.
 */
export const perpsInTurn = (turn: Turn, client: Categorized, chosen?: Chosen): ReadonlyArray<PerpHolding> => {
  const rows = { positions: openPositions(turn), orders: rowsInTurn(turn, "orders") }
  return holdingsOf({ ...rows, chosen: chosen ?? chosenInTurn(turn) }, client, turn.facts)
}

/** The rows behind a client's committed holdings. */
export const perpRowsOf = (rows: RowsOf<"positions" | "orders" | "leverages">): PerpRows => ({
  positions: rows.all("positions").filter(isOpen),
  orders: rows.all("orders"),
  chosen: chosenIn(rows)
})

/** The client's committed choices of leverage, by symbol. */
export const chosenIn = (rows: RowsOf<"leverages">): Chosen => bySymbol(rows.all("leverages"))

/** The client's choices of leverage as the turn sees them, by symbol. */
export const chosenInTurn = (turn: Turn): Chosen => bySymbol(rowsInTurn(turn, "leverages"))

const bySymbol = (rows: ReadonlyArray<LeverageRow>): Chosen =>
  new Map(rows.map(({ symbol, leverage }) => [symbol, leverage]))

/** The open positions on perpetuals as the turn sees them. */
export const openPositions = (turn: Turn): ReadonlyArray<PositionRow> => rowsInTurn(turn, "positions").filter(isOpen)

const isOpen = ({ state }: PositionRow): boolean => state === "OPEN"

/**
 * The terms that decide a client's leverage in a market. A market that is not listed now gets the margin of the
 * strictest class.
 */
export const leverageTermsOf = (
  symbol: string,
  { categorization }: Categorized,
  { instruments, terms }: Pick<Facts, "instruments" | "terms">
): LeverageTerms => ({
  categorization,
  assetClass: instruments.get(symbol)?.assetClass ?? strictestClass(terms),
  terms
})

const strictestClass = (terms: MarketTerms): AssetClass => {
  const capOf = (assetClass: AssetClass) => leverageCap({ categorization: "RETAIL", assetClass, terms })
  return assetClasses.reduce((strictest, each) => (capOf(each) < capOf(strictest) ? each : strictest))
}

/** The terms of a perpetual for a client now. */
export const perpTermsOf = (symbol: string, client: Categorized, chosen: Chosen, facts: Facts): PerpTerms => {
  const of = leverageTermsOf(symbol, client, facts)
  const { riskTiers: tiers, slippageBps, commissionBps } = facts.terms
  return {
    leverage: leverageInForce({ ...of, chosen: chosen.get(symbol) ?? null }),
    tiers,
    slippageBps,
    cap: leverageCap(of),
    commissionBps: commissionBps.PERP
  }
}

const nothing: ReadonlyArray<PerpHolding> = []

/** Groups the rows by perpetual market. */
export const holdingsOf = (
  { positions, orders, chosen }: PerpRows,
  client: Categorized,
  facts: Facts
): ReadonlyArray<PerpHolding> => {
  if (positions.length === 0 && orders.length === 0) return nothing
  const held = new Map(positions.map((row) => [row.symbol, row]))
  const working = Map.groupBy(
    orders.filter((row) => row.context.family === "PERP" && isWorking(row)),
    ({ symbol }) => symbol
  )
  return [...new Set([...held.keys(), ...working.keys()])].map((symbol) => {
    const position = held.get(symbol)
    return {
      symbol,
      position: position === undefined ? null : positionOf(position),
      orders: (working.get(symbol) ?? []).map(workingOf),
      terms: perpTermsOf(symbol, client, chosen, facts)
    }
  })
}

/** A stored position as input of its risk figures. */
export const positionOf = ({ symbol, netQty, avgEntry, netCost, realizedPnl }: PositionRow): PerpPosition => ({
  symbol,
  netQty,
  avgEntry,
  netCost,
  realizedPnl
})

/** Stored orders as inputs of their margin. A row never changes, so each is converted once. */
const workings = new WeakMap<OrderRow, WorkingOrder>()

/** A stored order as input of its margin (F6). */
export const workingOf = (row: OrderRow): WorkingOrder => {
  let found = workings.get(row)
  if (found === undefined) workings.set(row, (found = convertedOf(row)))
  return found
}

const convertedOf = ({
  symbol,
  context: { side, qty, filledQty, lastTradeId, venuePrice, boundBps, amending, trigger, triggeredAt, reduceOnly }
}: OrderRow): WorkingOrder => {
  const price = venuePrice ?? trigger?.price ?? null
  return {
    symbol,
    side,
    // An order without trades, the usual case, skips the decimal arithmetic.
    left: scaled(lastTradeId === 0 ? qty : new MoneyDecimal(qty).minus(filledQty)),
    price: price === null ? null : scaled(price),
    // The venue may already apply the new bound of an amendment in flight, so the larger bound counts.
    boundBps: triggeredAt === null && boundBps !== null ? Math.max(boundBps, amending?.boundBps ?? 0) : null,
    ...(trigger?.source === "MARK" && triggeredAt === null ? { firesAt: trigger } : {}),
    reduceOnly
  }
}
