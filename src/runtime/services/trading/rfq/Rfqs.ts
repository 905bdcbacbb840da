/**
 * Requests for quotes on knock-out contracts. A turn of the client checks and starts them. The service responds once it
 * has the venue's answer, or after a timeout of 5 s. After the timeout the call is in doubt, and the service resolves
 * it without the caller (doc 2, RFQ, A2-21..A2-28; A2-110, D4).
 */
import { decimalText } from "../../../../machines/shared/Money.ts"
import { Context, Effect, Layer } from "effect"
import { acceptRef, requestRef, withdrawalRef } from "../../../../machines/rfq/Rfq.ts"
import { decodeAccept } from "../../../../machines/rfq/AcceptBody.ts"
import { previewOf, type RfqPreview } from "../../../../machines/rfq/rfqPreview.ts"
import { rfqGates } from "../../../../machines/rfq/rfqGates.ts"
import type { AcceptWire, RfqCancelledWire, RfqsWire, RfqWire } from "../../../../machines/rfq/RfqWire.ts"
import { firstRefusal } from "../../../../machines/shared/Gates.ts"
import { accept, type Refusal, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { invalidBody } from "../../../../machines/shared/RequestBody.ts"
import type { JsonObject } from "../../../../machines/shared/Json.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import {
  ActorHost,
  type DispatchError,
  FactNeeded,
  type Turn,
  type Unavailable
} from "../../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import type { RfqRow } from "../../../tables/rfq.ts"
import { readOwnClient } from "../../account/clientMoment.ts"
import { clientSubject, ownClient } from "../../account/clientState.ts"
import { notFound } from "../../account/notFound.ts"
import type { Explanation } from "../../shared/Explanation.ts"
import { type Caller, partnerNow } from "../../partners/Caller.ts"
import { Directory } from "../../partners/Directory.ts"
import { firstRow } from "../../shared/firstRow.ts"
import { contractMarkets } from "./contractMarkets.ts"
import { callsEnded, type Kept, type KeyedWrite, unkept, VenueGateway } from "../../venue/VenueGateway.ts"
import { QuoteBoard } from "./QuoteBoard.ts"
import { readRfq, explainRequest } from "./requestRfq.ts"
import { beginAccept, cancel, rfqInTurn, startRfq, unanswered } from "./rfqDecisions.ts"
import { clientAt, clientInTurn, type ClientNow, quoteJudge, rfqFacts } from "./rfqFacts.ts"
import {
  acceptedIn,
  acceptRefused,
  inFlight,
  noClient,
  noQuote,
  noRequest,
  notConfirmed,
  notOpen,
  rejected,
  standingRefusal
} from "./rfqAnswers.ts"
import { acceptWire, rfqWire } from "./rfqView.ts"

type OfPartner = Pick<Caller, "partner">

type Answered<A> = Effect.Effect<Verdict<A>, DispatchError>
/** The result of a request that calls the venue. */
type Sent<A> = Effect.Effect<Kept<A>, DispatchError>

export class Rfqs extends Context.Service<
  Rfqs,
  {
    request(caller: Caller, write: KeyedWrite): Sent<RfqWire>
    preview(caller: Caller, clientId: number, body: unknown): Answered<RfqPreview>
    explain(of: OfPartner, clientId: number, body: unknown): Answered<Explanation>
    /** The view of any request, for staff. */
    shown(row: RfqRow): Effect.Effect<RfqWire, Unavailable>
    /** Requests in OPEN, newest first; null: another partner's client. */
    list(caller: Caller, clientId: number): Effect.Effect<RfqsWire | null, Unavailable>
    get(caller: Caller, clientId: number, rfqId: number | null): Answered<RfqWire>
    accept(caller: Caller, rfqId: number | null, write: KeyedWrite): Sent<AcceptWire>
    cancel(caller: Caller, clientId: number, rfqId: number | null): Answered<RfqCancelledWire>
    /**
     * Runs a request that `start` begins, for example to close a contract. `about`: data of the refusal if the outcome
     * is still unknown.
     */
    begun(caller: Caller, write: KeyedWrite, start: (turn: Turn) => Verdict<number>, about: JsonObject): Sent<RfqWire>
    /** The refusal of an unknown client or request; null: both exist. */
    missing(caller: Caller, clientId: number, rfqId: number | null): Effect.Effect<Refusal | null, Unavailable>
  }
