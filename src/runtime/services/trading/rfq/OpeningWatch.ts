/**
 * Ends requests to open a contract whose client may not take new risk any more, or not in their market, in the words of the
 * gates that would refuse them now: a restriction, a lifecycle other than ACTIVE, a partner that is not ACTIVE, a halt; and
 * where the market is delisted (A2-101, D4). A partner's reliance is no gate of theirs: clients that are onboarded trade on
 * (A1-50). Requests to close, and those with an accept in flight, are left alone; the latter are looked at again when their
 * answer is in.
 */
import { Effect, Latch, Layer } from "effect"
import { openingRestriction } from "../../../../machines/client/openingRisk.ts"
import { isWorking, workingStates } from "../../../../machines/order/Order.ts"
import { openRfqStates } from "../../../../machines/rfq/Rfq.ts"
import { haltRestriction, partnerRestriction } from "../../../../machines/client/openingGates.ts"
import { ActorHost, type Attribution, type Turn } from "../../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import type { Tables } from "../../../tables/Catalogue.ts"
import type { RfqRow } from "../../../tables/barrier.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { OrderRow } from "../../../tables/order.ts"
import { clientContext, clientSubject, instanceOf } from "../../account/clientState.ts"
import { MarketFeed } from "../../market/MarketFeed.ts"
import { subscribe } from "../../../subscriptions.ts"
import { cancelOpeningOrders, opensRisk } from "../order/orderDecisions.ts"
import { Directory } from "../../partners/Directory.ts"
import { partnerOfTurn } from "../../partners/partnerOfTurn.ts"
import { type BarrierMarkets, barrierMarkets } from "./barrierMarkets.ts"
import { cancelOpeningRequests, isOpen } from "./rfqDecisions.ts"
import { rfqsInTurn } from "../../account/contractHoldings.ts"

/** Clients that are looked at side by side. */
const atOnce = 64
/** Between two looks at the venue's list of markets, and before what failed is tried again, ms. */
const lookEvery = 1_000
const pageLength = 500

const by: Attribution = { role: "SYSTEM", keyLabel: "risk", requestId: "risk", actor: "system:risk" }

interface Parts {
  readonly host: ActorHost["Service"]
  readonly directory: Directory["Service"]
  readonly stored: RowReads["Service"]
  readonly feed: MarketFeed["Service"]
  readonly markets: BarrierMarkets
}

export const layerOpeningWatch = Layer.effectDiscard(
  Effect.gen(function* () {
    const watch = new OpeningWatch({
      host: yield* ActorHost,
      directory: yield* Directory,
      stored: yield* RowReads,
      feed: yield* MarketFeed,
      markets: yield* barrierMarkets
    })
    yield* watch.begin
    yield* Effect.forkScoped(watch.run)
    yield* Effect.forkScoped(watch.follow)
  })
)

class OpeningWatch {
  private readonly parts: Parts
  /** The clients of the open requests to open, and of the working orders that could, by object. */
  private readonly clients = new Map<string, { readonly clientId: number; readonly partnerId: number }>()
  private readonly wanted = new Set<number>()
  private readonly wake = Latch.makeUnsafe(false)
  private listing: MarketFeed["Service"]["mirror"]["listing"] = null

  constructor(parts: Parts) {
    this.parts = parts
    subscribe(parts.host, "OpeningWatch", {
      rfqs: (row) => this.take("rfqs", row, opens(row)),
      orders: (row) => this.take("orders", row, rests(row)),
      clients: ({ id }) => this.wantThose(({ clientId }) => clientId === id),
      partners: ({ id }) => this.wantThose(({ partnerId }) => partnerId === id),
      tradingHalts: () => this.wantThose(() => true)
    })
  }

