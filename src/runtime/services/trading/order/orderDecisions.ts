/**
 * Commands on orders in their client's turn, from callers and from rules. The caller has checked the gates of a new
 * order in the same turn. `orderEvents.ts` applies the venue's reports (A2-39, A2-90, A2-97, A2-101, D6).
 */
import { cancelRef, isWorking, orderRef, type OrderInput } from "../../../../machines/order/Order.ts"
import { isNothing, minorOf } from "../../../../machines/shared/Money.ts"
import type { OwnedTurn } from "../../../effects/Instance.ts"
import { advance, start } from "../../../effects/advance.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../../engine/mailbox/SubjectState.ts"
import { rowsInTurn } from "../../../engine/mailbox/turnRows.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { FillRow, OrderRow, PositionRow } from "../../../tables/order.ts"
import type { Recall } from "../../account/Recall.ts"
import type { OutOfSync } from "../../venue/OutOfSync.ts"

/** An order that works in the turn or was changed in it; undefined for others. */
export const orderInTurn = (turn: Turn, id: number): OrderRow | undefined =>
  turn.draft.peek("orders", String(id)) ?? turn.state.get("orders", String(id))

/** The working orders in the turn, oldest first. */
export const ordersInTurn = (turn: Turn): ReadonlyArray<OrderRow> => rowsInTurn(turn, "orders").filter(isWorking)

/** The committed working orders. */
export const ordersIn = (state: SubjectState): ReadonlyArray<OrderRow> => state.all("orders")

/** The positions in the turn, including flat ones. */
export const positionsInTurn = (turn: Turn): ReadonlyArray<PositionRow> => rowsInTurn(turn, "positions")

export const positionInTurn = (turn: Turn, symbol: string): PositionRow | undefined =>
  positionsInTurn(turn).find((row) => row.symbol === symbol)

/** The members of a trade that show how it changed the position, and when. */
export type FillInTime = Pick<FillRow, "side" | "qty" | "ts" | "tradeId">

const inTime = ({ side, qty, ts, tradeId }: FillRow): FillInTime => ({ side, qty, ts, tradeId })

/** The trades of a market from a time on, in the venue's order. Throws as `Recall.since` does. */
export const fillsSince = (
  { turn, recall }: { readonly turn: Turn; readonly recall: Recall },
  symbol: string,
  time: number
): ReadonlyArray<FillInTime> => {
  const written = turn.draft.written("fills").filter((fill) => fill.symbol === symbol && fill.ts >= time)
  return [...recall.since(turn, "fills", { symbol }, { ts: time }, inTime), ...written].toSorted(
    (one, other) => one.tradeId - other.tradeId
  )
}

/** Whether a query of the account's working orders is pending, which may bring missing trades. */
export const isQueried = (turn: Turn, unsettled: OutOfSync["Service"]): boolean =>
  ordersInTurn(turn).some((row) => unsettled.of(row) !== undefined)

/** An order as decided, before it has an id. */
export type OrderToPlace = Omit<OrderInput, "orderId" | "clientId" | "account" | "createdAt" | "updatedAt">

/** The terms that vary between closing orders (`closingAtMarket`). */
export type ClosingOrder = Pick<
  OrderToPlace,
  "symbol" | "side" | "qty" | "venuePrice" | "note" | "leverage" | "commissionBps" | "priceDecimals" | "qtyDecimals"
>

/** A MARKET order that reduces a perpetual position, created by a close-out or by the venue instead of the client. */
export const closingAtMarket = (order: ClosingOrder): OrderToPlace => ({
  ...order,
  family: "PERP",
  type: "MARKET",
  price: null,
  boundBps: null,
  tif: "IOC",
  venueTif: "IOC",
  reduceOnly: true,
  trigger: null,
  attach: null,
  ocoGroup: null,
  parentOrderId: null,
  origin: "CLOSE_OUT",
  reserved: null
})

type Whose = Pick<ClientRow, "id" | "partnerId" | "uid">

/** Starts an order with its hold, and sends its call to the venue. */
export const placeOrder = ({ turn, of }: OwnedTurn, client: Whose, order: OrderToPlace): OrderRow =>
  begin({ turn, of }, client, order, { type: "SEND", at: turn.now })

/** Stores an order that the venue created. */
export const adoptOrder = (owned: OwnedTurn, client: Whose, order: OrderToPlace, venueOrderId: number): OrderRow =>
  begin(owned, client, order, { type: "ADOPTED", at: owned.turn.now, venueOrderId })