>()("brokerage/runtime/services/trading/rfq/Rfqs") {
  static readonly layer = Layer.effect(
    Rfqs,
    Effect.gen(function* () {
      return Rfqs.of(
        new Requests({
          host: yield* ActorHost,
          clock: yield* BusinessClock,
          directory: yield* Directory,
          stored: yield* RowReads,
          gateway: yield* VenueGateway,
          board: yield* QuoteBoard,
          markets: yield* contractMarkets
        })
      )
    })
  )
}

interface Parts {
  readonly host: ActorHost["Service"]
  readonly clock: BusinessClock["Service"]
  readonly directory: Directory["Service"]
  readonly stored: RowReads["Service"]
  readonly gateway: VenueGateway["Service"]
  readonly board: QuoteBoard["Service"]
  readonly markets: Effect.Success<typeof contractMarkets>
}

class Requests {
  private readonly parts: Parts

  constructor(parts: Parts) {
    this.parts = parts
  }

  request(caller: Caller, write: KeyedWrite): Sent<RfqWire> {
    const { clock, markets } = this.parts
    const requested = readRfq(write.body, clock.now(), markets)
    // With a key, a stored result takes precedence over the refusal: since the first attempt the expiry may have
    // passed, or the market may have gone.
    if (!requested.ok && write.key === null) return Effect.succeed(unkept(requested.refusal))
    return this.begun(caller, write, (turn) =>
      this.inTurn(turn, caller, (at) => {
        if (!requested.ok) return requested
        const { rfq, market } = requested.value
        const facts = rfqFacts(at, rfq, market, markets)
        const refusal = firstRefusal(rfqGates, facts)
        if (refusal !== null) return refuse(refusal)
        const { marked } = facts
        if (marked === null) throw new Error("a request passed its gates without a mark")
        const mark = decimalText(marked.price, marked.markPlaces)
        return accept(startRfq(turn, at.client, rfq, { mark, figures: marked.figures }).id)
      })
    )
  }

  begun(
    caller: Caller,
    write: KeyedWrite,
    start: (turn: Turn) => Verdict<number>,
    about: JsonObject = {}
  ): Sent<RfqWire> {
    return Effect.gen({ self: this }, function* () {
      const request = this.parts.gateway.request<RfqWire>(caller, write)
      const sent = yield* request.begin(start)
      if (!sent.ok) return request.refused(sent)
      const rfqId = sent.value
      const answered = yield* request.outcome(requestRef(rfqId), (turn) => this.requestedIn(turn, caller, rfqId))
      if (answered !== null) return answered
      const { verdict, settle } = yield* this.requested(caller, write.clientId, rfqId, about)
      return yield* request.end(verdict, settle)
    })
  }

  preview(caller: Caller, clientId: number, body: unknown): Answered<RfqPreview> {
    const { clock, markets } = this.parts
    const requested = readRfq(body, clock.now(), markets)
    if (!requested.ok) return Effect.succeed(requested)
    const { rfq, market } = requested.value
    const { terms } = markets
    return this.view(caller, clientId, (at) => previewOf({ rfq, terms, facts: rfqFacts(at, rfq, market, markets) }))
  }

  explain(of: OfPartner, clientId: number, body: unknown): Answered<Explanation> {
    const { clock, markets } = this.parts
    return this.view(of, clientId, (at) =>
      accept(explainRequest(body, clock.now(), markets, ({ rfq, market }) => rfqFacts(at, rfq, market, markets)))
    )
  }

  list(caller: Caller, clientId: number): Effect.Effect<RfqsWire | null, Unavailable> {
    return this.seen(caller, clientId, (at) => ({
      rfqs: at.rfqs
        .filter(({ state }) => state === "OPEN")
        .toSorted((one, other) => other.id - one.id)
        .map((row) => this.wire(row, at))
    }))
  }

  get(caller: Caller, clientId: number, rfqId: number | null): Answered<RfqWire> {
    return Effect.flatMap(this.row(caller, clientId, rfqId), (row) =>
      row === null || row.state === "CREATING"
        ? Effect.map(this.notFound(caller, clientId), refuse)
        : this.view(caller, clientId, (at) => accept(this.wire(row, at)))
    )
  }

  shown(row: RfqRow): Effect.Effect<RfqWire, Unavailable> {
    const wire = this.seenOf(row.partnerId, row.clientId, (at) => this.wire(row, at))
    return Effect.flatMap(wire, (found) =>
      found === null ? Effect.die(new Error(`rfq:${row.id} has no client`)) : Effect.succeed(found)
    )
  }

  missing(caller: Caller, clientId: number, rfqId: number | null): Effect.Effect<Refusal | null, Unavailable> {
    return Effect.flatMap(this.row(caller, clientId, rfqId), (row) =>
      row === null ? this.notFound(caller, clientId) : Effect.succeed(null)
    )
  }