  /** The requests that are open already, and the orders that work. */
  readonly begin: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    for (const state of openRfqStates) yield* this.each("rfqs", state, (row) => this.take("rfqs", row, opens(row)))
    for (const state of workingStates) yield* this.each("orders", state, (row) => this.take("orders", row, rests(row)))
  })

  private each<T extends "rfqs" | "orders">(
    table: T,
    state: string,
    take: (row: Tables[T]) => void
  ): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      for (let before: number | undefined; ;) {
        const query = { limit: pageLength, ...(before === undefined ? {} : { before }) }
        const rows = yield* Effect.orDie(this.parts.stored.page(table, [{ column: "state", value: state }], query))
        rows.forEach(take)
        before = (rows as ReadonlyArray<{ readonly id: number }>).at(-1)?.id
        if (rows.length < pageLength) return
      }
    })
  }

  readonly run: Effect.Effect<never> = Effect.suspend(() => this.wake.await).pipe(
    Effect.andThen(
      Effect.suspend(() => {
        this.wake.closeUnsafe()
        const wanted = [...this.wanted]
        this.wanted.clear()
        return Effect.forEach(wanted, (clientId) => this.look(clientId), { concurrency: atOnce, discard: true })
      })
    ),
    Effect.forever({ disableYield: true })
  )

  /** What the venue halts or takes off its list. */
  readonly follow: Effect.Effect<never> = Effect.sync(() => {
    const { listing } = this.parts.feed.mirror
    if (listing === this.listing) return
    this.listing = listing
    this.wantThose(() => true)
  }).pipe(Effect.andThen(Effect.sleep(lookEvery)), Effect.forever({ disableYield: true }))

  private take(table: "rfqs" | "orders", { id, clientId, partnerId }: RfqRow | OrderRow, isOpening: boolean): void {
    const name = `${table} ${id}`
    if (!isOpening) return void this.clients.delete(name)
    // An order that goes on resting was looked at when it began to; a request may have been left alone for its accept.
    const wasLookedAt = table === "orders" && this.clients.has(name)
    this.clients.set(name, { clientId, partnerId })
    if (!wasLookedAt) this.want(clientId)
  }

  private wantThose(which: (of: { readonly clientId: number; readonly partnerId: number }) => boolean): void {
    for (const of of this.clients.values()) if (which(of)) this.want(of.clientId)
  }

  private want(clientId: number): void {
    this.wanted.add(clientId)
    this.wake.openUnsafe()
  }

  /** Takes a turn only where something is to end. */
  private look(clientId: number): Effect.Effect<void> {
    const { host } = this.parts
    const subject = clientSubject(clientId)
    const found = host.read(subject, (state) => {
      const client = state.one("clients")
      return (
        client !== undefined &&
        (state.all("rfqs").some((row) => this.reasonOf(row, client) !== null) ||
          (this.restrictionOf(client) !== null && state.all("orders").some(rests)))
      )
    })
    const ending = Effect.flatMap(found, (some) =>
      some
        ? host.dispatch({
            subject,
            by,
            lane: "internal",
            decide: (turn) => {
              const client = turn.state.one("clients")
              if (client === undefined) return
              for (const row of rfqsInTurn(turn)) {
                const reason = this.reasonOf(row, client)
                if (reason !== null) cancelOpeningRequests(turn, reason, (symbol) => symbol === row.symbol)
              }
              this.cancelOrders(turn, client)
            }
          })
        : Effect.void
    )
    return Effect.catchCause(ending, (cause) =>
      Effect.logWarning("requests to open could not be ended", cause).pipe(
        Effect.andThen(Effect.sleep(lookEvery)),
        Effect.andThen(Effect.sync(() => this.want(clientId)))
      )
    )
  }

  /** A halt leaves what rests in the book alone (A2-101). */
  private cancelOrders(turn: Turn, client: ClientRow): void {
    const restriction = this.restrictionOf(client)
    const partner = restriction === null ? null : partnerOfTurn(turn, this.parts.directory, client)
    if (restriction !== null && partner !== null) {
      cancelOpeningOrders({ turn, of: instanceOf(client, partner) }, restriction)
    }
  }

  /** Why the client may open nothing now, whatever the market; null: it may. */
  private restrictionOf(client: ClientRow): string | null {
    const partnerState = this.parts.directory.partner(client.partnerId)?.row.state ?? "CLOSED"
    return openingRestriction(client.state, clientContext(client).restrictions) ?? partnerRestriction(partnerState)
  }

  /** Why a request is to end; null: it stays. */
  private reasonOf(row: RfqRow, client: ClientRow): string | null {
    if (!opens(row) || row.context.accepting !== null) return null
    return this.restrictionOf(client) ?? this.stoppedIn(row.symbol)
  }

  private stoppedIn(symbol: string): string | null {
    const { feed, markets } = this.parts
    // While nothing is known of the markets nothing is known against one.
    if (feed.mirror.listing === null) return null
    const market = markets.find(symbol)
    if (!market.ok) return "The market is not offered any more."
    return haltRestriction(markets.haltOf(market.value))
  }
}

/** An open request to open a contract. */
const opens = (row: RfqRow): boolean => isOpen(row) && row.closeContractId === null

/** An order that may still open risk, and is not being cancelled. */
const rests = (row: OrderRow): boolean => isWorking(row) && row.state !== "PENDING_CANCEL" && opensRisk(row)
