/**
 * The bound of reduce-only perpetual orders: the largest distance from the mark at which they may trade. In a close-out
 * the episode's steps set it. Otherwise it is a distance that every account outside a close-out can pay. Orders of
 * partners, legs and close-outs all use this module (F9, F13).
 */
import { type AccountRisk, graverOf, leverageCap, type RiskState } from "../../../../machines/margin/accountRisk.ts"
import {
  boundAt,
  closingBps,
  isBeyond,
  reducingBps,
  type ReducingMarket,
  secondStepBps
} from "../../../../machines/margin/priceBound.ts"
import { type OrderCost, orderCosts } from "../../../../machines/margin/perpetual.ts"
import type { Facts } from "../../../../machines/market/Facts.ts"
import { isWorking } from "../../../../machines/order/Order.ts"
import { ceilTo, microPlaces, product, type Scaled, scaled, shareOf, sum } from "../../../../machines/shared/Exact.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../../engine/mailbox/SubjectState.ts"
import { oneInTurn, rowsInTurn } from "../../../engine/mailbox/turnRows.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { CloseOutRow } from "../../../tables/margin.ts"
import type { OrderRow, PositionRow } from "../../../tables/order.ts"
import { accountIn, accountInTurn } from "../../account/accountNow.ts"
import { leverageTermsOf, workingOf } from "../../account/perpHoldings.ts"
import { isAmendable } from "./orderDecisions.ts"

/** The facts about a client that determine the bounds of its orders. */
export interface BoundedClient {
  readonly client: Pick<ClientRow, "categorization">
  readonly facts: Facts
  readonly account: {
    readonly risk: Pick<AccountRisk, "riskState" | "closeOutEquity" | "positionMargin" | "barrierMargin">
    readonly recorded: RiskState
  }
  readonly orders: ReadonlyArray<OrderRow>
  readonly positions: ReadonlyArray<PositionRow>
  readonly episode: CloseOutRow | undefined
}

/** The facts of the client's committed state. */
export const boundedIn = (state: SubjectState, facts: Facts, client: ClientRow): BoundedClient => ({
  client,
  facts,
  account: accountIn(state, facts),
  orders: state.all("orders"),
  positions: state.all("positions"),
  episode: state.one("closeOuts")
})

/** The facts of the client as the turn leaves them. */
export const boundedInTurn = (turn: Turn, client: ClientRow): BoundedClient => ({
  client,
  facts: turn.facts,
  account: accountInTurn(turn, client),
  orders: rowsInTurn(turn, "orders"),
  positions: rowsInTurn(turn, "positions"),
  episode: oneInTurn(turn, "closeOuts")
})

/** The band of a delisted market. Such a market takes no orders, so the figure has no effect. */
const noBand = 9_999
const untouched = { tried: {}, widenedBps: 0 } as const

/**
 * The largest distance from the mark at which a reduce-only order may trade, basis points. `except`: the id of an order
 * whose own cost does not count.
 */
export const reducingBpsOf = (at: BoundedClient, symbol: string, except: number | null = null): number => {
  const { account, positions, episode } = at
  const market = reducingMarket(at, symbol)
  if (graverOf(account.risk.riskState, account.recorded) !== "CLOSE_OUT") return reducingBps(market)
  const held = positions.find((row) => row.symbol === symbol)
  const value = (held === undefined ? null : valueOf(at, held)) ?? nothing
  const needed = spokenFor(at, symbol, except)
  const equity = needed === null ? null : account.risk.closeOutEquity - needed
  return closingBps(episode?.context ?? untouched, symbol, { ...market, equity, value })
}

const reducingMarket = ({ client, facts }: BoundedClient, symbol: string): ReducingMarket => ({
  cap: leverageCap(leverageTermsOf(symbol, client, facts)),
  commissionBps: facts.terms.commissionBps.PERP,
  bandBps: facts.instruments.get(symbol)?.bandBps ?? noBand
})

const nothing: Scaled = { units: 0n, places: 0 }

