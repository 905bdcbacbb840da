/**
 * Asks the venue for orders by their names, and for the trades that are missing here (D6; A2-96): at the start for all that
 * work, then for those that the venue has said more of than is booked, and whenever something that was said is missing. A
 * trade is booked by its id alone; what is booked already changes nothing.
 */
import { Effect, Layer } from "effect"
import { orderRef, workingStates } from "../../../machines/order/Order.ts"
import { MoneyDecimal } from "../../../machines/shared/Money.ts"
import { lookupLimit, type VenueOutcome } from "../../../machines/venue/venueCalls.ts"
import { ActorHost, type Attribution, type DispatchError } from "../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../ports/RowReads.ts"
import { Venue, VenueUnanswered } from "../../ports/Venue.ts"
import type { OrderRow } from "../../store/tables/order.ts"
import { clientSubject } from "../client/clientState.ts"
import { answerWithin } from "../venue/CallAnswers.ts"
import { heardWhole, type OrderParts, orderPartsOf } from "./orderHears.ts"
import { Unsettled } from "./Unsettled.ts"

/** What was said is mostly here within this time: events follow their answers. Wall ms. */
const settleWithin = 500
/** Before what was not answered is asked for again, wall ms. */
const againAfter = 1_000
/** Orders whose trades are read side by side. */
const atOnce = 16
const pageLength = lookupLimit

const by: Attribution = { role: "SYSTEM", keyLabel: "venue", requestId: "venue", actor: "system:venue" }

interface Asked {
  readonly clientId: number
  readonly orderId: number
}

export const layerOrderResync = Layer.effectDiscard(
  Effect.gen(function* () {
    const resync = new Resync({
      host: yield* ActorHost,
      stored: yield* RowReads,
      venue: yield* Venue,
      unsettled: yield* Unsettled,
      orders: yield* orderPartsOf
    })
    yield* Effect.forkScoped(resync.run)
  })
)

interface Parts {
  readonly host: ActorHost["Service"]
  readonly stored: RowReads["Service"]
  readonly venue: Venue["Service"]
  readonly unsettled: Unsettled["Service"]
  readonly orders: OrderParts
}

class Resync {
  private readonly parts: Parts

  constructor(parts: Parts) {
    this.parts = parts
    parts.unsettled.addAll()
  }

  readonly run: Effect.Effect<never> = Effect.suspend(() => this.parts.unsettled.some.await).pipe(
    Effect.andThen(Effect.sleep(settleWithin)),
    Effect.andThen(Effect.suspend(() => this.round)),
    Effect.catchCause((cause) =>
      Effect.andThen(Effect.logError("orders could not be asked for", cause), Effect.sleep(againAfter))
    ),
    Effect.forever({ disableYield: true })
  )

  private readonly round: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    const { everything, orders } = this.parts.unsettled.take()
    for (let at = 0; at < orders.length; at += lookupLimit) yield* this.ask(orders.slice(at, at + lookupLimit))
    if (everything) yield* this.everything
  })

  /** Every order that works. */
  private readonly everything: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    for (const state of workingStates) {
      for (let before: number | undefined; ;) {
        const query = { limit: pageLength, ...(before === undefined ? {} : { before }) }
        const rows: ReadonlyArray<OrderRow> = yield* this.parts.stored
          .page("orders", [{ column: "state", value: state }], query)
          .pipe(Effect.catch(() => Effect.as(this.later, [])))
        if (rows.length > 0) yield* this.ask(rows.map(({ id, clientId }) => ({ orderId: id, clientId })))
        before = rows.at(-1)?.id
        if (rows.length < pageLength) break
      }
    }
  })

  /** Could not be asked now: all of it, once more, in a moment. */
  private readonly later: Effect.Effect<void> = Effect.suspend(() =>
    Effect.andThen(
      Effect.sleep(againAfter),
      Effect.sync(() => this.parts.unsettled.addAll())
    )
  )

  private ask(orders: ReadonlyArray<Asked>): Effect.Effect<void> {
    const { venue } = this.parts
    const refs = orders.map(({ orderId }) => orderRef(orderId))
    return this.inTime(venue.lookup(refs)).pipe(
      Effect.flatMap((outcomes) => {
        const byRef = new Map(outcomes.map((outcome) => [outcome.ref, outcome]))
        return Effect.forEach(
          orders,
          (order) => {
            const outcome = byRef.get(orderRef(order.orderId))
            // What the venue does not know is still in flight, or is compared with it (A2-103).
            if (outcome?.order == null) return Effect.sync(() => this.parts.unsettled.settled(order.orderId))
            return this.hear(order, outcome)
          },
          { concurrency: atOnce, discard: true }
        )
      }),
      Effect.catchTag("VenueUnanswered", () => this.askLater(orders))
    )
  }

  private askLater(orders: ReadonlyArray<Asked>): Effect.Effect<void> {
    return Effect.andThen(
      Effect.sleep(againAfter),
      Effect.sync(() => {
        for (const order of orders) this.parts.unsettled.add({ filledQty: "0", ended: false, ...order })
      })
    )
  }

  /** An order as the venue has it, with its trades where some are missing here. */
  private hear(order: Asked, { order: found }: VenueOutcome): Effect.Effect<void> {
    if (found === null) return Effect.void
    const { host, venue } = this.parts
    const subject = clientSubject(order.clientId)
    return Effect.gen({ self: this }, function* () {
      const filled = yield* host.read(subject, (state) => state.get("orders", String(order.orderId))?.context.filledQty)
      const isBehind = filled === undefined || new MoneyDecimal(filled).lt(found.filledQty)
      const fills = isBehind ? yield* this.inTime(venue.orderFills(orderRef(order.orderId))) : []
      yield* host.dispatch({
        subject,
        by,
        lane: "internal",
        decide: (turn) => heardWhole(turn, this.parts.orders, order.orderId, { order: found, fills: fills ?? [] })
      })
      this.parts.unsettled.settled(order.orderId)
    }).pipe(Effect.catch((fault: VenueUnanswered | DispatchError) => this.notNow(order, fault)))
  }

  private notNow(order: Asked, fault: VenueUnanswered | DispatchError): Effect.Effect<void> {
    return Effect.andThen(Effect.logDebug("an order could not be settled now", order, fault), this.askLater([order]))
  }

  private inTime<A>(question: Effect.Effect<A, VenueUnanswered>): Effect.Effect<A, VenueUnanswered> {
    return Effect.timeoutOrElse(question, {
      duration: answerWithin,
      orElse: () => Effect.fail(new VenueUnanswered({ reason: "no answer within 5 s" }))
    })
  }
}
