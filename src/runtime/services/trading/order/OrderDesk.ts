/**
 * Orders and positions of all clients for staff, and cancels by staff. The view is the partners' view with the client and the
 * venue's ids (operator surface, order, position; D6).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { isWorking } from "../../../../machines/order/Order.ts"
import type { OrderWire, PositionsWire } from "../../../../machines/order/OrderWire.ts"
import { parseId } from "../../../../machines/shared/Ids.ts"
import { accept, conflict, refuse, unknown, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import { ActorHost, type DispatchError, type Turn, type Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { cutPage, onePast, type PageEnd, type PageQuery } from "../../../store/paging.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { OrderRow } from "../../../tables/order.ts"
import { clientSubject, instanceOf } from "../../account/clientState.ts"
import { findClient } from "../../account/findClient.ts"
import type { OperatorCaller } from "../../shared/OperatorCaller.ts"
import { Directory } from "../../partners/Directory.ts"
import { partnerOfTurn } from "../../partners/partnerOfTurn.ts"
import { firstRow } from "../../shared/firstRow.ts"
import { cancelOrder, orderInTurn } from "./orderDecisions.ts"
import { openPositions } from "./OrderReads.ts"
import { orderWire } from "./orderView.ts"
import { endAttempts } from "./protection.ts"

export type OrderView = OrderWire & {
  readonly clientId: number
  readonly clientUid: string
  /** The venue's id; null: not reported yet. */
  readonly venueOrderId: number | null
  /** The leverage in force at placement; null for spot. */
  readonly leverage: number | null
}

type Found<A> = Effect.Effect<Verdict<A>, Unavailable>

export class OrderDesk extends Context.Service<
  OrderDesk,
  {
    /** `client`: id or uid. `open`: all orders that have not ended. */
    list(
      client: string,
      query: PageQuery & { readonly open: boolean }
    ): Found<PageEnd & { readonly orders: ReadonlyArray<OrderView> }>
    /** Finds an order. `id`: its id, or its ref at the venue. */
    show(id: string): Found<OrderView>
    /** Requests the venue to cancel an order. Returns the order afterwards. Refused if the order has ended. */
    cancel(caller: OperatorCaller, id: string, reason: string): Effect.Effect<Verdict<OrderView>, DispatchError>
    positions(client: string): Found<PositionsWire>
  }
>()("brokerage/runtime/services/trading/order/OrderDesk") {
  static readonly layer = Layer.effect(
    OrderDesk,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const sql = yield* PgClient.PgClient
      const stored = yield* RowReads
      const directory = yield* Directory

      const ofClient = <A>(client: string, read: (found: ClientRow) => Effect.Effect<A, Unavailable>): Found<A> =>
        Effect.flatMap(findClient(host, sql, client), (found) =>
          found.ok ? Effect.map(read(found.value), accept) : Effect.succeed(found)
        )
      const find = (text: string): Found<OrderRow> => {
        const id = parseId(text.replace(/^O-/, ""))
        return id === undefined
          ? Effect.succeed(noOrder)
          : Effect.map(firstRow(stored, "orders", [{ column: "id", value: id }]), (row) =>
              row === null ? noOrder : accept(row)
            )
      }
      const open = ({ id }: ClientRow) =>
        host.read(clientSubject(id), (state) => ({
          orders: state
            .all("orders")
            .toSorted((one, other) => other.id - one.id)
            .map(orderView),
          hasMore: false,
          nextBefore: null
        }))
      const page = ({ id }: ClientRow, query: PageQuery) =>
        Effect.map(stored.page("orders", [{ column: "client_id", value: id }], onePast(query)), (rows) => {
          const { shown, end } = cutPage(rows, query.limit, (row) => row.id)
          return { orders: shown.map(orderView), ...end }
        })
      const cancelIn = (turn: Turn, found: OrderRow, reason: string): Verdict<OrderView> => {
        const { id } = found
        const client = turn.state.one("clients")
        const partner = client === undefined ? null : partnerOfTurn(turn, directory, client)
        if (client === undefined || partner === null) return noOrder
        const of = instanceOf(client, partner)
        const note = (before: string, after: string) =>
          applyEffects(turn, { ...of, object: `order:${id}` }, [
            { type: "audit", action: "order.cancelByOperator", before, after, reason }
          ])
        const row = orderInTurn(turn, id)
        // An order that is missing in the turn has ended.
        if (row === undefined || !isWorking(row)) {
          if (!endAttempts({ turn, of }, found)) return over
          note(found.state, found.state)
          return accept(orderView(found))
        }
        const next = cancelOrder({ turn, of }, row, byStaff)
        if (next !== null) note(row.state, next.state)
        return accept(orderView(next ?? row))
      }

      return OrderDesk.of({
        list: (client, { open: alone, ...query }) =>
          ofClient(client, (found) => (alone ? open(found) : page(found, query))),
        show: (id) => Effect.map(find(id), (found) => (found.ok ? accept(orderView(found.value)) : found)),
        cancel: (caller, id, reason) =>
          Effect.flatMap(find(id), (found) =>
            found.ok
              ? host.dispatch({
                  subject: clientSubject(found.value.clientId),
                  by: caller.by,
                  decide: (turn) => cancelIn(turn, found.value, reason)
                })
              : Effect.succeed(found)
          ),
        positions: (client) =>
          ofClient(client, ({ id }) =>
            host.read(clientSubject(id), (state, facts) => ({ positions: openPositions(state, facts) }))
          )
      })
    })
  )
}

const noOrder = refuse(unknown("Order"))
const over = refuse(conflict("ORDER_ENDED", "The order has ended: there is nothing to cancel."))
/** The note on the order, which the client reads. The audit row holds the reason of staff. */
const byStaff = "operator"

const orderView = (row: OrderRow): OrderView => ({
  ...orderWire(row),
  clientId: row.clientId,
  clientUid: row.context.account,
  venueOrderId: row.context.venueOrderId,
  leverage: row.context.leverage
})
