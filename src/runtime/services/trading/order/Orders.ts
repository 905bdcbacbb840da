/**
 * Orders for partners. One turn of the client checks an order, holds its cost and starts the call, in one commit. The
 * service responds once it has the venue's answer and has booked its trades, or after a timeout of 5 s. After the
 * timeout the call is in doubt, and the service resolves it without the caller (doc 2, Orders; A2-91, A2-92, D6).
 */
import { Context, Effect, Layer } from "effect"
import { isWorking, orderRef } from "../../../../machines/order/Order.ts"
import { orderRejected, orderUnanswered } from "../../../../machines/order/orderAnswers.ts"
import { refusingOrder } from "../../../../machines/order/orderRefusals.ts"
import { orderGates } from "../../../../machines/order/orderGates.ts"
import { marginPreviewOf, previewRefusal } from "../../../../machines/order/orderPreview.ts"
import type { CancelWire, MarginPreviewWire, OrderState, PlacedWire } from "../../../../machines/order/OrderWire.ts"
import { decodePreview } from "../../../../machines/order/PreviewBody.ts"
import { firstRefusal } from "../../../../machines/shared/Gates.ts"
import { accept, type Refusal, refuse, unknown, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { invalidWhole } from "../../../../machines/shared/RequestBody.ts"
import type { Commit } from "../../../engine/journal/Commit.ts"
import type { SubjectState } from "../../../engine/mailbox/SubjectState.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import {
  ActorHost,
  type DispatchError,
  FactNeeded,
  type Turn,
  type Unavailable
} from "../../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import type { OrderRow } from "../../../tables/order.ts"
import { readOwnClient } from "../../account/clientMoment.ts"
import { clientSubject, instanceOf, ownClient } from "../../account/clientState.ts"
import { notFound } from "../../account/notFound.ts"
import type { Explanation } from "../../shared/Explanation.ts"
import { type Caller, partnerNow } from "../../partners/Caller.ts"
import { Directory } from "../../partners/Directory.ts"
import { answerWithin, type Kept, type KeyedWrite, unkept, VenueGateway } from "../../venue/VenueGateway.ts"
import { firstRow } from "../../shared/firstRow.ts"
import { Recall } from "../../account/Recall.ts"
import { readOrder, explainOrder } from "./requestedOrder.ts"
import { newOrder } from "./newOrder.ts"
import { cancelOrder, orderInTurn, placeOrder } from "./orderDecisions.ts"
import {
  type OrderOnMarket,
  clientAt,
  clientInTurn,
  type ClientNow,
  judgedOrder,
  previewFigures
} from "./orderFacts.ts"
import { type OrderMarkets, orderMarkets } from "./orderMarkets.ts"
import { armAttachment, endAttempts } from "./protection.ts"
import { isOutOfSync, OutOfSync } from "../../venue/OutOfSync.ts"

type OfPartner = Pick<Caller, "partner">
type Answered<A> = Effect.Effect<Verdict<A>, DispatchError>

export class Orders extends Context.Service<
  Orders,
  {
    place(caller: Caller, write: KeyedWrite): Effect.Effect<Kept<PlacedWire>, DispatchError>
    cancel(caller: Caller, clientId: number, orderId: number | null): Answered<CancelWire>
    preview(caller: Caller, clientId: number, body: unknown): Answered<MarginPreviewWire>
    explain(of: OfPartner, clientId: number, body: unknown): Answered<Explanation>
    /** The refusal of an unknown client or order; null: both exist. */
    missing(caller: Caller, clientId: number, orderId: number | null): Effect.Effect<Refusal | null, Unavailable>
  }
>()("brokerage/runtime/services/trading/order/Orders") {
  static readonly layer = Layer.effect(
    Orders,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const stored = yield* RowReads
      return Orders.of(
        new Trading({
          host,
          stored,
          clock: yield* BusinessClock,
          directory: yield* Directory,
          gateway: yield* VenueGateway,
          unsettled: yield* OutOfSync,
          markets: yield* orderMarkets,
          recall: new Recall(stored)
        })
      )
    })
  )
}

interface Parts {
  readonly host: ActorHost["Service"]
  readonly stored: RowReads["Service"]
  readonly clock: BusinessClock["Service"]
  readonly directory: Directory["Service"]
  readonly gateway: VenueGateway["Service"]
  readonly unsettled: OutOfSync["Service"]
  readonly markets: OrderMarkets
  readonly recall: Recall
}

const noClient = unknown("Client")
const noOrder = unknown("Order")
const ended = (state: OrderRow["state"]): Refusal =>
  invalidWhole("ORDER_ENDED", `The order is ${state}: there is nothing to cancel.`)
const ofCloseOut = invalidWhole("ORDER_OF_CLOSE_OUT", "The order closes the account out: it can not be cancelled.")

class Trading {
  private readonly parts: Parts

  constructor(parts: Parts) {
    this.parts = parts
  }