const begin = (
  { turn, of }: OwnedTurn,
  client: Whose,
  order: OrderToPlace,
  event:
    | { readonly type: "SEND"; readonly at: number }
    | { readonly type: "ADOPTED"; readonly at: number; readonly venueOrderId: number }
): OrderRow => {
  const id = turn.nextId("order")
  const { reserved, symbol, parentOrderId } = order
  return start(turn, "orders", {
    of,
    event,
    input: {
      ...order,
      orderId: id,
      clientId: client.id,
      account: client.uid,
      createdAt: turn.now,
      updatedAt: turn.now
    },
    columns: {
      id,
      partnerId: client.partnerId,
      clientId: client.id,
      symbol,
      currency: reserved?.currency ?? "USDC",
      amount: reserved === null ? 0n : minorOf(reserved.amount, reserved.currency),
      parentOrderId,
      createdAt: turn.now
    }
  })
}

/** Whether a call is in flight under a ref in the turn. */
export const isInFlight = (turn: Turn, ref: string): boolean =>
  turn.draft.peek("venueCalls", ref) !== undefined ||
  (turn.state.get("venueCalls", ref) !== undefined && !turn.draft.ends(ref))

/**
 * Requests the venue to cancel a working order, one cancel at a time. Null: a cancel is in flight, or the order has ended.
 * `note`: the author of the cancel, if not the client.
 */
export const cancelOrder = ({ turn, of }: OwnedTurn, row: OrderRow, note: string | null): OrderRow | null => {
  const { cancels, orderId } = row.context
  if (row.state === "PENDING_CANCEL" && isInFlight(turn, cancelRef(orderId, cancels))) return null
  return advance(turn, "orders", row, { type: "CANCEL", at: turn.now, attempt: cancels + 1, note }, { of })
}

/** Requests another bound for a waiting conditional order, one amendment at a time. A refused amendment is retried later. */
export const amendBound = ({ turn, of }: OwnedTurn, row: OrderRow, boundBps: number): void => {
  const { amends, qty } = row.context
  if (!isAmendable(row, turn.now)) return
  advance(turn, "orders", row, { type: "AMEND", at: turn.now, attempt: amends + 1, qty, boundBps }, { of })
}

/** Whether an amendment of the order's bound can be sent now. */
export const isAmendable = ({ state, context }: OrderRow, now: number): boolean =>
  state === "PENDING_TRIGGER" && context.amending === null && now >= (context.boundRetryAt ?? 0)

/** Whether the order opens risk: not reduce-only; in spot only a purchase. */
export const opensRisk = ({ context: { reduceOnly, family, side } }: Pick<OrderRow, "context">): boolean =>
  family === "SPOT" ? side === "BUY" : !reduceOnly

/** Cancels the working orders that could open risk and are `due`. Returns their number. */
export const cancelOpeningOrders = (
  owned: OwnedTurn,
  note: string,
  due: (row: OrderRow) => boolean = () => true
): number => {
  let cancelled = 0
  for (const row of ordersInTurn(owned.turn)) {
    if (!opensRisk(row) || row.state === "PENDING_CANCEL" || !due(row)) continue
    if (cancelOrder(owned, row, note) !== null) cancelled++
  }
  return cancelled
}

/** Cancels the reduce-only orders of a market, because its position is flat or has changed its side. */
export const cancelReducing = (owned: OwnedTurn, symbol: string, except: number): void => {
  for (const row of ordersInTurn(owned.turn)) {
    const { reduceOnly, orderId } = row.context
    if (row.symbol !== symbol || !reduceOnly || orderId === except) continue
    // An order in flight is cancelled once the venue has confirmed it.
    if (row.state === "PENDING_CANCEL") continue
    cancelOrder(owned, row, positionClosed)
  }
}
const positionClosed = "position closed"

/** Whether a reduce-only order has nothing to reduce: the position is flat, or is on the order's own side. */
export const reducesNothing = (turn: Turn, { symbol, context }: Pick<OrderRow, "symbol" | "context">): boolean => {
  if (!context.reduceOnly) return false
  const netQty = positionInTurn(turn, symbol)?.netQty ?? "0"
  return isNothing(netQty) || netQty.startsWith("-") === (context.side === "SELL")
}

/** Retries the cancel of an order that has nothing to reduce. No-op for an ended order, or with a cancel in flight. */
export const cancelAgain = (owned: OwnedTurn, id: number): void => {
  const row = orderInTurn(owned.turn, id)
  if (row === undefined || !isWorking(row) || row.state === "PENDING_CANCEL" || !reducesNothing(owned.turn, row)) return
  cancelOrder(owned, row, positionClosed)
}

/** The ref of an order at the venue. */
export const refOf = ({ id }: Pick<OrderRow, "id">): string => orderRef(id)
