/**
 * Reads of orders, positions and trades of partners' clients (doc 2, Orders, margin, leverage, positions; A2-43, A2-44, A2-100):
 * what works and what is held from the client's mailbox, lists and histories from Postgres, newest first.
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

/** Null: the client is none of the partner's. */
type Found<A> = Effect.Effect<A | null, Unavailable>

export class OrderReads extends Context.Service<
  OrderReads,
  {
    /** Of whatever state. */
    list(partnerId: number, clientId: number, query: PageQuery): Found<OrdersWire>
    /** Those that have not ended. */
    open(partnerId: number, clientId: number): Found<ReadonlyArray<OrderWire>>
    /** In perpetuals, those that are not flat. */
    positions(partnerId: number, clientId: number): Found<PositionsWire>
    trades(partnerId: number, clientId: number, query: PageQuery): Found<TradesWire>
    /** Each fill that made a position smaller. */
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
      /** One page of the client's rows, if it is the partner's. */
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

/** Fills that closed something: the others have no such quantity. */
const closing: Condition = { column: "closed_qty", value: "", comparison: "<>" }

/** The working orders of a client's mailbox, newest first. */
export const openOrders = (state: SubjectState): ReadonlyArray<OrderWire> =>
  state
    .all("orders")
    .toSorted((one, other) => other.id - one.id)
    .map(orderWire)

/** Its open positions by market; the venue is held to a spot quantity, which is no position (A2-43). */
export const openPositions = (state: SubjectState, facts: Facts): PositionsWire["positions"] =>
  state
    .all("positions")
    .filter((row) => row.state === "OPEN")
    .toSorted((one, other) => (one.symbol < other.symbol ? -1 : 1))
    .map((row) => positionWire(row, facts))
