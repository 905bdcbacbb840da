/**
 * Accepts the earliest acceptable quote of a request with automatic accept (the router). The router checks a request
 * when a quote arrives, and when a commit leaves the request open. A turn of the client checks the quote again. Without
 * an acceptable quote the router takes no turn, and notes the reason on the board.
 *
 * It also maintains the board: it opens and closes the entry of each request, and reads quotes from the venue after a
 * start or a reconnect (A2-22, F18, F19).
 */
import { Effect, Exit, Latch, Layer } from "effect"
import { autoCloseRefusal } from "../../../../machines/contract/quoteAcceptance.ts"
import { isFresh } from "../../../../machines/market/Facts.ts"
import { openRfqStates, requestRef } from "../../../../machines/rfq/Rfq.ts"
import { lookupLimit } from "../../../../machines/venue/venueCalls.ts"
import type { VenueQuote } from "../../../../machines/venue/venueObjects.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import { ActorHost, type Attribution, type Turn } from "../../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { Venue } from "../../../ports/Venue.ts"
import type { RfqRow } from "../../../tables/rfq.ts"
import { clientSubject } from "../../account/clientState.ts"
import { Directory } from "../../partners/Directory.ts"
import { VenueLink } from "../../venue/VenueLink.ts"
import { subscribe } from "../../../subscriptions.ts"
import { contractMarkets } from "./contractMarkets.ts"
import { QuoteBoard } from "./QuoteBoard.ts"
import { beginAccept, isOpen, rfqInTurn } from "./rfqDecisions.ts"
import { clientAt, clientInTurn, type ClientNow, quoteJudge, sentenceOf, standsAgainst } from "./rfqFacts.ts"

/** Requests that are checked concurrently. */
const atOnce = 64
/** The interval of checks for paused requests and new connections, and the pause after a failed lookup, ms. */
const checkEvery = 1_000
/** Failed accepts of a request that cause no pause. After these the pause doubles from `firstRest` to `longestRest`, ms. */
const triesAtOnce = 3
const firstRest = 2_000
const longestRest = 60_000
const pageLength = 500

const by: Attribution = { role: "SYSTEM", keyLabel: "router", requestId: "router", actor: "system:router" }

interface Parts {
  readonly host: ActorHost["Service"]
  readonly clock: BusinessClock["Service"]
  readonly directory: Directory["Service"]
  readonly stored: RowReads["Service"]
  readonly venue: Venue["Service"]
  readonly link: VenueLink["Service"]
  readonly board: QuoteBoard["Service"]
  readonly markets: Effect.Success<typeof contractMarkets>
}

export const layerAutoAccept = Layer.effectDiscard(
  Effect.gen(function* () {
    const router = new Router({
      host: yield* ActorHost,
      clock: yield* BusinessClock,
      directory: yield* Directory,
      stored: yield* RowReads,
      venue: yield* Venue,
      link: yield* VenueLink,
      board: yield* QuoteBoard,
      markets: yield* contractMarkets
    })
    yield* router.begin
    yield* Effect.forkScoped(router.run)
    yield* Effect.forkScoped(router.follow)
  })
)

class Router {
  private readonly parts: Parts
  /** The client of each open request. */
  private readonly clients = new Map<number, number>()
  private readonly wanted = new Set<number>()
  /** Paused requests, and requests with a failed attempt. Each is checked again within a second. */
  private readonly resting = new Set<number>()
  private readonly wake = Latch.makeUnsafe(false)
  /** The start time of the connection for which all quotes were read; undefined: no read has succeeded yet. */
  private read: number | null | undefined = undefined

  constructor(parts: Parts) {
    this.parts = parts
    subscribe(parts.host, "AutoAccept", { rfqs: (row) => this.take(row) })
    parts.board.onChange((rfqId) => this.want(rfqId))
  }

