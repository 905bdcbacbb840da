/**
 * How far from the mark a client's perpetual orders may trade that only reduce (F9, F13): in a close-out by its steps, else as
 * every account outside one can pay. The one place that says it, for orders of partners, legs and close-outs.
 */
import { type AccountRisk, graverOf, leverageCap, type RiskState } from "../../../machines/margin/accountRisk.ts"
import { boundAt, closingBps, isBeyond, reducingBps } from "../../../machines/margin/priceBound.ts"
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

/** A client as far as the bounds of its orders hang on it. */
export interface BoundedClient {
  readonly client: Pick<ClientRow, "categorization">
  readonly facts: Facts
  readonly account: { readonly risk: Pick<AccountRisk, "riskState" | "closeOutEquity">; readonly recorded: RiskState }
  readonly orders: ReadonlyArray<OrderRow>
  readonly positions: ReadonlyArray<PositionRow>
  readonly episode: CloseOutRow | undefined
}

/** As the turn sees it. */
export const boundedInTurn = (turn: Turn, client: ClientRow): BoundedClient => ({
  client,
  facts: turn.facts,
  account: accountInTurn(turn, client),
  orders: rowsInTurn(turn, "orders"),
  positions: rowsInTurn(turn, "positions"),
  episode: oneInTurn(turn, "closeOuts")
})

/** A market that is gone takes no orders: any band does. */
const noBand = 9_999
const untouched = { tried: {}, widenedBps: 0 } as const

/** How far from the mark an order of the client may trade that only reduces, basis points; without `except`, an order that is there. */
export const reducingBpsOf = (at: BoundedClient, symbol: string, except: number | null = null): number => {
  const { client, facts, account, positions, episode } = at
  const { terms, marks, instruments } = facts
  const commissionBps = terms.commissionBps.PERP
  const bandBps = instruments.get(symbol)?.bandBps ?? noBand
  if (graverOf(account.risk.riskState, account.recorded) !== "CLOSE_OUT") {
    return reducingBps({ cap: leverageCap(leverageTermsOf(symbol, client, facts)), commissionBps, bandBps })
  }
  const mark = marks.get(symbol)?.price ?? "0"
  const netQty = positions.find((row) => row.symbol === symbol)?.netQty ?? "0"
  const value = product(scaled(netQty.replace("-", "")), scaled(mark))
  const equity = account.risk.closeOutEquity - spokenFor(at, except)
  return closingBps(episode?.context ?? untouched, symbol, { equity, value, commissionBps, bandBps })
}

/** Micro-USDC that the orders at work may cost the account, at their worst prices. */
const spokenFor = ({ orders, facts }: BoundedClient, except: number | null): bigint => {
  let lost: Scaled = { units: 0n, places: 0 }
  for (const row of orders) {
    const mark = facts.marks.get(row.symbol)?.price
    if (row.id === except || row.context.family !== "PERP" || mark === undefined || !isWorking(row)) continue
    lost = sum(lost, atWorst(row, mark))
  }
  return ceilTo(lost, microPlaces)
}

const atWorst = ({ context }: OrderRow, mark: Exact): Scaled => {
  const { side, qty, filledQty, venuePrice, boundBps, trigger, triggeredAt } = context
  const left = difference(scaled(qty), scaled(filledQty))
  if (trigger !== null && triggeredAt === null && boundBps !== null)
    return shareOf(product(left, scaled(mark)), boundBps)
  const worst = venuePrice ?? trigger?.price ?? null
  return worst === null ? { units: 0n, places: 0 } : product(lossOf(side, scaled(worst), scaled(mark)), left)
}

/** The working orders of the client that only reduce and may trade further than they would be let now, but for a close-out's own. */
export const ordersBeyond = (at: BoundedClient): ReadonlyArray<OrderRow> =>
  at.orders.filter(
    (row) => isWorking(row) && row.context.reduceOnly && row.context.origin !== "CLOSE_OUT" && isOutside(at, row)
  )

const isOutside = (at: BoundedClient, { id, symbol, context }: OrderRow): boolean => {
  const { side, price, trigger, triggeredAt, boundBps } = context
  const waits = trigger !== null && triggeredAt === null
  // What trades at once is over before a cancel would come.
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
