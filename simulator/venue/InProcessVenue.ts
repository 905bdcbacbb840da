/**
 * The simulated venue's core behind the service's port, in the same process: for deterministic simulation and tests. It has no
 * clock and no randomness of its own; its owner supplies the scheduler, the faults, and the passage of business time.
 */
import { type Cause, Effect, Queue, Stream } from "effect"
import type { ChannelMessage } from "../../src/machines/venue/marketData.ts"
import type { VenueCallName, VenueOutcome, VenueRequest } from "../../src/machines/venue/venueCalls.ts"
import { type VenueEvent, type VenueHeartbeat, venueStreamVersion } from "../../src/machines/venue/VenueEvent.ts"
import { VenueEventsGone, type VenueShape, VenueUnanswered } from "../../src/runtime/ports/Venue.ts"
import type { VenueInput, VenueOptions } from "./core/VenueInput.ts"
import { Venue } from "./core/Venue.ts"

/** The fault of one request. Times in scheduler ms. */
export interface RequestFault {
  readonly toVenue?: number
  readonly toCaller?: number
  /**
   * Whether the request (`before`) or its answer (`after`) is lost. `silent`: no error is reported; otherwise the connection
   * breaks.
   */
  readonly lost?: "before" | "after"
  readonly silent?: boolean
  /** The reason with which the venue refuses the call; absent: it executes the call. */
  readonly refused?: string
  /** How long a lookup hides the result of the call, ms of business time. */
  readonly lag?: number
}

/** The kind of a request: a call by name, a lookup of refs, or a plain read. */
export type RequestKind = VenueCallName | "lookup" | "voidRefs" | "read"

/** The delays, in ms, with which one event is delivered to readers. Two entries deliver the event twice; none drops it. */
export type Deliveries = ReadonlyArray<number>

type Schedule = (task: () => void, delayMillis: number) => void

/** The delays of a process's connection to the venue, in both directions. */
export interface Way {
  readonly toVenue: Schedule
  readonly toCaller: Schedule
  /** True once the process is dead. A dead process receives nothing more. */
  readonly gone?: () => boolean
}

export interface InProcessOptions {
  readonly venue: VenueOptions
  /** Called once for each request, with the refs that it names: a read names one when it reads the fills of an order. */
  readonly fault?: (name: RequestKind, refs: ReadonlyArray<string>) => RequestFault
  /** Decides how one event is delivered; called once for each event when it is published. */
  readonly deliveries?: (event: VenueEvent) => Deliveries
}

interface Reader<Line> {
  readonly read: (line: Line | "end", delayMillis?: number) => void
  readonly gone: () => boolean
}

const usualSchedule: Schedule = (task, delay) => void (delay === 0 ? setImmediate(task) : setTimeout(task, delay))
/** Limit on the lines that wait for a reader. A slower reader loses its lines, and has to read the events again. */
const readerLimit = 100_000

export class InProcessVenue {
  /** Number of calls that arrived with each ref. */
  readonly came = new Map<string, number>()
  private core: Venue
  private readonly options: InProcessOptions
  /** Ids of the orders published under each ref: the number of ids is the number of the ref's executions. */
  private readonly orders = new Map<string, Set<number>>()
  /** Refs that a lookup does not show yet, each with the business time from which a lookup shows it. */
  private readonly hidden = new Map<string, number>()
  private readonly eventReaders = new Set<Reader<VenueEvent | VenueHeartbeat>>()
  private readonly marketReaders = new Set<Reader<ChannelMessage | VenueHeartbeat>>()
  private readonly listeners = {
    event: (event: VenueEvent) => {
      const { fact } = event
      if ((fact.type === "order" || fact.type === "fill") && fact.order.ref !== null) {
        const { id, ref } = fact.order
        this.orders.set(ref, (this.orders.get(ref) ?? new Set<number>()).add(id))
      }
      for (const delay of this.options.deliveries?.(event) ?? [0]) send(this.eventReaders, event, delay)
    },
    market: (message: ChannelMessage) => send(this.marketReaders, message)
  }

  constructor(options: InProcessOptions) {
    this.options = options
    this.core = new Venue(options.venue, this.listeners)
  }

