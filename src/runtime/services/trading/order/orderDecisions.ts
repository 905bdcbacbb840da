/**
 * Orders in their client's turn (D6): what callers and rules do with them. What the venue says of them is in `orderHears.ts`.
 * Whoever places an order has judged its gates under the client's lock.
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
import type { Unsettled } from "../../venue/Unsettled.ts"

/** An order as the turn sees it: working, or moved in this turn; undefined for others. */
export const orderInTurn = (turn: Turn, id: number): OrderRow | undefined =>
  turn.draft.peek("orders", String(id)) ?? turn.state.get("orders", String(id))

/** The working orders as the turn sees them, oldest first. */
export const ordersInTurn = (turn: Turn): ReadonlyArray<OrderRow> => rowsInTurn(turn, "orders").filter(isWorking)

/** The working orders that are committed. */
export const ordersIn = (state: SubjectState): ReadonlyArray<OrderRow> => state.all("orders")

/** The positions as the turn sees them, flat ones included. */
export const positionsInTurn = (turn: Turn): ReadonlyArray<PositionRow> => rowsInTurn(turn, "positions")

export const positionInTurn = (turn: Turn, symbol: string): PositionRow | undefined =>
  positionsInTurn(turn).find((row) => row.symbol === symbol)

/** The members of a trade that show how it changed the position, and when. */
export type FillInTime = Pick<FillRow, "side" | "qty" | "ts" | "tradeId">

const inTime = ({ side, qty, ts, tradeId }: FillRow): FillInTime => ({ side, qty, ts, tradeId })

/** The trades of a market at a time and later, in the order in which the venue made them. Throws as `Recall.since` does. */
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

/** Whether the service queries the venue for working orders of the account, which may bring trades that are missing. */
export const isAskedFor = (turn: Turn, unsettled: Unsettled["Service"]): boolean =>
  ordersInTurn(turn).some((row) => unsettled.of(row) !== undefined)

/** What of an order is decided before it has an id. */
export type OrderToPlace = Omit<OrderInput, "orderId" | "clientId" | "account" | "createdAt" | "updatedAt">

/** Terms that differ between orders that only close a position up to their bound. */
export type ClosingOrder = Pick<
  OrderToPlace,
  "symbol" | "side" | "qty" | "venuePrice" | "note" | "leverage" | "commissionBps" | "priceDecimals" | "qtyDecimals"
>

/** An order at MARKET that makes a perpetual position smaller and is none of the client's own: of a close-out, or the venue's. */
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

/** A new order with what is held for it, on its way to the venue from this commit on. */
export const placeOrder = ({ turn, of }: OwnedTurn, client: Whose, order: OrderToPlace): OrderRow =>
  begin({ turn, of }, client, order, { type: "SEND", at: turn.now })

/** An order that the venue made by itself (A2-97). */
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

/** Whether a call is in flight under a ref, as the turn sees it. */
export const isInFlight = (turn: Turn, ref: string): boolean =>
  turn.draft.peek("venueCalls", ref) !== undefined ||
  (turn.state.get("venueCalls", ref) !== undefined && !turn.draft.ends(ref))

/**
 * Asks the venue to cancel a working order, once at a time; null when that is asked already, or the order is over. `note`:
 * who does, where it is not its client.
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

/** Whether the order opens risk: not reduce-only, and of spot a purchase (A2-90). */
export const opensRisk = ({ context: { reduceOnly, family, side } }: Pick<OrderRow, "context">): boolean =>
  family === "SPOT" ? side === "BUY" : !reduceOnly

/** Cancels the working orders that could open risk, of those that are `due` for it, with who does (A2-101); how many. */
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

/** Once a position is flat or turned, nothing is left that its market's reduce-only orders could reduce (A2-39). */
export const cancelReducing = (owned: OwnedTurn, symbol: string, except: number): void => {
  for (const row of ordersInTurn(owned.turn)) {
    const { reduceOnly, orderId } = row.context
    if (row.symbol !== symbol || !reduceOnly || orderId === except) continue
    // One that is on its way is cancelled once the venue has it.
    if (row.state === "PENDING_CANCEL") continue
    cancelOrder(owned, row, positionClosed)
  }
}
const positionClosed = "position closed"

/** Whether an order may only reduce and there is nothing that it could: its market's position is flat, or on its own side (A2-39). */
export const reducesNothing = (turn: Turn, { symbol, context }: Pick<OrderRow, "symbol" | "context">): boolean => {
  if (!context.reduceOnly) return false
  const netQty = positionInTurn(turn, symbol)?.netQty ?? "0"
  return isNothing(netQty) || netQty.startsWith("-") === (context.side === "SELL")
}

/** Asks once more for the cancel of an order that has still nothing to reduce; one that is over, or being cancelled, is left. */
export const cancelAgain = (owned: OwnedTurn, id: number): void => {
  const row = orderInTurn(owned.turn, id)
  if (row === undefined || !isWorking(row) || row.state === "PENDING_CANCEL" || !reducesNothing(owned.turn, row)) return
  cancelOrder(owned, row, positionClosed)
}

/** The ref of an order. */
export const refOf = ({ id }: Pick<OrderRow, "id">): string => orderRef(id)
