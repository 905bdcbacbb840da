/**
 * What an account has in perpetual markets, as its risk is worked out from: positions, working orders, and the leverage in force
 * in each (F5, F6; A2-50). The one place that says which leverage that is, so that a choice counts at once for what is held,
 * for what works, and for what is asked for next.
 */
import { leverageCap, leverageInForce, type LeverageTerms } from "../../../machines/margin/accountRisk.ts"
import type { PerpPosition, PerpTerms, WorkingOrder } from "../../../machines/margin/perpetual.ts"
import type { PerpHolding } from "../../../machines/margin/perpRisk.ts"
import type { Facts } from "../../../machines/market/Facts.ts"
import type { AssetClass, MarketTerms } from "../../../machines/market/marketTerms.ts"
import { isWorking } from "../../../machines/order/Order.ts"
import { decimalText, MoneyDecimal } from "../../../machines/shared/Money.ts"
import { assetClasses } from "../../../machines/venue/VenueMarket.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { RowsOf } from "../../engine/mailbox/SubjectState.ts"
import { rowsInTurn } from "../../engine/mailbox/turnRows.ts"
import type { ClientRow } from "../../tables/client.ts"
import type { LeverageRow, OrderRow, PositionRow } from "../../tables/order.ts"

type Categorized = Pick<ClientRow, "categorization">

/** The rows that tell it: of positions the open ones, of orders whatever is at work. */
export interface PerpRows {
  readonly positions: ReadonlyArray<PositionRow>
  readonly orders: ReadonlyArray<OrderRow>
  readonly chosen: Chosen
}

/** The leverage chosen in each market where one is, by symbol. */
export type Chosen = ReadonlyMap<string, number>

/** Each perpetual market of the client with a position or working orders, as the turn sees it; `chosen` instead of its own. */
export const perpsInTurn = (turn: Turn, client: Categorized, chosen?: Chosen): ReadonlyArray<PerpHolding> => {
  const rows = { positions: openPositions(turn), orders: rowsInTurn(turn, "orders") }
  return holdingsOf({ ...rows, chosen: chosen ?? chosenInTurn(turn) }, client, turn.facts)
}

/** The rows as they are committed. */
export const perpRowsOf = (rows: RowsOf<"positions" | "orders" | "leverages">): PerpRows => ({
  positions: rows.all("positions").filter(isOpen),
  orders: rows.all("orders"),
  chosen: chosenIn(rows)
})

/** The choices that are committed. */
export const chosenIn = (rows: RowsOf<"leverages">): Chosen => bySymbol(rows.all("leverages"))

/** The choices as the turn sees them. */
export const chosenInTurn = (turn: Turn): Chosen => bySymbol(rowsInTurn(turn, "leverages"))

const bySymbol = (rows: ReadonlyArray<LeverageRow>): Chosen =>
  new Map(rows.map(({ symbol, leverage }) => [symbol, leverage]))

/** The open positions on perpetuals as the turn sees them. */
export const openPositions = (turn: Turn): ReadonlyArray<PositionRow> => rowsInTurn(turn, "positions").filter(isOpen)

const isOpen = ({ state }: PositionRow): boolean => state === "OPEN"

/** What a client's leverage in a market goes by. A market that is not listed now is margined by the strictest class. */
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

/** On which terms a client has a perpetual now. */
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

/** Each perpetual market once. */
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

/** A stored position as its figures are worked out from. */
export const positionOf = ({ symbol, netQty, avgEntry, netCost, realizedPnl }: PositionRow): PerpPosition => ({
  symbol,
  netQty,
  avgEntry,
  netCost,
  realizedPnl
})

/** A stored order as its margin is worked out from (F6). */
export const workingOf = ({
  symbol,
  context: { side, qty, filledQty, lastTradeId, venuePrice, boundBps, amending, trigger, triggeredAt, reduceOnly }
}: OrderRow): WorkingOrder => ({
  symbol,
  side,
  // Most have not traded, and all of an account's are looked at whenever one is judged.
  left: lastTradeId === 0 ? qty : decimalText(new MoneyDecimal(qty).minus(filledQty)),
  price: venuePrice ?? trigger?.price ?? null,
  // The venue may have taken the other bound already.
  boundBps: triggeredAt === null && boundBps !== null ? Math.max(boundBps, amending?.boundBps ?? 0) : null,
  ...(trigger?.source === "MARK" && triggeredAt === null ? { firesAt: trigger } : {}),
  reduceOnly
})