  get now(): number {
    return this.core.now
  }

  /** Number of the last event; 0 before the first. */
  get number(): number {
    return this.core.number
  }

  /** Number of orders that the published events show under a ref. More than one means that a request was executed twice. */
  executions(ref: string): number {
    return this.orders.get(ref)?.size ?? 0
  }

  /** True while the venue keeps the event of this number, so that it can be read again. */
  keeps(number: number): boolean {
    return number <= this.core.number && this.core.eventsAfter(number - 1) !== null
  }

  /** Number of open streams of each kind. */
  get streams(): { readonly events: number; readonly market: number } {
    return { events: this.eventReaders.size, market: this.marketReaders.size }
  }

  /** Advances the venue's business time to `to`, Unix ms, and executes what is due by then. */
  advance(to: number): void {
    this.core.apply({ type: "time", to })
  }

  apply(input: VenueInput): ReturnType<Venue["apply"]> {
    return this.core.apply(input)
  }

  lookup(refs: ReadonlyArray<string>): ReturnType<Venue["lookup"]> {
    return this.core.lookup(refs)
  }

  /** All objects and the money of an account; null for an unknown account. */
  account(name: string): ReturnType<Venue["account"]> {
    return this.core.account(name)
  }

  /** The money of every account in the venue's own books. */
  ledger(): ReturnType<Venue["ledger"]> {
    return this.core.ledger()
  }

  /** Sends a heartbeat with the number of the last event to every reader. */
  beat(): void {
    send(this.eventReaders, this.heartbeat())
    send(this.marketReaders, this.heartbeat())
  }

  /**
   * Simulates a restart after a crash: acknowledged inputs survive, connections are lost. At most `kept` events are retained.
   */
  restart(kept: number = Number.POSITIVE_INFINITY): void {
    const state = this.core.state()
    const { number, events } = state.events
    const left = events.slice(Math.max(0, events.length - kept))
    this.core = Venue.restore({ ...state, events: { number, events: left } }, this.listeners)
    this.disconnect()
  }

  /** Ends every stream, as a broken connection does. */
  disconnect(): void {
    send(this.eventReaders, "end")
    send(this.marketReaders, "end")
  }

  /** The venue as one process sees it: the delays and faults of its connection (`way`) apply to every call and stream. */
  port(way: Way = { toVenue: usualSchedule, toCaller: usualSchedule }): VenueShape {
    const { toVenue, toCaller } = way
    const exchange = <A>(fault: RequestFault, answer: () => A | VenueUnanswered): Effect.Effect<A, VenueUnanswered> =>
      Effect.callback<A, VenueUnanswered>((resume) => {
        const { lost, silent = false, toVenue: there = 0, toCaller: back = 0 } = fault
        const broken = (): void => {
          if (!silent) toCaller(() => resume(Effect.fail(unanswered("the connection broke"))), back)
        }
        toVenue(() => {
          if (lost === "before") return broken()
          const given = answer()
          if (lost === "after") return broken()
          toCaller(() => resume(given instanceof VenueUnanswered ? Effect.fail(given) : Effect.succeed(given)), back)
        }, there)
      })
    const faultOf = (name: RequestKind, refs: ReadonlyArray<string>): RequestFault =>
      this.options.fault?.(name, refs) ?? {}
    const read = <A>(answer: () => A | VenueUnanswered, refs: ReadonlyArray<string> = []) =>
      Effect.suspend(() => exchange(faultOf("read", refs), answer))
    const known = <A>(found: A | null): A | VenueUnanswered => found ?? unanswered("VenueNotFound")
    return {
      listing: read(() => this.core.listing()),
      offers: read(() => ({ offers: this.core.offers(), at: this.core.now })),
      clock: read(() => this.core.now),
      snapshot: ({ channel, symbol }) => read(() => known(this.core.snapshot(channel, symbol))),
      klines: (window) => read(() => known(this.core.klines(window))),
      account: (name) => read(() => this.core.account(name)),
      accountEvents: (name, after) => read(() => this.core.accountEvents(name, after) ?? []),
      orderFills: (ref) => read(() => (this.isHidden(ref) ? null : this.core.orderFills(ref)), [ref]),
      lookup: (refs) => Effect.suspend(() => exchange(faultOf("lookup", refs), () => this.seen(refs))),
      voidRefs: (refs) =>
        Effect.suspend(() =>
          exchange(faultOf("voidRefs", refs), () => this.core.apply({ type: "void", refs }).outcomes)
        ),
      write: (name, request) =>
        Effect.suspend(() => {
          const fault = faultOf(name, [request.ref])
          return exchange(fault, () => known(this.take(name, request, fault)))
        }),
      events: (after) =>
        Stream.unwrap(
          Effect.suspend(() => {
            const kept = this.core.eventsAfter(after)
            return kept === null
              ? Effect.fail(new VenueEventsGone({ after }))
              : Effect.succeed(this.stream(this.eventReaders, way, [this.heartbeat(), ...kept]))
          })
        ),
      marketData: (subscriptions) => {
        const wanted = new Set(subscriptions.map(({ channel, symbol }) => `${channel}:${symbol}`))
        return Stream.unwrap(
          Effect.suspend(() => {
            const snapshots = subscriptions.map(({ channel, symbol }) => this.core.snapshot(channel, symbol))
            if (snapshots.includes(null)) return Effect.fail(unanswered("VenueNotFound"))
            const whole = snapshots.filter((message) => message !== null)
            return Effect.succeed(this.stream(this.marketReaders, way, [this.heartbeat(), ...whole]))
          })
        ).pipe(Stream.filter((line) => "heartbeat" in line || wanted.has(`${line.channel}:${line.symbol}`)))
      }
    }
  }

