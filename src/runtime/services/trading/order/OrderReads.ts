/**
 * Reads orders, positions and trades for partners. Working orders and open positions come from the client's mailbox; lists and
 * histories come from Postgres, newest first (doc 2, Orders, margin, leverage, positions; A2-43, A2-44, A2-100).
 */
import { Context, Effect, Layer } from "effect"
import type {
  OrdersWire,
  OrderWire,
  PositionHistoryWire,
  PositionsWire,
  TradesWire
} from "../../../../machines/order/OrderWire.ts"
import type { Facts } from "../../../../machines/market/Facts.ts"
import { ActorHost, type Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../../engine/mailbox/SubjectState.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import type { Condition, PageCut, PageQuery } from "../../../store/paging.ts"
import type { Tables } from "../../../tables/Catalogue.ts"
import { clientSubject, readersClient } from "../../account/clientState.ts"
import { ofPartner, rowPage } from "../../account/listReads.ts"
import { historyItem, orderWire, positionWire, tradeWire } from "./orderView.ts"

/** The result; null if the client does not exist or belongs to another partner. */
type Found<A> = Effect.Effect<A | null, Unavailable>

export class OrderReads extends Context.Service<
  OrderReads,
  {
    /** Orders of the client in all states, newest first. */
    list(partnerId: number, clientId: number, query: PageQuery): Found<OrdersWire>
    /** All orders of the client that may still be filled, newest first. */
    open(partnerId: number, clientId: number): Found<ReadonlyArray<OrderWire>>
    /** Perpetual positions of the client that are not flat, at the present marks. */
    positions(partnerId: number, clientId: number): Found<PositionsWire>
    trades(partnerId: number, clientId: number, query: PageQuery): Found<TradesWire>
    /** Fills of the client that reduced a position, newest first. */
    history(partnerId: number, clientId: number, query: PageQuery): Found<PositionHistoryWire>
  }
>()("brokerage/runtime/services/trading/order/OrderReads") {
  static readonly layer = Layer.effect(
    OrderReads,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const stored = yield* RowReads

      const resident = <A>(partnerId: number, clientId: number, show: (state: SubjectState, facts: Facts) => A) =>
        host.read(clientSubject(clientId), (state, facts) =>
          readersClient(state, partnerId) === null ? null : show(state, facts)
        )
      /** One page of the client's rows, newest first; null if the client does not exist or belongs to another partner. */
      const pageOf = <T extends "orders" | "fills", A>(
        table: T,
        whose: { readonly partnerId: number; readonly clientId: number },
        { more = [], ...query }: PageQuery & { readonly more?: ReadonlyArray<Condition> },
        show: (page: PageCut<Tables[T]>) => A
      ): Found<A> =>
        Effect.flatMap(ofPartner(host, whose.partnerId, whose.clientId), (conditions) =>
          conditions === null
            ? Effect.succeed(null)
            : Effect.map(rowPage<T>(stored, table, [...conditions, ...more], query, idOf), show)
        )

      return OrderReads.of({
        list: (partnerId, clientId, query) =>
          pageOf("orders", { partnerId, clientId }, query, ({ shown, end }) => ({
            orders: shown.map(orderWire),
            ...end
          })),
        open: (partnerId, clientId) => resident(partnerId, clientId, openOrders),
        positions: (partnerId, clientId) =>
          resident(partnerId, clientId, (state, facts) => ({ positions: openPositions(state, facts) })),
        trades: (partnerId, clientId, query) =>
          pageOf("fills", { partnerId, clientId }, query, ({ shown, end }) => ({
            trades: shown.map(tradeWire),
            ...end
          })),
        history: (partnerId, clientId, query) =>
          pageOf("fills", { partnerId, clientId }, { ...query, more: [closing] }, ({ shown, end }) => ({
            items: shown.flatMap((row) => (row.closedQty === null ? [] : [historyItem(row, row.closedQty)])),
            ...end
          }))
      })
    })
  )
}

const idOf = ({ id }: { readonly id: number }): number => id

/** The condition that selects fills that reduced a position. Other fills have no closed quantity. */
const closing: Condition = { column: "closed_qty", value: "", comparison: "<>" }

/** The working orders in a client's mailbox as partners read them, newest first. */
export const openOrders = (state: SubjectState): ReadonlyArray<OrderWire> =>
  state
    .all("orders")
    .toSorted((one, other) => other.id - one.id)
    .map(orderWire)

/** The open positions in a client's mailbox as partners read them, by market. A spot quantity is no position. */
export const openPositions = (state: SubjectState, facts: Facts): PositionsWire["positions"] =>
  state
    .all("positions")
    .filter((row) => row.state === "OPEN")
    .toSorted((one, other) => (one.symbol < other.symbol ? -1 : 1))
    .map((row) => positionWire(row, facts))
