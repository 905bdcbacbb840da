/**
 * Queries the venue for orders by ref, and for trades that are missing here. It runs at the start for all working orders, later
 * for orders that are out of sync, and after a loss of events. The trade id identifies a trade, so a booked trade changes nothing
 * (A2-96, A2-103, D6).
 */
import { Effect, Layer } from "effect"
import { orderRef, workingStates } from "../../../../machines/order/Order.ts"
import { MoneyDecimal } from "../../../../machines/shared/Money.ts"
import { lookupLimit } from "../../../../machines/venue/venueCalls.ts"
import type { VenueOrder } from "../../../../machines/venue/venueObjects.ts"
import { ActorHost, type Attribution, type DispatchError } from "../../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../../engine/mailbox/SubjectState.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { Venue, VenueUnanswered } from "../../../ports/Venue.ts"
import type { OrderRow } from "../../../tables/order.ts"
import { clientSubject } from "../../account/clientState.ts"
import { answerWithin } from "../../venue/VenueGateway.ts"
import { misfitUnknown } from "../../venue/misfits.ts"
import { subscribe } from "../../../subscriptions.ts"
import { orderOfTimer, queryScheduled } from "./statusQueries.ts"
import { onOrderReport, type OrderParts, orderPartsOf, type WholeOrder } from "./orderEvents.ts"
import { OutOfSync, type OutOfSyncOrder } from "../../venue/OutOfSync.ts"

/** The pause before a query, wall ms. Most events arrive within this time after the response to their call. */
const settleWithin = 500
/** The pause before the retry of a failed query, wall ms. */
const againAfter = 1_000
/** Clients whose orders are booked concurrently. */
const atOnce = 16
const pageLength = lookupLimit

const by: Attribution = { role: "SYSTEM", keyLabel: "venue", requestId: "venue", actor: "system:venue" }

interface QueriedOrder {
  readonly clientId: number
  readonly orderId: number
  readonly wasOver: boolean
}

interface Found extends QueriedOrder {
  /** The venue's record. */
  readonly order: VenueOrder
}

export const layerOrderResync = Layer.effectDiscard(
  Effect.gen(function* () {
    const resync = new Resync({
      host: yield* ActorHost,
      stored: yield* RowReads,
      venue: yield* Venue,
      unsettled: yield* OutOfSync,
      orders: yield* orderPartsOf
    })
    yield* Effect.forkScoped(resync.run)
  })
)

interface Parts {
  readonly host: ActorHost["Service"]
  readonly stored: RowReads["Service"]
  readonly venue: Venue["Service"]
  readonly unsettled: OutOfSync["Service"]
  readonly orders: OrderParts
}

class Resync {
  private readonly parts: Parts
  /**
   * Orders with a durable query timer. Their answers are always committed, to clear the timer. Empty commits for other
   * orders would only delay the client's events.
   */
  private readonly timed = new Set<number>()

  constructor(parts: Parts) {
    this.parts = parts
    subscribe(parts.host, "OrderResync", {
      timers: ({ name }) => {
        const orderId = orderOfTimer(name)
        if (orderId !== null) this.timed.add(orderId)
      }
    })
    parts.unsettled.addAll()
  }

  readonly run: Effect.Effect<never> = Effect.suspend(() => this.parts.unsettled.some.await).pipe(
    Effect.andThen(Effect.sleep(settleWithin)),
    Effect.andThen(Effect.suspend(() => this.round)),
    Effect.catchCause((cause) =>
      Effect.andThen(
        Effect.logError("the venue could not be queried for orders; the query is retried", cause),
        Effect.sleep(againAfter)
      )
    ),
    Effect.forever({ disableYield: true })
  )