  /** Loads the requests that were open at the start. */
  readonly begin: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    for (const state of openRfqStates) {
      for (let before: number | undefined; ;) {
        const query = { limit: pageLength, ...(before === undefined ? {} : { before }) }
        const page = this.parts.stored.page("rfqs", [{ column: "state", value: state }], query)
        const rows: ReadonlyArray<RfqRow> = yield* Effect.orDie(page)
        for (const row of rows) if (!this.clients.has(row.id)) this.take(row)
        const last = rows.at(-1)
        if (rows.length < pageLength || last === undefined) break
        before = last.id
      }
    }
  })

  /** Routes requests in an endless loop. */
  readonly run: Effect.Effect<never> = Effect.suspend(() => this.wake.await).pipe(
    Effect.andThen(
      Effect.suspend(() => {
        this.wake.closeUnsafe()
        const wanted = [...this.wanted]
        this.wanted.clear()
        return Effect.forEach(wanted, (rfqId) => this.route(rfqId), { concurrency: atOnce, discard: true })
      })
    ),
    Effect.forever({ disableYield: true })
  )

  /**
   * Checks paused requests again. Reads the quotes of all open requests at the start, and after each new connection to
   * the venue's events.
   */
  readonly follow: Effect.Effect<never> = Effect.suspend(() => {
    const resting = [...this.resting]
    this.resting.clear()
    for (const rfqId of resting) this.want(rfqId)
    const { connected, since } = this.parts.link.state()
    if (!connected || since === this.read) return Effect.void
    return Effect.map(this.readAll, (whole) => {
      if (whole) this.read = since
    })
  }).pipe(Effect.andThen(Effect.sleep(checkEvery)), Effect.forever({ disableYield: true }))

  private take(row: RfqRow): void {
    const { board } = this.parts
    const known = this.clients.has(row.id)
    if (isOpen(row)) {
      this.clients.set(row.id, row.clientId)
      board.open(row.id)
      // The note of the row is newer than the router's note on the board.
      if (row.context.autoAcceptNote !== null) board.remark(row.id, null)
      this.want(row.id)
    } else if (known && !row.venueOpen) {
      // An ended request that is still open at the venue keeps its quotes, because the venue's end report stores them.
      this.clients.delete(row.id)
      board.close(row.id)
    }
  }

  private want(rfqId: number): void {
    this.wanted.add(rfqId)
    this.wake.openUnsafe()
  }

  /** Reads the quotes of all open requests. False: the venue has not answered for all of them. */
  private readonly readAll: Effect.Effect<boolean> = Effect.suspend(() => {
    const ids = [...this.clients.keys()]
    const pages = Array.from({ length: Math.ceil(ids.length / lookupLimit) }, (_, at) =>
      ids.slice(at * lookupLimit, (at + 1) * lookupLimit)
    )
    return Effect.forEach(pages, (page) => this.readPage(page), { discard: true }).pipe(
      Effect.as(true),
      Effect.catchTag("VenueUnanswered", ({ reason }) =>
        Effect.as(
          Effect.logDebug(
            "the venue does not answer for the quotes of open requests; they are read again in a second",
            reason
          ),
          false
        )
      ),
      Effect.catchDefect((defect) =>
        Effect.as(
          Effect.logError("the quotes of open requests could not be read; they are read again in a second", defect),
          false
        )
      )
    )
  })

  private readPage(ids: ReadonlyArray<number>) {
    return Effect.map(this.parts.venue.lookup(ids.map(requestRef)), (outcomes) => {
      for (const [at, rfqId] of ids.entries()) {
        const quotes = outcomes[at]?.rfq?.quotes
        if (quotes !== undefined) this.parts.board.read(rfqId, quotes)
      }
    })
  }

  private route(rfqId: number): Effect.Effect<void> {
    const { host, board, clock } = this.parts
    const clientId = this.clients.get(rfqId)
    if (clientId === undefined) return Effect.void
    /** The remaining pause before an accept, ms; null: no acceptable quote. */
    const checked = host.read(clientSubject(clientId), (state, facts): number | null => {
      const client = state.one("clients")
      const row = state.get("rfqs", String(rfqId))
      if (client === undefined || row === undefined || !routable(row)) return null
      const now = clock.now()
      const at = clientAt(state, facts, { now, client, partnerState: this.stateOf(client.partnerId) })
      const { quote, note } = this.choose(at, row)
      if (note !== null) board.remark(rfqId, note)
      return quote === null ? null : restOf(row, now)
    })
    return checked.pipe(
      Effect.flatMap((rest) =>
        rest === null ? Effect.void : rest > 0 ? this.later(rfqId) : this.dispatch(clientId, rfqId)
      ),
      Effect.exit,
      Effect.flatMap((done) => {
        if (Exit.isSuccess(done)) return Effect.void
        return Effect.andThen(
          Effect.logWarning("a quote could not be accepted: the service tries again within a second", done.cause),
          this.later(rfqId)
        )
      })
    )
  }

  private later(rfqId: number): Effect.Effect<void> {
    return Effect.sync(() => void this.resting.add(rfqId))
  }

  private dispatch(clientId: number, rfqId: number) {
    return this.parts.host.dispatch({
      subject: clientSubject(clientId),
      by,
      lane: "internal",
      decide: (turn) => this.accept(turn, rfqId)
    })
  }

  private accept(turn: Turn, rfqId: number): void {
    const client = turn.state.one("clients")
    const row = rfqInTurn(turn, rfqId)
    if (client === undefined || row === undefined || !routable(row)) return
    const at = clientInTurn(turn, { client, partnerState: this.stateOf(client.partnerId) })
    const { quote } = this.choose(at, row)
    if (quote === null) return
    const figures = quoteJudge(at, row, this.parts.markets).priced(quote)?.figures ?? null
    beginAccept(turn, row, { id: quote.id, price: quote.price, figures, by: by.actor })
  }

  private stateOf(partnerId: number): ClientNow["partnerState"] {
    return this.parts.directory.partner(partnerId)?.row.state ?? "CLOSED"
  }

  /** The first acceptable quote by arrival. Without one, the note gives the reason against the last live quote. */
  private choose(at: ClientNow, row: RfqRow): { readonly quote: VenueQuote | null; readonly note: string | null } {
    const { board, markets } = this.parts
    const judge = quoteJudge(at, row, markets)
    let note: string | null = null
    for (const { quote } of board.of(row.id)) {
      if (quote.state !== "LIVE") continue
      const refusal = judge.refusal(quote)
      const closing = judge.closing(quote)
      const mark = at.facts.marks.get(row.symbol)
      const live = mark === undefined ? null : isFresh(mark, at.now) ? mark.price : "stale"
      const sentence =
        refusal !== null ? sentenceOf(refusal) : closing === null ? null : autoCloseRefusal({ ...closing, mark: live })
      if (sentence === null) return { quote, note: null }
      note = sentence
    }
    return { quote: null, note }
  }
}

/**
 * The remaining pause of a request, ms. The pause doubles after every failed accept, so that a venue that executes
 * nothing does not cause a call and a commit for each new quote. The request's row determines the pause, so a restart
 * does not change it.
 */
const restOf = ({ context: { refusedQuotes, updatedAt } }: RfqRow, now: number): number => {
  const tries = refusedQuotes.length - triesAtOnce
  return tries < 0 ? 0 : updatedAt + Math.min(longestRest, firstRest * 2 ** tries) - now
}

/** Whether the request wants automatic accept, is confirmed by the venue, and has no call in flight. */
const routable = (row: RfqRow): boolean =>
  row.context.autoAccept && row.context.venueRfqId !== null && standsAgainst(row) === null