  private notFound({ partner }: OfPartner, clientId: number): Effect.Effect<Refusal, Unavailable> {
    return notFound(this.parts.host, { partnerId: partner.row.id, clientId, thing: noRequest })
  }

  accept(caller: Caller, rfqId: number | null, write: KeyedWrite): Sent<AcceptWire> {
    const { clientId, body } = write
    return Effect.gen({ self: this }, function* () {
      const decoded = decodeAccept(body)
      if (!decoded.ok) return unkept(invalidBody(decoded))
      const found = yield* this.row(caller, clientId, rfqId)
      if (found === null) return unkept(yield* this.notFound(caller, clientId))
      const { quoteId } = decoded.body
      const request = this.parts.gateway.request<AcceptWire>(caller, write)
      const sent = yield* request.begin((turn) =>
        this.inTurn(turn, caller, (at) => this.beginAccept(turn, at, found, quoteId, caller))
      )
      if (!sent.ok) return request.refused(sent)
      const answered = yield* request.outcome(acceptRef(sent.value, quoteId), (turn) =>
        acceptedIn(turn, found.id, quoteId)
      )
      return answered ?? (yield* request.end(yield* this.accepted(caller, clientId, found.id, quoteId)))
    })
  }

  cancel(caller: Caller, clientId: number, rfqId: number | null): Answered<RfqCancelledWire> {
    return Effect.gen({ self: this }, function* () {
      const found = yield* this.row(caller, clientId, rfqId)
      if (found === null) return refuse(yield* this.notFound(caller, clientId))
      const { host, directory } = this.parts
      const sent = yield* host.dispatch<Verdict<number>>({
        subject: clientSubject(clientId),
        by: caller.by,
        partner: () => directory.stamp(caller.partner.row.id),
        decide: (turn) =>
          this.inTurn(turn, caller, () => {
            const row = rfqInTurn(turn, found.id)
            if (row === undefined) return refuse(notOpen)
            if (row.state === "CREATING") return refuse(noRequest)
            const stands = standingRefusal(row)
            const next = stands === null ? cancel(turn, row) : null
            if (next === null) return refuse(stands ?? notOpen)
            return accept(next.context.withdrawals)
          })
      })
      if (!sent.ok) return sent
      yield* callsEnded(host, clientId, [withdrawalRef(found.id, sent.value)])
      return yield* this.cancelled(caller, clientId, found.id)
    })
  }

  private wire(row: RfqRow, at: ClientNow): RfqWire {
    const { board, markets } = this.parts
    return rfqWire(row, { at, board, markets })
  }

  /** Decides on the caller's client in its turn. */
  private inTurn<A>(turn: Turn, caller: Caller, decide: (at: ClientNow) => Verdict<A>): Verdict<A> {
    const { row } = partnerNow(this.parts.directory, caller)
    const client = ownClient(turn.state, row.id)
    return client === null ? refuse(noClient) : decide(clientInTurn(turn, { client, partnerState: row.state }))
  }

  /** Reads the committed state of the caller's client; null: another partner's client. */
  private seen<A>(
    of: OfPartner,
    clientId: number,
    project: (at: ClientNow) => A
  ): Effect.Effect<A | null, Unavailable> {
    return this.seenOf(of.partner.row.id, clientId, project)
  }

  private seenOf<A>(
    partnerId: number,
    clientId: number,
    project: (at: ClientNow) => A
  ): Effect.Effect<A | null, Unavailable> {
    return readOwnClient(this.parts, partnerId, clientId, (...at) => project(clientAt(...at)))
  }

  private view<A>(of: OfPartner, clientId: number, project: (at: ClientNow) => Verdict<A>): Answered<A> {
    return Effect.mapEager(this.seen(of, clientId, project), (found) => found ?? refuse(noClient))
  }

  /** The client's request, from its mailbox or, once ended, from stored rows. */
  private row(caller: Caller, clientId: number, rfqId: number | null): Effect.Effect<RfqRow | null, Unavailable> {
    if (rfqId === null) return Effect.succeed(null)
    const { host, stored } = this.parts
    const partnerId = caller.partner.row.id
    const resident = host.read(clientSubject(clientId), (state) => state.get("rfqs", String(rfqId)))
    return Effect.flatMap(resident, (row) =>
      row !== undefined
        ? Effect.succeed(row.partnerId === partnerId ? row : null)
        : firstRow(stored, "rfqs", [
            { column: "id", value: rfqId },
            { column: "client_id", value: clientId },
            { column: "partner_id", value: partnerId }
          ])
    )
  }

