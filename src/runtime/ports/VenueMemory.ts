/**
 * A venue in memory for tests and deterministic simulation: it accepts every call, executes each ref at most once, remembers void
 * refs, and publishes the result of each order in one numbered event. It has no books: an order ends without a fill. Delays,
 * faults and schedulers are given, so that runs are deterministic.
 */
import { type Cause, Effect, Layer, Queue, Stream } from "effect"
import type { VenueCallName, VenueOutcome, VenueRequest } from "../../machines/venue/venueCalls.ts"
import {
  type AccountFact,
  type VenueEvent,
  type VenueHeartbeat,
  venueStreamVersion
} from "../../machines/venue/VenueEvent.ts"
import type { VenueMarket } from "../../machines/venue/VenueMarket.ts"
import type { VenueAccount, VenueFill, VenueOrder } from "../../machines/venue/venueObjects.ts"
import { type UnreadableLine, Venue, VenueEventsGone, type VenueShape, VenueUnanswered } from "./Venue.ts"

/** A fault of one request. Times in scheduler ms. */
export interface RequestFault {
  /** The delay on the way to the venue; the delay on the way back. */
  readonly toVenue?: number
  readonly toCaller?: number
  /**
   * The request ("before") or its response ("after") is lost. The caller gets a broken connection; with `silent` it gets
   * nothing.
   */
  readonly lost?: "before" | "after"
  readonly silent?: boolean
  /** The venue refuses the request with this sentence. */
  readonly refused?: string
}

export interface VenueMemoryOptions {
  /** Business time at the venue, Unix ms. */
  readonly now: () => number
  /** Called once for each request that is sent; `refs` are the refs in it. */
  readonly fault?: (name: VenueCallName | "lookup" | "voidRefs", refs: ReadonlyArray<string>) => RequestFault
}

/** Runs a task after a delay, ms. */
type Schedule = (task: () => void, delayMillis: number) => void

/** The network between a process and the venue; by default the next turn of the event loop, or a timer. */
export interface Way {
  readonly toVenue: Schedule
  readonly toCaller: Schedule
}

const usualSchedule: Schedule = (task, delay) => void (delay === 0 ? setImmediate(task) : setTimeout(task, delay))
const usualWay: Way = { toVenue: usualSchedule, toCaller: usualSchedule }

export type Line = VenueEvent | VenueHeartbeat | UnreadableLine
type Reader = Queue.Queue<Line, VenueUnanswered | Cause.Done>

/** The only listed market. */
export const memoryMarket: VenueMarket = {
  symbol: "BTC-USDC-PERP",
  family: "PERP",
  base: "BTC",
  displayName: "Bitcoin perpetual",
  assetClass: "crypto",
  priceTick: "0.5",
  qtyStep: "0.001",
  minQty: "0.001",
  maxQty: "100",
  minNotional: "10",
  bandBps: 500,
  fundingIntervalHours: 8,
  halt: null,
  delisted: false
}
const memoryMark = "60000"

export class VenueMemory {
  /** How often each ref was received, and how often it was executed. */
  readonly came = new Map<string, number>()
  readonly executed = new Map<string, number>()
  readonly events: Array<VenueEvent> = []
  /** Events up to this number are no longer kept. */
  forgotten = 0
  requests = 0
  /** While true, no reader receives events. */
  deaf = false
  private readonly outcomes = new Map<string, VenueOutcome>()
  private readonly accounts = new Map<string, { readonly orders: Array<VenueOrder>; sequence: number }>()
  private readonly readers = new Set<(line: Line) => void>()
  private readonly enders = new Set<() => void>()
  private readonly options: VenueMemoryOptions

  constructor(options: VenueMemoryOptions) {
    this.options = options
  }

  layer(way: Way = usualWay): Layer.Layer<Venue> {
    return Layer.succeed(Venue, Venue.of(this.port(way)))
  }

  /** The venue as one process reaches it. */
  port(way: Way = usualWay): VenueShape {
    const exchange = <A>(
      name: VenueCallName | "lookup" | "voidRefs",
      refs: ReadonlyArray<string>,
      answer: (fault: RequestFault) => A
    ): Effect.Effect<A, VenueUnanswered> => this.carry(way, this.options.fault?.(name, refs) ?? {}, answer)
    const read = <A>(answer: () => A) => this.carry(way, {}, answer)
    const unmade = Effect.fail(new VenueUnanswered({ reason: "this venue has no such read" }))
    return {
      listing: read(() => ({ version: 1, at: this.options.now(), markets: [memoryMarket], stakingMarkets: [] })),
      offers: read(() => ({ offers: [], at: this.options.now() })),
      clock: read(this.options.now),
      snapshot: ({ channel, symbol }) =>
        channel !== "ticker" || symbol !== memoryMarket.symbol
          ? unmade
          : read(() => ({
              channel,
              kind: "snapshot" as const,
              symbol,
              seq: 1,
              ts: this.options.now(),
              last: memoryMark,
              mark: memoryMark,
              index: memoryMark,
              bestBid: null,
              bestAsk: null,
              volume24h: "0",
              openInterest: "0",
              funding: null
            })),
      klines: () => unmade,
      account: (account) => read(() => this.accountOf(account)),
      accountEvents: (account, after) =>
        read(() =>
          this.events
            .filter(({ fact }) => "account" in fact && fact.account === account && fact.sequence > after)
            .slice(0, 1_000)
        ),
      orderFills: (ref) => read(() => (this.outcomeOf(ref).order === null ? null : this.fillsOf(ref))),
      lookup: (refs) => Effect.suspend(() => exchange("lookup", refs, () => refs.map((ref) => this.outcomeOf(ref)))),
      voidRefs: (refs) =>
        Effect.suspend(() =>
          exchange("voidRefs", refs, () =>
            refs.map((ref) => {
              if (!this.outcomes.has(ref)) this.outcomes.set(ref, this.plain(ref, "VOID", null))
              return this.outcomeOf(ref)
            })
          )
        ),
      write: (name, request) =>
        Effect.suspend(() => exchange(name, [request.ref], ({ refused }) => this.take(name, request, refused ?? null))),
      events: (after) => this.stream(way, after),
      // Market data has heartbeats only.
      marketData: () =>
        Stream.concat(
          Stream.sync(() => this.heartbeat()),
          Stream.never
        )
    }
  }