  private take(name: VenueCallName, request: VenueRequest<VenueCallName>, fault: RequestFault): VenueOutcome | null {
    const { ref } = request
    const { refused: reason, lag } = fault
    this.came.set(ref, (this.came.get(ref) ?? 0) + 1)
    if (lag !== undefined) this.hidden.set(ref, this.now + lag)
    // The types can't show that the request belongs to the name; the port's own methods guarantee it.
    const input = (
      reason === undefined ? { type: "call", name, request } : { type: "decline", reason, name, request }
    ) as VenueInput
    return this.core.apply(input).outcomes[0] ?? null
  }

  /** The outcomes that a lookup shows now. A ref whose result is still hidden counts as not arrived. */
  private seen(refs: ReadonlyArray<string>): ReadonlyArray<VenueOutcome> {
    return this.core.lookup(refs).map((outcome) => {
      if (!this.isHidden(outcome.ref)) return outcome
      return { ...outcome, outcome: "UNKNOWN", reason: null, order: null, rfq: null, contract: null, swap: null }
    })
  }

  private isHidden(ref: string): boolean {
    return (this.hidden.get(ref) ?? 0) > this.now
  }

  private heartbeat(): VenueHeartbeat {
    return { heartbeat: true, version: venueStreamVersion, number: this.core.number, at: this.core.now }
  }

  private stream<Line>(
    readers: Set<Reader<Line>>,
    { toCaller, gone = () => false }: Way,
    first: ReadonlyArray<Line>
  ): Stream.Stream<Line, VenueUnanswered> {
    return Stream.callback<Line, VenueUnanswered>(
      (queue: Queue.Queue<Line, VenueUnanswered | Cause.Done>) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            const reader: Reader<Line> = {
              gone,
              read: (line, delay = 0) =>
                toCaller(() => void (line === "end" ? Queue.endUnsafe(queue) : Queue.offerUnsafe(queue, line)), delay)
            }
            for (const line of first) reader.read(line)
            readers.add(reader)
            return reader
          }),
          (reader) => Effect.sync(() => readers.delete(reader))
        ),
      { bufferSize: readerLimit, strategy: "dropping" }
    )
  }
}

/** Sends to every reader whose process is alive; the others are removed. */
const send = <Line>(readers: Set<Reader<Line>>, line: Line | "end", delayMillis = 0): void => {
  for (const reader of readers) {
    if (reader.gone()) readers.delete(reader)
    else reader.read(line, delayMillis)
  }
}

const unanswered = (reason: string): VenueUnanswered => new VenueUnanswered({ reason })