  place(caller: Caller, write: KeyedWrite): Effect.Effect<Kept<PlacedWire>, DispatchError> {
    const { gateway, markets } = this.parts
    const { clientId, body, key } = write
    const { requested, refusal } = readOrder(body, markets)
    // With a key, a stored result takes precedence over the refusal: since the first attempt the market may have gone,
    // or the venue may have disconnected.
    if (requested === null && key === null) return Effect.succeed(unkept(refusal))
    return Effect.gen({ self: this }, function* () {
      const request = gateway.request<PlacedWire>(caller, write, refusingOrder)
      const sent = yield* request.begin((turn) =>
        requested === null ? refuse(refusal) : this.placeIn(turn, caller, requested)
      )
      if (!sent.ok) return request.refused(sent)
      const orderId = sent.value
      const answered = yield* request.outcome(orderRef(orderId), (turn) => {
        const row = orderInTurn(turn, orderId)
        return row === undefined ? null : this.placed(row)
      })
      return answered ?? (yield* request.end(yield* this.placedLater(clientId, orderId)))
    })
  }

  preview(caller: Caller, clientId: number, body: unknown): Answered<MarginPreviewWire> {
    const { markets } = this.parts
    const { requested, refusal } = readOrder(body, markets, decodePreview)
    if (requested === null)
      return Effect.succeed(refuse(refusal._tag === "Invalid" ? previewRefusal(refusal) : refusal))
    return this.view(caller, clientId, (at) => {
      const { facts, figures } = judgedOrder(at, requested, markets, { previews: true, fired: false })
      return marginPreviewOf(facts, previewFigures(figures))
    })
  }

  explain(of: OfPartner, clientId: number, body: unknown): Answered<Explanation> {
    const { markets } = this.parts
    const found = readOrder(body, markets)
    return Effect.flatMap(this.hasFired(clientId, found.requested), (fired) =>
      this.view(of, clientId, (at) =>
        accept(
          explainOrder(found, (requested) => judgedOrder(at, requested, markets, { previews: false, fired }).facts)
        )
      )
    )
  }

  cancel(caller: Caller, clientId: number, orderId: number | null): Answered<CancelWire> {
    return Effect.gen({ self: this }, function* () {
      const found = yield* this.row(caller, clientId, orderId)
      if (found === null) return refuse(yield* this.absent(caller, clientId))
      const { host, directory, unsettled } = this.parts
      const named = { orderId: found.id, clOrdId: orderRef(found.id) }
      const begun = yield* host.dispatch<Verdict<boolean>>({
        subject: clientSubject(clientId),
        by: caller.by,
        partner: () => directory.stamp(caller.partner.row.id),
        decide: (turn) => this.cancelIn(turn, caller, found.id)
      })
      if (!begun.ok) return begun
      // A cancel is already in flight: respond without another call (doc 2, Order states).
      if (!begun.value) return accept(named)
      // Whether the result of the cancel is known, by the state of the order. The outcome of one call does not show it, because
      // the service repeats a cancel that the venue never received under a new ref.
      const isKnown = (row: OrderRow): boolean => row.state !== "PENDING_CANCEL" && !isOutOfSync(unsettled, row)
      const now = yield* this.until(clientId, found.id, isKnown)
      if (now === null) return refuse(noOrder)
      if (now.state === "CANCELLED") return accept(named)
      if (now.state === "PENDING_CANCEL") return refuse(orderUnanswered({ ...named, state: now.state }))
      if (!isWorking(now)) return refuse(ended(now.state))
      return refuse(invalidWhole("REFUSED_BY_VENUE", "The venue has refused to cancel the order."))
    })
  }

  missing(caller: Caller, clientId: number, orderId: number | null): Effect.Effect<Refusal | null, Unavailable> {
    return Effect.flatMap(this.row(caller, clientId, orderId), (row) =>
      row === null ? this.absent(caller, clientId) : Effect.succeed(null)
    )
  }

  private absent({ partner }: Caller, clientId: number): Effect.Effect<Refusal, Unavailable> {
    return notFound(this.parts.host, { partnerId: partner.row.id, clientId, thing: noOrder })
  }

  private placeIn(turn: Turn, caller: Caller, requested: OrderOnMarket): Verdict<number> {
    const { directory, markets, recall } = this.parts
    const partner = partnerNow(directory, caller)
    const client = ownClient(turn.state, partner.row.id)
    if (client === null) return refuse(noClient)
    const { symbol, ocoGroup } = requested.order
    const fired =
      ocoGroup !== null &&
      recall.matching(turn, "firedGroups", { client_id: client.id, symbol, name: ocoGroup }) !== null
    const at = clientInTurn(turn, { client, partnerState: partner.row.state })
    const { facts, figures } = judgedOrder(at, requested, markets, { previews: false, fired })
    const refusal = firstRefusal(orderGates, facts)
    if (refusal !== null) return refuse(refusal)
    const order = newOrder({ requested, figures, terms: markets.terms })
    const of = instanceOf(client, partner)
    const row = placeOrder({ turn, of }, client, order)
    armAttachment(turn, of, row)
    return accept(row.id)
  }