  private readonly round: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    const { everything, orders: taken } = this.parts.unsettled.take()
    const orders = yield* this.behind(taken)
    yield* this.queryAll(orders.filter(({ wasOver }) => !wasOver))
    yield* this.queryAll(orders.filter(({ wasOver }) => wasOver))
    if (everything) yield* this.everything
  })

  /** The orders whose committed rows lack reported data. Only these need a query. */
  private behind(orders: ReadonlyArray<OutOfSyncOrder>): Effect.Effect<ReadonlyArray<OutOfSyncOrder>> {
    const { stored, unsettled } = this.parts
    if (orders.length === 0) return Effect.succeed(orders)
    const found = stored.among(
      "orders",
      orders.map(({ orderId }) => orderId)
    )
    return Effect.match(found, {
      onFailure: () => orders,
      onSuccess: (rows) => {
        const current = new Set(rows.flatMap((row) => (unsettled.of(row) === undefined ? [row.id] : [])))
        for (const orderId of current) unsettled.settled(orderId)
        return orders.filter(({ orderId }) => !current.has(orderId))
      }
    })
  }

  private queryAll(orders: ReadonlyArray<QueriedOrder>): Effect.Effect<void> {
    const starts = Array.from({ length: Math.ceil(orders.length / lookupLimit) }, (_, page) => page * lookupLimit)
    return Effect.forEach(starts, (at) => this.query(orders.slice(at, at + lookupLimit)), { discard: true })
  }

  /** Queries every working order. */
  private readonly everything: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    for (const state of workingStates) {
      for (let before: number | undefined; ;) {
        const query = { limit: pageLength, ...(before === undefined ? {} : { before }) }
        const rows: ReadonlyArray<OrderRow> = yield* this.parts.stored
          .page("orders", [{ column: "state", value: state }], query)
          .pipe(Effect.catch(() => Effect.as(this.later, [])))
        if (rows.length > 0)
          yield* this.query(rows.map(({ id, clientId }) => ({ orderId: id, clientId, wasOver: false })))
        before = rows.at(-1)?.id
        if (rows.length < pageLength) break
      }
    }
  })

  /** Schedules another query of all working orders after a failure. */
  private readonly later: Effect.Effect<void> = Effect.suspend(() =>
    Effect.andThen(
      Effect.sleep(againAfter),
      Effect.sync(() => this.parts.unsettled.addAll())
    )
  )

  /**
   * Queries orders. Ended orders are queried by `voidRefs`, whose answer is final; a lookup may lag behind the venue's
   * events.
   */
  private query(orders: ReadonlyArray<QueriedOrder>): Effect.Effect<void> {
    const { venue } = this.parts
    const refs = orders.map(({ orderId }) => orderRef(orderId))
    const areOver = orders.every(({ wasOver }) => wasOver)
    return this.inTime(areOver ? venue.voidRefs(refs) : venue.lookup(refs)).pipe(
      Effect.flatMap((outcomes) => {
        const byRef = new Map(outcomes.map((outcome) => [outcome.ref, outcome.order]))
        const known = orders.flatMap((order): ReadonlyArray<Found> => {
          const found = byRef.get(orderRef(order.orderId)) ?? null
          if (found !== null) return [{ ...order, order: found }]
          // The venue does not know the order: its call is still in flight, or the comparison with the venue finds the
          // difference.
          this.parts.unsettled.settled(order.orderId)
          return []
        })
        const clients = [...Map.groupBy(known, ({ clientId }) => clientId)]
        const found = new Set(known.map(({ orderId }) => orderId))
        const unknown = orders.filter(({ orderId }) => !found.has(orderId))
        return Effect.andThen(
          this.forget(unknown),
          Effect.forEach(clients, ([clientId, found]) => this.book(clientId, found), {
            concurrency: atOnce,
            discard: true
          })
        )
      }),
      Effect.catchTag("VenueUnanswered", () => this.queryLater(orders))
    )
  }

  /** Handles orders that the venue does not know: clears their timers, and counts the answer in their misfits. */
  private forget(orders: ReadonlyArray<QueriedOrder>): Effect.Effect<void> {
    const one = ({ clientId, orderId }: QueriedOrder) =>
      this.parts.host
        .dispatch({
          subject: clientSubject(clientId),
          by,
          lane: "internal",
          decide: (turn) => {
            if (this.timed.has(orderId)) queryScheduled(turn, orderId)
            misfitUnknown(turn, orderRef(orderId))
          }
        })
        .pipe(Effect.tap(() => Effect.sync(() => this.timed.delete(orderId))))
    // If the write fails, the timer of the order triggers another query.
    return Effect.forEach(orders, (order) => Effect.ignore(one(order)), { discard: true })
  }

  private queryLater(orders: ReadonlyArray<QueriedOrder>): Effect.Effect<void> {
    return Effect.andThen(
      Effect.sleep(againAfter),
      Effect.sync(() => {
        for (const { clientId, orderId, wasOver } of orders) {
          this.parts.unsettled.add({ clientId, orderId, filledQty: "0", ended: false, wasOver })
        }
      })
    )
  }

  /** Books the venue's records of a client's orders, with missing trades. */
  private book(clientId: number, found: ReadonlyArray<Found>): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { host, orders, unsettled } = this.parts
      let left: ReadonlyArray<WholeOrder> | null = yield* Effect.forEach(found, (each) => this.whole(each))
      while (left !== null) {
        const now: ReadonlyArray<WholeOrder> = left
        left = yield* host.dispatch({
          subject: clientSubject(clientId),
          by,
          lane: "internal",
          decide: (turn) => onOrderReport(turn, orders, now)
        })
      }
      for (const { orderId } of found) unsettled.settled(orderId)
    }).pipe(Effect.catch((fault: VenueUnanswered | DispatchError) => this.notNow(found, fault)))
  }

  private whole({ clientId, orderId, order, wasOver }: Found) {
    const { host, venue } = this.parts
    const filledOf = (state: SubjectState) => state.get("orders", String(orderId))?.context.filledQty
    return Effect.gen({ self: this }, function* () {
      const filled = yield* host.read(clientSubject(clientId), filledOf)
      const isBehind = filled === undefined || new MoneyDecimal(filled).lt(order.filledQty)
      const fills = isBehind ? yield* this.inTime(venue.orderFills(orderRef(orderId))) : []
      return { orderId, order, fills: fills ?? [], wasOver, isTimed: wasOver && this.timed.delete(orderId) }
    })
  }

  private notNow(orders: ReadonlyArray<QueriedOrder>, fault: VenueUnanswered | DispatchError): Effect.Effect<void> {
    return Effect.andThen(
      Effect.logDebug("orders could not be booked now; the venue is queried again", fault),
      this.queryLater(orders)
    )
  }

  private inTime<A>(query: Effect.Effect<A, VenueUnanswered>): Effect.Effect<A, VenueUnanswered> {
    return Effect.timeoutOrElse(query, {
      duration: answerWithin,
      orElse: () => Effect.fail(new VenueUnanswered({ reason: "no answer within 5 s" }))
    })
  }
}
