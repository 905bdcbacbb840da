/**
 * Compares positions, working orders and trades of one client with the venue, and opens breaks in the client's turn. The first
 * pass queries the orders that differ, so that late events are booked before the second pass. A remaining difference opens a
 * break with both figures. Its amount is the surplus of the service over the venue, in micro-USDC at the last mark. Breaks of
 * trades and positions pause money out; breaks of working orders do not (A2-94, A2-96, A2-103).
 */
import { Effect } from "effect"
import type { Facts } from "../../../machines/market/Facts.ts"
import { isWorking, orderRef, workingStates } from "../../../machines/order/Order.ts"
import { decimalText, floorToMinor, MoneyDecimal } from "../../../machines/shared/Money.ts"
import { isLive } from "../../../machines/reconciliation/holdings.ts"
import {
  bookedTrades,
  type Trade,
  tradeFigure,
  tradesCompared,
  tradesKnownToBoth,
  venueTrades
} from "../../../machines/venue/trades.ts"
import type { VenueAccount, VenueOrder, VenuePosition } from "../../../machines/venue/venueObjects.ts"
import { ownerOfRef } from "../../../machines/venue/venueRefs.ts"
import { orderMisfit } from "../../../machines/venueChecks/orderChecks.ts"
import { anyTime } from "../../../machines/venue/timeChecks.ts"
import type { Turn, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { OrderRow, PositionRow } from "../../tables/order.ts"
import { orderInTurn, positionInTurn } from "../trading/order/orderDecisions.ts"
import { breakOfClient } from "../money/breaks/clientBreaks.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import { accountEventsAtMost, type Venue, type VenueUnanswered } from "../../ports/Venue.ts"
import type { ClientRow } from "../../tables/client.ts"

/** The positions, working orders and trades of a client: the service's rows, and the venue's reports. */
export interface ComparedOrders {
  readonly clientId: number
  /** The client's positions that are not flat, spot quantities included. */
  readonly positions: ReadonlyArray<PositionRow>
  /** The client's working orders that the venue has confirmed. */
  readonly orders: ReadonlyArray<OrderRow>
  readonly theirPositions: ReadonlyArray<VenuePosition>
  readonly theirOrders: ReadonlyArray<VenueOrder>
  /** The trades in the range of ids for which both sides have all of them. */
  readonly trades: { readonly ours: ReadonlyArray<Trade>; readonly theirs: ReadonlyArray<Trade> }
}

type What =
  | { readonly is: "position"; readonly symbol: string; readonly ours: string; readonly theirs: string }
  /** An order that works in this service. `theirs`: its remaining quantity at the venue; null if it does not work there. */
  | { readonly is: "order"; readonly orderId: number; readonly ours: string; readonly theirs: string | null }
  /** An order that works on both sides with different terms. */
  | { readonly is: "orderTerms"; readonly orderId: number; readonly misfit: string }
  | { readonly is: "orderThere"; readonly theirs: VenueOrder }
  | { readonly is: "trade"; readonly ours: Trade | null; readonly theirs: Trade | null }

export interface OrderDifference {
  /** The name of the claim by which a difference raises only one alarm. */
  readonly claim: string
  readonly what: What
  /** The order whose late trades may explain the difference; null if no order is known. */
  readonly orderId: number | null
}

/** The id of the order that a venue ref names; null if the ref names no order of this service. */
const namedOrder = (ref: string | null | undefined): number | null => {
  const owner = ref === null || ref === undefined ? null : ownerOfRef(ref)
  return owner?.owner === "order" ? owner.id : null
}

const leftOf = ({ qty, filledQty }: { readonly qty: string; readonly filledQty: string }): string =>
  decimalText(new MoneyDecimal(qty).minus(filledQty))

const isSame = (one: string, other: string): boolean => new MoneyDecimal(one).eq(other)

export const orderDifferences = (compared: ComparedOrders): ReadonlyArray<OrderDifference> =>
  [...positionsApart(compared), ...ordersApart(compared), ...tradesApart(compared)].map(({ claim, ...rest }) => ({
    claim: `differs:${compared.clientId}:${claim}`,
    ...rest
  }))

const positionsApart = ({ positions, theirPositions }: ComparedOrders): ReadonlyArray<OrderDifference> => {
  const ours = new Map(positions.map((row) => [row.symbol, row]))
  const theirs = new Map(theirPositions.map(({ symbol, netQty }) => [symbol, netQty]))
  return [...new Set([...ours.keys(), ...theirs.keys()])].flatMap((symbol): ReadonlyArray<OrderDifference> => {
    const [row, there] = [ours.get(symbol), theirs.get(symbol) ?? "0"]
    const here = row?.netQty ?? "0"
    if (isSame(here, there)) return []
    // `updatedAt` makes each key new, because the same figures may differ again after further trades that both sides
    // booked.
    const claim = `position:${symbol}:${here}:${there}:${row?.updatedAt ?? 0}`
    return [{ claim, what: { is: "position", symbol, ours: here, theirs: there }, orderId: null }]
  })
}

const ordersApart = ({ orders, theirOrders }: ComparedOrders): ReadonlyArray<OrderDifference> => {
  const live = theirOrders.filter(isLive)
  const byRef = new Map(live.map((order) => [order.ref, order]))
  const ours = new Set(orders.map(({ id }) => orderRef(id)))
  const here = orders.flatMap(({ id, context }): ReadonlyArray<OrderDifference> => {
    const there = byRef.get(orderRef(id))
    const left = leftOf(context)
    if (there !== undefined && isSame(left, leftOf(there))) {
      const misfit = orderMisfit(there, { order: context, bandAt: () => null, venueTime: anyTime })
      if (misfit === null) return []
      return [{ claim: `orderTerms:${id}:${misfit}`, what: { is: "orderTerms", orderId: id, misfit }, orderId: id }]
    }
    const theirs = there === undefined ? null : leftOf(there)
    return [
      { claim: `order:${id}:${theirs ?? "none"}`, what: { is: "order", orderId: id, ours: left, theirs }, orderId: id }
    ]
  })
  const there = live
    .filter(({ ref }) => ref === null || !ours.has(ref))
    // A ref of another kind of object does not name an order, so its venue order is not compared here.
    .filter(({ ref }) => ref === null || namedOrder(ref) !== null)
    .map((theirs): OrderDifference => ({
      claim: `orderThere:${theirs.id}`,
      what: { is: "orderThere", theirs },
      orderId: namedOrder(theirs.ref)
    }))
  return [...here, ...there]
}

const tradesApart = ({ trades }: ComparedOrders): ReadonlyArray<OrderDifference> => {
  const ours = new Map(trades.ours.map((trade) => [trade.tradeId, trade]))
  const theirs = new Map(trades.theirs.map((trade) => [trade.tradeId, trade]))
  return [...new Set([...ours.keys(), ...theirs.keys()])].flatMap((tradeId): ReadonlyArray<OrderDifference> => {
    const [here, there] = [ours.get(tradeId) ?? null, theirs.get(tradeId) ?? null]
    if (here !== null && there !== null && tradeFigure(here) === tradeFigure(there)) return []
    const what = { is: "trade", ours: here, theirs: there } as const
    return [{ claim: `trade:${tradeId}`, what, orderId: namedOrder(there?.ref) }]
  })
}

interface Alarm {
  readonly sentence: string
  /** The surplus of the service over the venue, micro-USDC; negative if the venue has more. 0: unknown, or equal values. */
  readonly more: bigint
  readonly pauses: boolean
}

/** Opens a break for each difference that persists in the turn. Returns the sentences of the alarms. */
export const settleOrderDifferences = (
  turn: Turn,
  differences: ReadonlyArray<OrderDifference>
): ReadonlyArray<string> => {
  const client = turn.state.one("clients")
  if (client === undefined) return []
  const whose = { clientId: client.id, partnerId: client.partnerId }
  return differences.flatMap(({ claim, what }) => {
    const alarm = alarmOf(turn, what)
    if (alarm === null) return []
    const { sentence, more, pauses } = alarm
    turn.draft.claim(claim, client.id)
    breakOfClient(turn, whose, more, sentence, pauses)
    return [sentence]
  })
}

/** The break and the sentence for a difference; null if it no longer exists in this turn. */
const alarmOf = (turn: Turn, what: What): Alarm | null => {
  switch (what.is) {
    case "position": {
      const { symbol, ours, theirs } = what
      const row = positionInTurn(turn, symbol)
      if (!isSame(row?.netQty ?? "0", ours)) return null
      const price = priceOf(turn.facts, symbol) ?? row?.avgEntry ?? "0"
      const more = valueOf(new MoneyDecimal(ours).minus(theirs), price)
      return { sentence: `The position in ${symbol} is ${ours} here and ${theirs} at the venue.`, more, pauses: true }
    }
    case "order": {
      const row = orderInTurn(turn, what.orderId)
      if (row === undefined || !isWorking(row) || !isSame(leftOf(row.context), what.ours)) return null
      const there = what.theirs === null ? "does not work" : `has ${what.theirs} left`
      const sentence = `Order ${row.id} has ${what.ours} left here and ${there} at the venue.`
      const price = row.context.venuePrice ?? row.context.trigger?.price ?? priceOf(turn.facts, row.symbol) ?? "0"
      return { sentence, more: valueOf(new MoneyDecimal(what.ours).minus(what.theirs ?? 0), price), pauses: false }
    }
    case "orderTerms": {
      const row = orderInTurn(turn, what.orderId)
      if (row === undefined || !isWorking(row)) return null
      const price = row.context.venuePrice ?? row.context.trigger?.price ?? priceOf(turn.facts, row.symbol) ?? "0"
      const more = valueOf(new MoneyDecimal(leftOf(row.context)), price)
      return { sentence: `Order ${row.id} differs at the venue: ${what.misfit}.`, more, pauses: false }
    }
    case "orderThere": {
      const { theirs } = what
      const id = namedOrder(theirs.ref)
      const row = id === null ? undefined : orderInTurn(turn, id)
      if (row !== undefined && isWorking(row)) return null
      const left = leftOf(theirs)
      const sentence = `The venue has order ${theirs.ref ?? theirs.id} on ${theirs.symbol} working with ${left} left, and the service has not.`
      const price = theirs.price ?? theirs.trigger?.price ?? priceOf(turn.facts, theirs.symbol) ?? "0"
      return { sentence, more: -valueOf(new MoneyDecimal(left), price), pauses: false }
    }
    case "trade":
      return tradeAlarm(what)
  }
}

const tradeAlarm = ({ ours, theirs }: Extract<What, { readonly is: "trade" }>): Alarm => {
  const textOf = (trade: Trade | null): string => (trade === null ? "missing" : tradeFigure(trade))
  const value = (trade: Trade | null): bigint =>
    trade === null ? 0n : valueOf(new MoneyDecimal(trade.qty), trade.price)
  const sentence = `Trade ${(ours ?? theirs)?.tradeId} is ${textOf(ours)} here and ${textOf(theirs)} at the venue.`
  return { sentence, more: value(ours) - value(theirs), pauses: true }
}

const priceOf = ({ marks }: Facts, symbol: string): string | null => {
  const mark = marks.get(symbol)
  return mark === undefined ? null : decimalText(mark.price)
}

const valueOf = (qty: MoneyDecimal, price: string): bigint => floorToMinor(qty.mul(price), "USDC")

/** The most positions, and working orders in each state, that are read. Attached legs add to the client's order limit. */
const mostRows = 2_000

interface Sources {
  readonly stored: RowReads["Service"]
  readonly venue: Venue["Service"]
}

/**
 * Reads orders, positions and trades of a client from stored rows and from the venue. Takes no turn. Trades that the venue does
 * not give are left out. `areTradesRead`: false while the venue answers no reads of events, which contain the trades.
 */
export const ordersOf = (
  { stored, venue }: Sources,
  { id: clientId }: ClientRow,
  account: VenueAccount | null,
  areTradesRead = true
): Effect.Effect<ComparedOrders, Unavailable> =>
  Effect.gen(function* () {
    const ofClient = { column: "client_id", value: clientId } as const
    const positions = yield* stored.page(
      "positions",
      [ofClient, { column: "state", value: "FLAT", comparison: "<>" }],
      {
        limit: mostRows
      }
    )
    const orders: Array<OrderRow> = []
    for (const state of workingStates) {
      const rows = yield* stored.page("orders", [ofClient, { column: "state", value: state }], { limit: mostRows })
      orders.push(...rows.filter(({ context }) => context.venueOrderId !== null))
    }
    const theirPositions = account?.positions ?? []
    // Without a position on either side, the trades of both sides net to zero. They are then not queried.
    const isTrader = positions.length > 0 || theirPositions.length > 0
    const trades =
      account === null || !isTrader || !areTradesRead
        ? noTrades
        : yield* Effect.catchTag(
            tradesOf({ stored, venue }, clientId, account),
            "VenueUnanswered",
            withoutTrades(account)
          )
    return { clientId, positions, orders, theirPositions, theirOrders: account?.orders ?? [], trades }
  })

const noTrades: ComparedOrders["trades"] = { ours: [], theirs: [] }

/** A venue that withholds the events of an account must not hide the differences of its positions, orders and money. */
const withoutTrades =
  ({ account: uid }: VenueAccount) =>
  ({ reason }: VenueUnanswered): Effect.Effect<ComparedOrders["trades"]> =>
    Effect.as(
      Effect.annotateLogs(
        Effect.logWarning(
          "the trades of an account could not be read at the venue: its positions, orders and money are compared without them"
        ),
        { uid, reason }
      ),
      noTrades
    )

const tradesOf = (
  { stored, venue }: Sources,
  clientId: number,
  { account, sequence }: VenueAccount
): Effect.Effect<ComparedOrders["trades"], Unavailable | VenueUnanswered> =>
  Effect.gen(function* () {
    const after = Math.max(0, sequence - accountEventsAtMost)
    const events = yield* venue.accountEvents(account, after)
    const booked = yield* stored.page("fills", [{ column: "client_id", value: clientId }], { limit: tradesCompared })
    return tradesKnownToBoth(bookedTrades(booked), venueTrades(events, { after, last: sequence }))
  })
