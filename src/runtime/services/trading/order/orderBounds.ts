/**
 * The bound of reduce-only perpetual orders: how far from the mark they may trade. In a close-out the episode's steps set it.
 * Otherwise it is a distance that every account outside a close-out can pay. Orders of partners, legs and close-outs all use this
 * module (F9, F13).
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

/** The facts as they are committed. */
export const boundedIn = (state: SubjectState, facts: Facts, client: ClientRow): BoundedClient => ({
  client,
  facts,
  account: accountIn(state, facts),
  orders: state.all("orders"),
  positions: state.all("positions"),
  episode: state.one("closeOuts")
})

/** The facts as the turn leaves them. */
export const boundedInTurn = (turn: Turn, client: ClientRow): BoundedClient => ({
  client,
  facts: turn.facts,
  account: accountInTurn(turn, client),
  orders: rowsInTurn(turn, "orders"),
  positions: rowsInTurn(turn, "positions"),
  episode: oneInTurn(turn, "closeOuts")
})

/** A delisted market takes no orders, so that any band will do. */
const noBand = 9_999
const untouched = { tried: {}, widenedBps: 0 } as const

/**
 * The largest distance from the mark at which a reduce-only order may trade, basis points. `except`: id of an order whose cost is
 * left out.
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

/** The value of a position at the mark, without sign. Null: there is no mark. */
const valueOf = ({ facts }: BoundedClient, { symbol, netQty }: PositionRow): Scaled | null => {
  const mark = facts.marks.get(symbol)?.price
  return mark === undefined ? null : product(scaled(netQty.replace("-", "")), scaled(mark))
}

/**
 * The most that the working orders (without `except`) may cost the account, plus the cost of closing the positions of the other
 * markets at the second step of a close-out. Micro-USDC. Null: an order or a position has no mark.
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

/** The most that each working perpetual order may still cost. Null: one of them has no mark. */
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
 * Whether the cash of an account that has nothing open covers the worst of its working orders, and each of them has its bound.
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
 * In a close-out the client's reduce-only orders trade no further than the episode's present step: a limit that lies beyond is
 * cancelled, and a waiting conditional order gets the step as its bound. Outside a close-out the dearest orders are cancelled,
 * and only if the equity no longer covers the worst cost of all. A waiting conditional order gets the bound of new orders: if its
 * own is wider and the equity does not cover that; if a close-out left it a narrower one and the equity covers the usual one; and
 * always if it has none.
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

/** The bound of a new order of its kind, basis points. */
const usualBps = (at: BoundedClient, { symbol, context }: OrderRow): number => {
  const market = reducingMarket(at, symbol)
  return context.reduceOnly ? reducingBps(market) : Math.min(at.facts.terms.slippageBps, market.bandBps)
}

/** The ids of the orders that may be cancelled, by their cost alone, the dearest first. */
const dearestFirst = (costs: ReadonlyArray<Cost>): ReadonlyArray<number> =>
  costs
    .filter(({ row, alone }) => {
      const { reduceOnly, origin } = row.context
      return alone > 0n && !(reduceOnly && waits(row)) && origin !== "CLOSE_OUT"
    })
    .toSorted((one, other) => (one.alone < other.alone ? 1 : one.alone > other.alone ? -1 : 0))
    .map(({ row }) => row.id)

/** The least count that is enough, up to `all`, by binary search: dropping an order never makes the others cost more. */
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

/** The orders as the venue has them once it has taken all amendments. */
const withBounds = (orders: ReadonlyArray<OrderRow>, amend: ReadonlyMap<OrderRow, number>): ReadonlyArray<OrderRow> =>
  orders.map((row) => {
    const boundBps = amend.get(row) ?? boundNow(row)
    return boundBps === row.context.boundBps ? row : { ...row, context: { ...row.context, boundBps, amending: null } }
  })