/** The absolute value of a position at the mark. Null: there is no mark. */
const valueOf = ({ facts }: BoundedClient, { symbol, netQty }: PositionRow): Scaled | null => {
  const mark = facts.marks.get(symbol)?.price
  return mark === undefined ? null : product(scaled(netQty.replace("-", "")), scaled(mark))
}

/**
 * The equity that is reserved for other purposes, micro-USDC: the highest cost of the working orders (without
 * `except`), and the cost of closing the positions of other markets at the second step of a close-out. Null: an order
 * or a position has no mark.
 */
const spokenFor = (at: BoundedClient, symbol: string, except: number | null): bigint | null => {
  const costs = costsOf(
    at,
    at.orders.filter((row) => row.id !== except)
  )
  if (costs === null) return null
  let closing = nothing
  for (const row of at.positions) {
    if (row.symbol === symbol || row.state !== "OPEN") continue
    const value = valueOf(at, row)
    if (value === null) return null
    const market = reducingMarket(at, row.symbol)
    closing = sum(closing, shareOf(value, secondStepBps(market) + market.commissionBps + 1))
  }
  return totalOf(costs) + ceilTo(closing, microPlaces)
}

interface Cost extends OrderCost {
  readonly row: OrderRow
}

const totalOf = (costs: ReadonlyArray<Cost>): bigint => costs.reduce((total, { cost }) => total + cost, 0n)

/** The highest remaining cost of each working perpetual order. Null: one of them has no mark. */
const costsOf = (
  { facts, positions }: Pick<BoundedClient, "facts" | "positions">,
  orders: ReadonlyArray<OrderRow>
): ReadonlyArray<Cost> | null => {
  const { slippageBps, commissionBps } = facts.terms
  const costs: Array<Cost> = []
  for (const [symbol, rows] of Map.groupBy(orders.filter(isPerpAtWork), (row) => row.symbol)) {
    const mark = facts.marks.get(symbol)?.price
    if (mark === undefined) return null
    const netQty = positions.find((row) => row.symbol === symbol)?.netQty ?? "0"
    const terms = { slippageBps, commissionBps: commissionBps.PERP }
    const found = orderCosts(netQty, rows.map(workingOf), mark, terms)
    for (const [nth, row] of rows.entries()) costs.push({ row, ...(found[nth] ?? { cost: 0n, alone: 0n }) })
  }
  return costs
}

const isPerpAtWork = (row: OrderRow): boolean => row.context.family === "PERP" && isWorking(row)

/**
 * Whether each working order of an account without open positions has its bound, and the cash covers their highest
 * total cost.
 */
export const coversOrders = (at: Pick<BoundedClient, "facts" | "positions" | "orders">, cash: bigint): boolean => {
  if (at.orders.some((row) => isPerpAtWork(row) && isUnbounded(row))) return false
  const costs = costsOf(at, at.orders)
  return costs === null || totalOf(costs) <= cash
}

const beyondStep = "its price lies beyond the bound of the close-out"
const notCovered = "the equity no longer covers its worst price"

/** The changes that an account's working orders need. */
export interface BoundChanges {
  readonly cancel: ReadonlyArray<OrderRow>
  /** The reason in the notes of the cancelled orders, which the partner reads. */
  readonly why: string
  /** Waiting conditional orders that get another bound, basis points. */
  readonly amend: ReadonlyArray<{ readonly row: OrderRow; readonly boundBps: number }>
}

/**
 * The changes that working orders need. In a close-out the client's reduce-only orders trade no further than the
 * episode's present step: a resting limit beyond the step is cancelled, and a waiting conditional order gets the step
 * as its bound.
 *
 * Outside a close-out, orders are cancelled only if the equity no longer covers the highest total cost, the most
 * expensive first. A waiting conditional order gets the bound of new orders in three cases:
 * - it has no bound;
 * - its bound is wider, and the equity does not cover it;
 * - a close-out left it a narrower bound, and the equity covers the wider one.
 */
export const boundChanges = (at: BoundedClient): BoundChanges => {
  const { risk, recorded } = at.account
  return graverOf(risk.riskState, recorded) === "CLOSE_OUT" ? changesInCloseOut(at) : changesOutside(at)
}