  outcomeOf(ref: string): VenueOutcome {
    return this.outcomes.get(ref) ?? this.plain(ref, "UNKNOWN", null)
  }

  /** The published fills of an order. */
  private fillsOf(ref: string): ReadonlyArray<VenueFill> {
    return this.events.flatMap(({ fact }) => (fact.type === "fill" && fact.fill.ref === ref ? [fact.fill] : []))
  }

  /** Publishes an event of an account, at the current or another time. Returns the event. */
  publish(
    account: string,
    fact: (stamp: { readonly account: string; readonly sequence: number }) => AccountFact,
    at = this.options.now()
  ): VenueEvent {
    const state = this.stateOf(account)
    const event = {
      number: this.events.length + 1,
      at,
      fact: fact({ account, sequence: ++state.sequence })
    }
    this.events.push(event)
    this.send(event)
    return event
  }

  /** Skips one sequence number of an account, as if its event were lost. */
  skip(account: string): void {
    this.stateOf(account).sequence++
  }

  /** Sends any line to every reader. */
  send(line: Line): void {
    if (this.deaf) return
    for (const reader of this.readers) reader(line)
  }

  heartbeat(): VenueHeartbeat {
    return { heartbeat: true, version: venueStreamVersion, number: this.events.length, at: this.options.now() }
  }

  /** Ends every stream. */
  disconnect(): void {
    for (const end of this.enders) end()
  }

  private carry<A>(
    way: Way,
    fault: RequestFault,
    answer: (fault: RequestFault) => A
  ): Effect.Effect<A, VenueUnanswered> {
    return Effect.callback<A, VenueUnanswered>((resume) => {
      this.requests++
      const { lost, silent = false, toVenue = 0, toCaller = 0 } = fault
      const broken = () => {
        if (!silent)
          way.toCaller(() => resume(Effect.fail(new VenueUnanswered({ reason: "connection lost" }))), toCaller)
      }
      way.toVenue(() => {
        if (lost === "before") return broken()
        const answered = answer(fault)
        if (lost === "after") return broken()
        way.toCaller(() => resume(Effect.succeed(answered)), toCaller)
      }, toVenue)
    })
  }

  private take(name: VenueCallName, request: VenueRequest<VenueCallName>, refused: string | null): VenueOutcome {
    const { ref, account } = request
    this.came.set(ref, (this.came.get(ref) ?? 0) + 1)
    const known = this.outcomes.get(ref)
    if (known !== undefined) return known
    if (refused !== null) return this.keep(this.plain(ref, "REFUSED", refused))
    this.executed.set(ref, (this.executed.get(ref) ?? 0) + 1)
    const state = this.stateOf(account)
    if (name !== "placeOrder") return this.keep(this.plain(ref, "EXECUTED", null))
    const { symbol, side, price, qty, tif, reduceOnly, trigger, group } = request as VenueRequest<"placeOrder">
    const order: VenueOrder = {
      id: this.outcomes.size + 1,
      ref,
      account,
      symbol,
      side,
      price,
      qty,
      filledQty: "0",
      tif,
      reduceOnly,
      trigger,
      group,
      state: "CANCELLED",
      reason: null,
      triggeredAt: null
    }
    state.orders.push(order)
    const outcome = this.keep({ ...this.plain(ref, "EXECUTED", null), order })
    this.publish(account, (stamp) => ({ type: "order", ...stamp, order }))
    return outcome
  }

  private keep(outcome: VenueOutcome): VenueOutcome {
    this.outcomes.set(outcome.ref, outcome)
    return outcome
  }

  private plain(ref: string, outcome: VenueOutcome["outcome"], reason: string | null): VenueOutcome {
    return { ref, outcome, reason, at: this.options.now(), order: null, rfq: null, contract: null, swap: null }
  }

  private stateOf(account: string) {
    let state = this.accounts.get(account)
    if (state === undefined) this.accounts.set(account, (state = { orders: [], sequence: 0 }))
    return state
  }

  private accountOf(account: string): VenueAccount | null {
    const state = this.accounts.get(account)
    if (state === undefined) return null
    const nothing = { positions: [], contracts: [], swaps: [], money: [] }
    return { ...nothing, account, sequence: state.sequence, orders: state.orders }
  }

  private stream({ toCaller }: Way, after: number): Stream.Stream<Line, VenueUnanswered | VenueEventsGone> {
    if (after < this.forgotten || after > this.events.length) return Stream.fail(new VenueEventsGone({ after }))
    return Stream.callback<Line, VenueUnanswered>(
      (queue: Reader) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            const read = (line: Line) => toCaller(() => void Queue.offerUnsafe(queue, line), 0)
            const end = () => toCaller(() => void Queue.endUnsafe(queue), 0)
            read(this.heartbeat())
            for (const event of this.events.slice(after)) read(event)
            this.readers.add(read)
            this.enders.add(end)
            return { read, end }
          }),
          ({ read, end }) =>
            Effect.sync(() => {
              this.readers.delete(read)
              this.enders.delete(end)
            })
        ),
      { bufferSize: 100_000, strategy: "dropping" }
    )
  }
}
