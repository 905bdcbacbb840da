/** Writes orders, fills and positions of a client into their tables by a turn, for tests of reads without a venue. */
import { Effect } from "effect"
import type { OrderContext, OrderInput } from "../../src/machines/order/Order.ts"
import { perpInput } from "../../src/machines/order/orderSamples.ts"
import { firstRow } from "../../src/runtime/effects/machineRow.ts"
import { ActorHost, type Turn } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { clientSubject } from "../../src/runtime/services/account/clientState.ts"
import type { FillRow, OrderRow, PositionRow } from "../../src/runtime/tables/order.ts"
import { operator, type Service } from "./Service.ts"

/** Runs a decision in a client's turn. */
export const inTurn = <A>(service: Service, clientId: number, decide: (turn: Turn) => A): Promise<A> =>
  service.run(
    Effect.flatMap(ActorHost, (host) => host.dispatch({ subject: clientSubject(clientId), by: operator.by, decide }))
  )

const clientOf = ({ state }: Turn) => {
  const client = state.one("clients")
  if (client === undefined) throw new Error(`${state.subject} has no client`)
  return client
}

interface OrderPlan {
  readonly state?: OrderRow["state"]
  readonly input?: Partial<OrderInput>
  readonly context?: Partial<OrderContext>
  /** The amount of the reserve, minor units. */
  readonly amount?: bigint
}

/** Writes an order in a state. Returns its id. */
export const putOrder = (turn: Turn, { state = "ACKED", input = {}, context = {}, amount = 0n }: OrderPlan = {}) => {
  const { id: clientId, partnerId, uid } = clientOf(turn)
  const id = turn.nextId("order")
  const requested = {
    ...perpInput,
    ...input,
    orderId: id,
    clientId,
    account: uid,
    createdAt: turn.now,
    updatedAt: turn.now
  }
  const { row } = firstRow("orders", requested, {
    id,
    partnerId,
    clientId,
    symbol: requested.symbol,
    currency: requested.reserved?.currency ?? "USDC",
    amount,
    parentOrderId: requested.parentOrderId,
    createdAt: turn.now
  })
  turn.draft.put("orders", { ...row, state, context: { ...row.context, ...context } })
  return id
}

/** Writes a trade of an order: by default a purchase of 0.1 at 60,000. Returns its id. */
export const putFill = (turn: Turn, orderId: number, columns: Partial<FillRow> = {}): number => {
  const { id: clientId, partnerId } = clientOf(turn)
  const id = turn.nextId("fill")
  turn.draft.put("fills", {
    id,
    partnerId,
    clientId,
    orderId,
    tradeId: 70 + id,
    symbol: "BTC-USDC-PERP",
    family: "PERP",
    side: "BUY",
    price: "60000.0",
    qty: "0.1000",
    closedQty: null,
    currency: "USDC",
    notional: 6_000_000_000n,
    commission: 3_000_000n,
    realizedPnl: 0n,
    orderType: "LIMIT",
    origin: "CLIENT",
    ts: turn.now,
    bookedAt: turn.now,
    ...columns
  })
  return id
}

/** Writes a position: by default a long of 0.1 from 60,000. */
export const putPosition = (turn: Turn, columns: Partial<PositionRow> = {}): void => {
  const { id: clientId, partnerId } = clientOf(turn)
  turn.draft.put("positions", {
    id: turn.nextId("position"),
    partnerId,
    clientId,
    symbol: "BTC-USDC-PERP",
    state: "OPEN",
    netQty: "0.1000",
    avgEntry: "60000",
    netCost: "6000",
    currency: "USDC",
    amount: 6_000_000_000n,
    realizedPnl: 0n,
    openedAt: turn.now,
    updatedAt: turn.now,
    ...columns
  })
}