const changesInCloseOut = (at: BoundedClient): BoundChanges => {
  const rows = changeable(at).filter(({ context }) => context.reduceOnly && context.origin !== "CLOSE_OUT")
  const amend = rows.filter(waits).flatMap((row) => {
    const bps = reducingBpsOf(at, row.symbol, row.id)
    const now = boundNow(row)
    return now !== null && now <= bps ? [] : [{ row, boundBps: bps }]
  })
  return { cancel: rows.filter((row) => !waits(row) && isBeyondStep(at, row)), why: beyondStep, amend }
}

/** The working perpetual orders without a cancel in flight. */
const changeable = ({ orders }: BoundedClient): ReadonlyArray<OrderRow> =>
  orders.filter((row) => isPerpAtWork(row) && row.state !== "PENDING_CANCEL")

const changesOutside = (at: BoundedClient): BoundChanges => {
  const orders = changeable(at)
  const [tighter, wider] = [new Map<OrderRow, number>(), new Map<OrderRow, number>()]
  for (const row of orders) {
    if (!waits(row)) continue
    const [now, usual] = [boundNow(row), usualBps(at, row)]
    if (isUnbounded(row)) for (const amend of [tighter, wider]) amend.set(row, usual)
    else if (now !== null && now !== usual && row.context.reduceOnly) (now > usual ? tighter : wider).set(row, usual)
  }
  const isCovered = (rows: ReadonlyArray<OrderRow>): boolean => {
    const costs = costsOf(at, rows)
    return costs === null || totalOf(costs) <= at.account.risk.closeOutEquity
  }
  if (isCovered(withBounds(orders, wider))) return { cancel: [], why: notCovered, amend: amendments(wider) }
  const bounded = withBounds(orders, tighter)
  const dear = dearestFirst(costsOf(at, bounded) ?? [])
  const fewest = fewestDropped(dear.length, (count) => {
    const dropped = new Set(dear.slice(0, count))
    return isCovered(bounded.filter(({ id }) => !dropped.has(id)))
  })
  const cancelled = new Set(dear.slice(0, fewest))
  return { cancel: orders.filter(({ id }) => cancelled.has(id)), why: notCovered, amend: amendments(tighter) }
}

/** The bound that a new order of the same kind gets, basis points. */
const usualBps = (at: BoundedClient, { symbol, context }: OrderRow): number => {
  const market = reducingMarket(at, symbol)
  return context.reduceOnly ? reducingBps(market) : Math.min(at.facts.terms.slippageBps, market.bandBps)
}

/** The ids of the orders that may be cancelled, the one with the highest cost of its own first. */
const dearestFirst = (costs: ReadonlyArray<Cost>): ReadonlyArray<number> =>
  costs
    .filter(({ row, alone }) => {
      const { reduceOnly, origin } = row.context
      return alone > 0n && !(reduceOnly && waits(row)) && origin !== "CLOSE_OUT"
    })
    .toSorted((one, other) => (one.alone < other.alone ? 1 : one.alone > other.alone ? -1 : 0))
    .map(({ row }) => row.id)

/**
 * The smallest sufficient number of dropped orders, up to `all`, by binary search. Dropping an order never makes the
 * others more expensive.
 */
const fewestDropped = (all: number, isEnough: (count: number) => boolean): number => {
  let [low, high] = [0, all]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isEnough(middle)) high = middle
    else low = middle + 1
  }
  return low
}

const amendments = (bounds: ReadonlyMap<OrderRow, number>): BoundChanges["amend"] =>
  [...bounds].map(([row, boundBps]) => ({ row, boundBps }))

/** The orders as they will be at the venue after all amendments. */
const withBounds = (orders: ReadonlyArray<OrderRow>, amend: ReadonlyMap<OrderRow, number>): ReadonlyArray<OrderRow> =>
  orders.map((row) => {
    const boundBps = amend.get(row) ?? boundNow(row)
    return boundBps === row.context.boundBps ? row : { ...row, context: { ...row.context, boundBps, amending: null } }
  })