  /** Starts the cancel. False: a cancel was already in flight. */
  private cancelIn(turn: Turn, caller: Caller, orderId: number): Verdict<boolean> {
    const partner = partnerNow(this.parts.directory, caller)
    const client = ownClient(turn.state, partner.row.id)
    if (client === null) return refuse(noClient)
    const row = this.parts.recall.row(turn, "orders", orderId)
    if (row === null) return refuse(noOrder)
    const of = instanceOf(client, partner)
    if (!isWorking(row)) return endAttempts({ turn, of }, row) ? accept(false) : refuse(ended(row.state))
    if (row.context.origin === "CLOSE_OUT") return refuse(ofCloseOut)
    if (row.state === "PENDING_CANCEL") return accept(false)
    const next = cancelOrder({ turn, of }, row, null)
    if (next === null) throw new Error(`order:${orderId} takes no cancel`)
    return accept(true)
  }

  /** The response to placing once the venue's reports are booked; null: not yet. */
  private placed(row: OrderRow): Verdict<PlacedWire> | null {
    const { id: orderId, state, context } = row
    if (state === "REJECTED") return refuse(orderRejected(namesOf(orderId), context.reject))
    if (state === "SENT" || state === "CHECKED" || isOutOfSync(this.parts.unsettled, row)) return null
    // The acknowledgement may arrive before the trades. An order that only takes liquidity ends with its trades, so its
    // end is awaited.
    if ((state === "ACKED" || state === "PARTIAL") && takesMarket(context)) return null
    return accept({ ...namesOf(orderId), state: state as OrderState })
  }

  /** The response to placing after a wait for the trades: accepted once they are booked, or refused after the timeout. */
  private placedLater(clientId: number, orderId: number): Effect.Effect<Verdict<PlacedWire>, DispatchError> {
    return Effect.gen({ self: this }, function* () {
      // Whether no further wait is needed. For an order in SENT, the wait for its call has already timed out.
      const enough = (row: OrderRow): boolean => row.state === "SENT" || this.placed(row) !== null
      const row = yield* this.until(clientId, orderId, enough)
      if (row === null) return yield* Effect.fail(new FactNeeded({ fact: `order:${orderId}` }))
      const unanswered = orderUnanswered({ ...namesOf(orderId), state: row.state as OrderState })
      return this.placed(row) ?? refuse(unanswered)
    })
  }

  /** The client's order once `enough` returns true, or after 5 s as it is then; null: unknown order. */
  private until(
    clientId: number,
    orderId: number,
    enough: (row: OrderRow) => boolean
  ): Effect.Effect<OrderRow | null, Unavailable> {
    const id = String(orderId)
    const check = (state: SubjectState, commit: Commit | null): OrderRow | "ended" | null => {
      const row = commit?.rows.orders?.find((order) => order.id === orderId) ?? state.get("orders", id)
      // An order that is missing in the mailbox has ended, because the mailbox holds every working order.
      if (row === undefined) return "ended"
      return enough(row) ? row : null
    }
    const waited = this.parts.host.awaitCommitted(clientSubject(clientId), check, answerWithin)
    return Effect.flatMap(waited, (row) =>
      row === null || row === "ended" ? this.found(clientId, orderId) : Effect.succeed(row)
    )
  }

  private view<A>(of: OfPartner, clientId: number, project: (at: ClientNow) => Verdict<A>): Answered<A> {
    const seen = readOwnClient(this.parts, of.partner.row.id, clientId, (...at) => project(clientAt(...at)))
    return Effect.mapEager(seen, (found) => found ?? refuse(noClient))
  }

  private hasFired(clientId: number, requested: OrderOnMarket | null): Effect.Effect<boolean, Unavailable> {
    if (requested === null || requested.order.ocoGroup === null) return Effect.succeed(false)
    const { symbol, ocoGroup: name } = requested.order
    const conditions = Object.entries({ client_id: clientId, symbol, name }).map(([column, value]) => ({
      column,
      value
    }))
    return Effect.map(firstRow(this.parts.stored, "firedGroups", conditions), (row) => row !== null)
  }

  /** The partner's order, from its client's mailbox or, once ended, from stored rows. */
  private row(caller: Caller, clientId: number, orderId: number | null): Effect.Effect<OrderRow | null, Unavailable> {
    if (orderId === null) return Effect.succeed(null)
    return Effect.map(this.found(clientId, orderId), (row) =>
      row !== null && row.partnerId === caller.partner.row.id ? row : null
    )
  }

  private found(clientId: number, orderId: number): Effect.Effect<OrderRow | null, Unavailable> {
    const { host, stored } = this.parts
    const resident = host.read(clientSubject(clientId), (state) => state.get("orders", String(orderId)))
    return Effect.flatMap(resident, (row) =>
      row !== undefined
        ? Effect.succeed(row)
        : firstRow(stored, "orders", [
            { column: "id", value: orderId },
            { column: "client_id", value: clientId }
          ])
    )
  }
}

/** Whether the order only takes liquidity, so that its unfilled rest ends at once. */
const takesMarket = ({ trigger, venueTif }: OrderRow["context"]): boolean =>
  trigger === null && (venueTif === "IOC" || venueTif === "FOK")
const namesOf = (orderId: number) => ({ orderId, clOrdId: orderRef(orderId) })