/** Whether the order waits without a bound, as an older version of the service sent it. */
const isUnbounded = (row: OrderRow): boolean => {
  const { reduceOnly, trigger } = row.context
  return waits(row) && boundNow(row) === null && (reduceOnly || trigger?.limitPrice === null)
}

/** Whether a conditional order has not fired. */
const waits = ({ context: { trigger, triggeredAt } }: OrderRow): boolean => trigger !== null && triggeredAt === null

/** The bound that was last requested from the venue, else the confirmed one. Null: the order has none. */
const boundNow = ({ context: { boundBps, amending } }: OrderRow): number | null => amending?.boundBps ?? boundBps

/** Whether a resting limit lies beyond the step. An order that trades at once ends before a cancel could arrive. */
const isBeyondStep = (at: BoundedClient, { id, symbol, context }: OrderRow): boolean => {
  const limit = context.price ?? context.trigger?.limitPrice ?? null
  const tick = at.facts.instruments.get(symbol)?.priceTick
  const mark = at.facts.marks.get(symbol)?.price
  if (limit === null || tick === undefined || mark === undefined) return false
  const worst = boundAt(context.side, mark, reducingBpsOf(at, symbol, id), tick)
  return worst !== null && isBeyond(context.side, limit, worst)
}

/** While low < mark < high in each market of an account, its equity covers its working orders. */
export interface OrderRange {
  readonly symbol: string
  readonly low: number
  readonly high: number
}

/**
 * The largest change of an order's cost, for each unit, when the mark moves by one: a limit's loss moves with the mark, and its
 * commission, allowance or bound is less than a tenth of it.
 */
const steepest = 1.1
/**
 * A range reaches at least this share of the mark to either side, so that small moves do not find the same account each time. Its
 * equity may lack at most this share of its orders' value before the account is judged.
 */
const leastShare = 1e-4

/**
 * The ranges of the marks of an account's markets. Empty: the margin covers the orders at any mark, or the account is in a
 * close-out, which is checked every second. Null: an order has to be cancelled or amended now. Floating point suffices, because
 * the turn decides by exact figures.
 */
export const orderRanges = (at: BoundedClient): ReadonlyArray<OrderRange> | null => {
  const { risk, recorded } = at.account
  const orders = changeable(at)
  if (orders.length === 0 || graverOf(risk.riskState, recorded) === "CLOSE_OUT") return []
  const { cancel, amend } = changesOutside(at)
  if (cancel.length > 0 || amend.some(({ row }) => isAmendable(row, at.facts.takenAt ?? 0))) return null
  // The costs of these orders and the margin of their positions are both fixed shares of the marks.
  if (orders.every((row) => row.context.reduceOnly && costsUsual(at, row))) return []
  const total = totalOf(costsOf(at, orders) ?? [])
  const held = at.positions.filter(({ state }) => state === "OPEN")
  const symbols = [...new Set([...orders, ...held].map(({ symbol }) => symbol))]
  // Contracts may lose the rest of their premiums.
  const room = Math.max(Number(risk.closeOutEquity - total - risk.barrierMargin) / 1e6, 0) / symbols.length
  return symbols.map((symbol) => {
    const mark = at.facts.marks.get(symbol)?.price.toNumber()
    // The first mark leads to a check.
    if (mark === undefined) return { symbol, low: Infinity, high: Infinity }
    const left = orders.filter((row) => row.symbol === symbol).map(({ context }) => Number(context.qty))
    const qty = Math.abs(Number(held.find((row) => row.symbol === symbol)?.netQty ?? 0))
    const units = left.reduce((all, each) => all + each, qty)
    const away = Math.max(room / (units * steepest), mark * leastShare)
    return { symbol, low: mark - away, high: mark + away }
  })
}

/** Whether the order waits with a bound no wider than that of new orders, which half of the margin covers. */
const costsUsual = (at: BoundedClient, row: OrderRow): boolean => {
  const { boundBps } = workingOf(row)
  return boundBps !== null && boundBps <= usualBps(at, row)
}