/** Whether the order waits without a bound. An older version of the service sent such orders. */
const isUnbounded = (row: OrderRow): boolean => {
  const { reduceOnly, trigger } = row.context
  return waits(row) && boundNow(row) === null && (reduceOnly || trigger?.limitPrice === null)
}

/** Whether a conditional order has not fired. */
const waits = ({ context: { trigger, triggeredAt } }: OrderRow): boolean => trigger !== null && triggeredAt === null

/** The bound that was last requested from the venue, else the confirmed bound. Null: the order has no bound. */
const boundNow = ({ context: { boundBps, amending } }: OrderRow): number | null => amending?.boundBps ?? boundBps

/**
 * Whether a resting limit lies beyond the step. Orders that trade at once are no concern here: they end before a cancel
 * could arrive.
 */
const isBeyondStep = (at: BoundedClient, { id, symbol, context }: OrderRow): boolean => {
  const limit = context.price ?? context.trigger?.limitPrice ?? null
  const tick = at.facts.instruments.get(symbol)?.priceTick
  const mark = at.facts.marks.get(symbol)?.price
  if (limit === null || tick === undefined || mark === undefined) return false
  const worst = boundAt(context.side, mark, reducingBpsOf(at, symbol, id), tick)
  return worst !== null && isBeyond(context.side, limit, worst)
}

/** The equity of an account covers its working orders while low < mark < high in each of its markets. */
export interface OrderRange {
  readonly symbol: string
  readonly low: number
  readonly high: number
}

/**
 * The largest change of an order's cost per unit of quantity when the mark moves by one. The loss at a limit changes by
 * one, and its commission, allowance or bound by less than a tenth.
 */
const steepest = 1.1
/**
 * A range reaches at least this share of the mark to either side, so that small moves do not make the same account due
 * each time. In return the equity may lack up to this share of the orders' value before the account is judged.
 */
const leastShare = 1e-4

/**
 * The ranges of an account's markets in which its working orders need no change. Empty: the margin covers the orders at
 * any mark, or the account is in a close-out, which is checked every second. Null: an order has to be cancelled or
 * amended now. Floating point suffices, because the turn decides with exact figures.
 */
export const orderRanges = (at: BoundedClient): ReadonlyArray<OrderRange> | null => {
  const { risk, recorded } = at.account
  const orders = changeable(at)
  if (orders.length === 0 || graverOf(risk.riskState, recorded) === "CLOSE_OUT") return []
  const { cancel, amend } = changesOutside(at)
  if (cancel.length > 0 || amend.some(({ row }) => isAmendable(row, at.facts.takenAt ?? 0))) return null
  // The costs of these orders and the margin of their positions are fixed shares of the marks, so the margin covers
  // the orders at any mark.
  if (orders.every((row) => row.context.reduceOnly && costsUsual(at, row))) return []
  const total = totalOf(costsOf(at, orders) ?? [])
  const held = at.positions.filter(({ state }) => state === "OPEN")
  const symbols = [...new Set([...orders, ...held].map(({ symbol }) => symbol))]
  // The equity still counts the remaining value of contracts, which may be lost.
  const room = Math.max(Number(risk.closeOutEquity - total - risk.barrierMargin) / 1e6, 0) / symbols.length
  return symbols.map((symbol) => {
    const mark = at.facts.marks.get(symbol)?.price.toNumber()
    // A market without a mark gets an empty range, so that its first mark leads to a check.
    if (mark === undefined) return { symbol, low: Infinity, high: Infinity }
    const left = orders.filter((row) => row.symbol === symbol).map(({ context }) => Number(context.qty))
    const qty = Math.abs(Number(held.find((row) => row.symbol === symbol)?.netQty ?? 0))
    const units = left.reduce((all, each) => all + each, qty)
    const away = Math.max(room / (units * steepest), mark * leastShare)
    return { symbol, low: mark - away, high: mark + away }
  })
}

/** Whether the order waits with a bound no wider than that of new orders. Half of the margin covers such a bound. */
const costsUsual = (at: BoundedClient, row: OrderRow): boolean => {
  const { boundBps } = workingOf(row)
  return boundBps !== null && boundBps <= usualBps(at, row)
}