  private ownRow(caller: Caller, clientId: number, rfqId: number): Effect.Effect<RfqRow, DispatchError> {
    return Effect.flatMap(this.row(caller, clientId, rfqId), (row) =>
      row === null ? Effect.fail(new FactNeeded({ fact: `rfq:${rfqId}` })) : Effect.succeed(row)
    )
  }

  private requestedIn(turn: Turn, caller: Caller, rfqId: number): Verdict<RfqWire> | null {
    const row = rfqInTurn(turn, rfqId)
    if (row === undefined) return null
    if (row.state === "REJECTED") return refuse(rejected(row))
    return row.context.venueRfqId === null ? null : this.inTurn(turn, caller, (at) => accept(this.wire(row, at)))
  }

  /** The verdict on a started request once its outcome is known, with the further writes of the commit that stores it. */
  private requested(caller: Caller, clientId: number, rfqId: number, about: JsonObject) {
    return Effect.gen({ self: this }, function* () {
      const row = yield* this.ownRow(caller, clientId, rfqId)
      const { state, context } = row
      if (state === "REJECTED") return { verdict: refuse(rejected(row)), settle: null }
      if (context.venueRfqId === null && (state === "CREATING" || state === "OPEN")) {
        const refusal = inFlight({ rfqId, ...about })
        const settle = (turn: Turn): void => {
          const now = rfqInTurn(turn, rfqId)
          if (now !== undefined) unanswered(turn, now)
        }
        return { verdict: refuse(refusal), settle }
      }
      return { verdict: yield* this.view(caller, clientId, (at) => accept(this.wire(row, at))), settle: null }
    })
  }

  private beginAccept(turn: Turn, at: ClientNow, found: RfqRow, quoteId: number, caller: Caller): Verdict<number> {
    const { board, markets } = this.parts
    const row = rfqInTurn(turn, found.id)
    if (row === undefined) return refuse(notOpen)
    if (row.state === "CREATING") return refuse(noRequest)
    const stands = standingRefusal(row)
    if (stands !== null) return refuse(stands)
    const judge = quoteJudge(at, row, markets)
    const before = judge.before()
    if (before !== null) return refuse(before)
    const quote = board.one(row.id, quoteId)?.quote
    if (quote === undefined || quote.state === "WITHDRAWN") return refuse(noQuote)
    const refusal = judge.refusal(quote)
    if (refusal !== null) return refuse(refusal)
    const figures = judge.priced(quote)?.figures ?? null
    const next = beginAccept(turn, row, { id: quoteId, price: quote.price, figures, by: caller.by.actor })
    return next === null ? refuse(notConfirmed) : accept(row.id)
  }

  private accepted(
    caller: Caller,
    clientId: number,
    rfqId: number,
    quoteId: number
  ): Effect.Effect<Verdict<AcceptWire>, DispatchError> {
    return Effect.gen({ self: this }, function* () {
      const row = yield* this.ownRow(caller, clientId, rfqId)
      const { acceptedQuoteId, accepting, contractId, refusedQuotes } = row.context
      if (acceptedQuoteId === quoteId && contractId !== null) {
        const contract = yield* this.contract(clientId, contractId)
        return accept(acceptWire(row, contract))
      }
      if (accepting?.quoteId === quoteId) {
        return refuse(inFlight({ rfqId, quoteId, accepting: true }))
      }
      const why = refusedQuotes.find((refused) => refused.quoteId === quoteId)?.reason
      return refuse(why === undefined ? notOpen : acceptRefused(row, quoteId, why))
    })
  }

  private contract(clientId: number, contractId: number) {
    const { host, stored } = this.parts
    const id = String(contractId)
    return Effect.flatMap(
      host.read(clientSubject(clientId), (state) => state.get("barrierContracts", id)),
      (resident) =>
        resident !== undefined
          ? Effect.succeed(resident)
          : Effect.flatMap(firstRow(stored, "barrierContracts", [{ column: "id", value: contractId }]), (row) =>
              row === null ? Effect.fail(new FactNeeded({ fact: `contract:${id}` })) : Effect.succeed(row)
            )
    )
  }

  private cancelled(
    caller: Caller,
    clientId: number,
    rfqId: number
  ): Effect.Effect<Verdict<RfqCancelledWire>, DispatchError> {
    return Effect.map(this.ownRow(caller, clientId, rfqId), ({ state, context }) => {
      if (state === "CANCELLED") return accept({ rfqId, state })
      // Without a venue id the call that creates the request is still in flight.
      const isKnown = context.cancelling === null && context.venueRfqId !== null
      return refuse(isKnown ? notOpen : inFlight({ rfqId }))
    })
  }
}
