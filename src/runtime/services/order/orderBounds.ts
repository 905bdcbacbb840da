/**
 * The bound of reduce-only perpetual orders: how far from the mark they may trade. In a close-out the episode's steps set it.
 * Otherwise it is a distance that every account outside a close-out can pay. Orders of partners, legs and close-outs all use this
 * module (F9, F13).
 */
import { type AccountRisk, graverOf, leverageCap, type RiskState } from "../../../machines/margin/accountRisk.ts"
import {
  boundAt,
  closingBps,
  isBeyond,
  reducingBps,
  type ReducingMarket,
  secondStepBps
} from "../../../machines/margin/priceBound.ts"
import { lossOf } from "../../../machines/margin/perpetual.ts"
import type { Facts } from "../../../machines/market/Facts.ts"
import { isWorking } from "../../../machines/order/Order.ts"
import {
  ceilTo,
  difference,
  type Exact,
  microPlaces,
  product,
  type Scaled,
  scaled,
  shareOf,
  sum
} from "../../../machines/shared/Exact.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { oneInTurn, rowsInTurn } from "../../engine/mailbox/turnRows.ts"
import type { ClientRow } from "../../store/tables/client.ts"
import type { CloseOutRow } from "../../store/tables/margin.ts"
import type { OrderRow, PositionRow } from "../../store/tables/order.ts"
import { accountInTurn } from "../account/accountNow.ts"
import { leverageTermsOf } from "../account/perpHoldings.ts"

/** The facts about a client that determine the bounds of its orders. */
export interface BoundedClient {
  readonly client: Pick<ClientRow, "categorization">
  readonly facts: Facts
  readonly account: { readonly risk: Pick<AccountRisk, "riskState" | "closeOutEquity">; readonly recorded: RiskState }
  readonly orders: ReadonlyArray<OrderRow>
  readonly positions: ReadonlyArray<PositionRow>
  readonly episode: CloseOutRow | undefined
}

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
 * The distance from the mark that a reduce-only order may trade at, basis points. `except` is the id of an order whose own cost
 * does not count.
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
 * The most that the working orders may cost the account, each at its worst price, plus the cost of closing the positions of the
 * other markets at the second step. Micro-USDC. Null: an order or a position has no mark.
 */
const spokenFor = (at: BoundedClient, symbol: string, except: number | null): bigint | null => {
  let lost = nothing
  for (const row of at.orders) {
    if (row.id === except || row.context.family !== "PERP" || !isWorking(row)) continue
    const mark = at.facts.marks.get(row.symbol)?.price
    if (mark === undefined) return null
    lost = sum(lost, atWorst(row, mark))
  }
  for (const row of at.positions) {
    if (row.symbol === symbol || row.state !== "OPEN") continue
    const value = valueOf(at, row)
    if (value === null) return null
    const market = reducingMarket(at, row.symbol)
    lost = sum(lost, shareOf(value, secondStepBps(market) + market.commissionBps + 1))
  }
  return ceilTo(lost, microPlaces)
}

const atWorst = ({ context }: OrderRow, mark: Exact): Scaled => {
  const { side, qty, filledQty, venuePrice, boundBps, trigger, triggeredAt } = context
  const left = difference(scaled(qty), scaled(filledQty))
  if (trigger !== null && triggeredAt === null && boundBps !== null)
    return shareOf(product(left, scaled(mark)), boundBps)
  const worst = venuePrice ?? trigger?.price ?? null
  return worst === null ? nothing : product(lossOf(side, scaled(worst), scaled(mark)), left)
}

/** Working reduce-only orders whose price lies beyond the present bound. Orders of a close-out are excluded. */
export const ordersBeyond = (at: BoundedClient): ReadonlyArray<OrderRow> =>
  at.orders.filter(
    (row) => isWorking(row) && row.context.reduceOnly && row.context.origin !== "CLOSE_OUT" && isOutside(at, row)
  )

const isOutside = (at: BoundedClient, { id, symbol, context }: OrderRow): boolean => {
  const { side, price, trigger, triggeredAt, boundBps } = context
  const waits = trigger !== null && triggeredAt === null
  // An order that trades at once ends before a cancel could arrive.
  if (!waits && price === null && trigger?.limitPrice == null) return false
  const bps = reducingBpsOf(at, symbol, id)
  if (waits && boundBps !== null) return boundBps > bps
  const tick = at.facts.instruments.get(symbol)?.priceTick
  const mark = at.facts.marks.get(symbol)?.price
  const limit = waits ? null : (price ?? trigger?.limitPrice ?? null)
  if (tick === undefined || mark === undefined || limit === null) return waits
  const worst = boundAt(side, mark, bps, tick)
  return worst !== null && isBeyond(side, limit, worst)
}
