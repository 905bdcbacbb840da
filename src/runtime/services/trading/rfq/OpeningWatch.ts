/**
 * Ends a request to open a contract if its client may no longer take new risk at all, or in the request's market. The
 * causes are a restriction, a client or partner that is not ACTIVE, a halt, and a delisted market. The reason is the
 * sentence of the gate that would refuse the request now. An end of the partner's reliance is no cause: onboarded
 * clients keep trading. Requests to close stay open. A request with an accept in flight is checked again after the
 * outcome (A1-50, A2-101, D4).
 */
import { Effect, Latch, Layer } from "effect"
import { openingRestriction } from "../../../../machines/client/openingRisk.ts"
import { isWorking, workingStates } from "../../../../machines/order/Order.ts"
import { openRfqStates } from "../../../../machines/rfq/Rfq.ts"
import { haltRestriction, partnerRestriction } from "../../../../machines/client/openingGates.ts"
import { ActorHost, type Attribution, type Turn } from "../../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import type { Tables } from "../../../tables/Catalogue.ts"
import type { RfqRow } from "../../../tables/rfq.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { OrderRow } from "../../../tables/order.ts"
import { clientContext, clientSubject, instanceOf } from "../../account/clientState.ts"
import { MarketFeed } from "../../market/MarketFeed.ts"
import { subscribe } from "../../../subscriptions.ts"
import { cancelOpeningOrders, opensRisk } from "../order/orderDecisions.ts"
import { Directory } from "../../partners/Directory.ts"
import { partnerOfTurn } from "../../partners/partnerOfTurn.ts"
import { type ContractMarkets, contractMarkets } from "./contractMarkets.ts"
import { cancelOpeningRequests, isOpen } from "./rfqDecisions.ts"
import { rfqsInTurn } from "../../account/contractHoldings.ts"

/** Clients that are checked concurrently. */
const atOnce = 64
/** The interval of checks of the venue's listing, and the pause before a retry, ms. */
const checkEvery = 1_000
const pageLength = 500

const by: Attribution = { role: "SYSTEM", keyLabel: "risk", requestId: "risk", actor: "system:risk" }

interface Parts {
  readonly host: ActorHost["Service"]
  readonly directory: Directory["Service"]
  readonly stored: RowReads["Service"]
  readonly feed: MarketFeed["Service"]
  readonly markets: ContractMarkets
}

export const layerOpeningWatch = Layer.effectDiscard(
  Effect.gen(function* () {
    const watch = new OpeningWatch({
      host: yield* ActorHost,
      directory: yield* Directory,
      stored: yield* RowReads,
      feed: yield* MarketFeed,
      markets: yield* contractMarkets
    })
    yield* watch.begin
    yield* Effect.forkScoped(watch.run)
    yield* Effect.forkScoped(watch.follow)
  })
)

class OpeningWatch {
  private readonly parts: Parts
  /** The owner of each open request to open a contract, and of each working order that could open risk, by object. */
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

  /** Loads the open requests and the working orders at the start. */
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
        return Effect.forEach(wanted, (clientId) => this.check(clientId), { concurrency: atOnce, discard: true })
      })
    ),
    Effect.forever({ disableYield: true })
  )

  /** Checks all clients after each change of the venue's listing or halts, in an endless loop. */
  readonly follow: Effect.Effect<never> = Effect.sync(() => {
    const { listing } = this.parts.feed.mirror
    if (listing === this.listing) return
    this.listing = listing
    this.wantThose(() => true)
  }).pipe(Effect.andThen(Effect.sleep(checkEvery)), Effect.forever({ disableYield: true }))

  private take(table: "rfqs" | "orders", { id, clientId, partnerId }: RfqRow | OrderRow, isOpening: boolean): void {
    const name = `${table} ${id}`
    if (!isOpening) return void this.clients.delete(name)
    // A resting order was checked when it began to rest. A request may have been skipped because of an accept in
    // flight.
    const wasChecked = table === "orders" && this.clients.has(name)
    this.clients.set(name, { clientId, partnerId })
    if (!wasChecked) this.want(clientId)
  }

  private wantThose(which: (of: { readonly clientId: number; readonly partnerId: number }) => boolean): void {
    for (const of of this.clients.values()) if (which(of)) this.want(of.clientId)
  }

  private want(clientId: number): void {
    this.wanted.add(clientId)
    this.wake.openUnsafe()
  }

  /** Checks a client. Takes a turn only if a request or order has to end. */
  private check(clientId: number): Effect.Effect<void> {
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
      Effect.logWarning(
        `requests and orders of client ${clientId} that open risk could not be cancelled: the service tries again in a second`,
        cause
      ).pipe(Effect.andThen(Effect.sleep(checkEvery)), Effect.andThen(Effect.sync(() => this.want(clientId))))
    )
  }

  /** Cancels the opening orders of a restricted client. A halt alone does not cancel resting orders. */
  private cancelOrders(turn: Turn, client: ClientRow): void {
    const restriction = this.restrictionOf(client)
    const partner = restriction === null ? null : partnerOfTurn(turn, this.parts.directory, client)
    if (restriction !== null && partner !== null) {
      cancelOpeningOrders({ turn, of: instanceOf(client, partner) }, restriction)
    }
  }

  /** The reason why the client may open no risk in any market; null: it may. */
  private restrictionOf(client: ClientRow): string | null {
    const partnerState = this.parts.directory.partner(client.partnerId)?.row.state ?? "CLOSED"
    return openingRestriction(client.state, clientContext(client).restrictions) ?? partnerRestriction(partnerState)
  }

  /** The reason to end a request; null: it stays. */
  private reasonOf(row: RfqRow, client: ClientRow): string | null {
    if (!opens(row) || row.context.accepting !== null) return null
    return this.restrictionOf(client) ?? this.stoppedIn(row.symbol)
  }

  private stoppedIn(symbol: string): string | null {
    const { feed, markets } = this.parts
    // Before the first listing no market counts as delisted.
    if (feed.mirror.listing === null) return null
    const market = markets.find(symbol)
    if (!market.ok) return "The market is not offered any more."
    return haltRestriction(markets.haltOf(market.value))
  }
}

/** Whether a request is open and is one to open a contract. */
const opens = (row: RfqRow): boolean => isOpen(row) && row.closeContractId === null

/** Whether an order may still open risk and has no cancel in flight. */
const rests = (row: OrderRow): boolean => isWorking(row) && row.state !== "PENDING_CANCEL" && opensRisk(row)
