/**
 * The simulated venue's core behind the service's port, in this process: for deterministic simulation and tests. It has no
 * time and no chance of its own; who owns it gives the scheduler, the faults, and the passing of business time.
 */
import { type Cause, Effect, Queue, Stream } from "effect"
import type { ChannelMessage } from "../../src/machines/venue/marketData.ts"
import type { VenueCallName } from "../../src/machines/venue/venueCalls.ts"
import { type VenueEvent, type VenueHeartbeat, venueStreamVersion } from "../../src/machines/venue/VenueEvent.ts"
import { VenueEventsGone, type VenueShape, VenueUnanswered } from "../../src/runtime/ports/Venue.ts"
import type { VenueInput, VenueOptions } from "./core/VenueInput.ts"
import { Venue } from "./core/Venue.ts"

/** What goes wrong with one request. Times in scheduler ms. */
export interface RequestFault {
  readonly toVenue?: number
  readonly toCaller?: number
  /** It never comes to the venue, or its answer never comes back; silently, or as a connection that breaks. */
  readonly lost?: "before" | "after"
  readonly silent?: boolean
}

/** What becomes of an event on its way to readers: how often it comes, each after so many ms. Empty: it is dropped. */
export type Deliveries = ReadonlyArray<number>

type Schedule = (task: () => void, delayMillis: number) => void

/** A process's way to the venue and back. */
export interface Way {
  readonly toVenue: Schedule
  readonly toCaller: Schedule
}

export interface InProcessOptions {
  readonly venue: VenueOptions
  readonly fault?: (name: VenueCallName | "lookup" | "voidRefs", refs: ReadonlyArray<string>) => RequestFault
  readonly deliveries?: (event: VenueEvent) => Deliveries
}

type Reader<Line> = (line: Line | "end", delayMillis?: number) => void

const usualSchedule: Schedule = (task, delay) => void (delay === 0 ? setImmediate(task) : setTimeout(task, delay))
/** Lines that wait for a reader; one that is further behind loses them, and asks again. */
const readerLimit = 100_000

export class InProcessVenue {
  private core: Venue
  private readonly options: InProcessOptions
  private readonly eventReaders = new Set<Reader<VenueEvent | VenueHeartbeat>>()
  private readonly marketReaders = new Set<Reader<ChannelMessage | VenueHeartbeat>>()
  private readonly listeners = {
    event: (event: VenueEvent) => {
      for (const delay of this.options.deliveries?.(event) ?? [0]) {
        for (const read of this.eventReaders) read(event, delay)
      }
    },
    market: (message: ChannelMessage) => {
      for (const read of this.marketReaders) read(message)
    }
  }

  constructor(options: InProcessOptions) {
    this.options = options
    this.core = new Venue(options.venue, this.listeners)
  }

  get now(): number {
    return this.core.now
  }

  /** Business time passes. */
  advance(to: number): void {
    this.core.apply({ type: "time", to })
  }

  apply(input: VenueInput): ReturnType<Venue["apply"]> {
    return this.core.apply(input)
  }

  lookup(refs: ReadonlyArray<string>): ReturnType<Venue["lookup"]> {
    return this.core.lookup(refs)
  }

  /** To every reader: that it lives, and how far it is. */
  beat(): void {
    for (const read of this.eventReaders) read(this.heartbeat())
    for (const read of this.marketReaders) read(this.heartbeat())
  }

  /** As after a crash: what it acknowledged is there, every connection is gone. */
  restart(): void {
    this.core = Venue.restore(this.core.state(), this.listeners)
    for (const read of this.eventReaders) read("end")
    for (const read of this.marketReaders) read("end")
  }

  /** The venue as one process reaches it. */
  port({ toVenue, toCaller }: Way = { toVenue: usualSchedule, toCaller: usualSchedule }): VenueShape {
    const ask = <A>(fault: RequestFault, answer: () => A | VenueUnanswered): Effect.Effect<A, VenueUnanswered> =>
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
    const read = <A>(answer: () => A | VenueUnanswered) => ask({}, answer)
    const faultOf = (name: VenueCallName | "lookup" | "voidRefs", refs: ReadonlyArray<string>): RequestFault =>
      this.options.fault?.(name, refs) ?? {}
    const known = <A>(found: A | null): A | VenueUnanswered => found ?? unanswered("VenueNotFound")
    return {
      listing: read(() => this.core.listing()),
      offers: read(() => ({ offers: this.core.offers(), at: this.core.now })),
      clock: read(() => this.core.now),
      snapshot: ({ channel, symbol }) => read(() => known(this.core.snapshot(channel, symbol))),
      klines: (window) => read(() => known(this.core.klines(window))),
      account: (name) => read(() => this.core.account(name)),
      accountEvents: (name, after) => read(() => this.core.accountEvents(name, after) ?? []),
      lookup: (refs) => Effect.suspend(() => ask(faultOf("lookup", refs), () => this.core.lookup(refs))),
      voidRefs: (refs) =>
        Effect.suspend(() => ask(faultOf("voidRefs", refs), () => this.core.apply({ type: "void", refs }).outcomes)),
      write: (name, request) =>
        Effect.suspend(() =>
          ask(faultOf(name, [request.ref]), () => {
            // Name and request belong together by the port's own type.
            const [outcome] = this.core.apply({ type: "call", name, request } as VenueInput).outcomes
            return known(outcome ?? null)
          })
        ),
      events: (after) =>
        Stream.unwrap(
          Effect.suspend(() => {
            const kept = this.core.eventsAfter(after)
            return kept === null
              ? Effect.fail(new VenueEventsGone({ after }))
              : Effect.succeed(this.stream(this.eventReaders, toCaller, [this.heartbeat(), ...kept]))
          })
        ),
      marketData: (subscriptions) => {
        const wanted = new Set(subscriptions.map(({ channel, symbol }) => `${channel}:${symbol}`))
        return Stream.unwrap(
          Effect.suspend(() => {
            const snapshots = subscriptions.map(({ channel, symbol }) => this.core.snapshot(channel, symbol))
            if (snapshots.includes(null)) return Effect.fail(unanswered("VenueNotFound"))
            const whole = snapshots.filter((message) => message !== null)
            return Effect.succeed(this.stream(this.marketReaders, toCaller, [this.heartbeat(), ...whole]))
          })
        ).pipe(Stream.filter((line) => "heartbeat" in line || wanted.has(`${line.channel}:${line.symbol}`)))
      }
    }
  }

  private heartbeat(): VenueHeartbeat {
    return { heartbeat: true, version: venueStreamVersion, number: this.core.number, at: this.core.now }
  }

  private stream<Line>(
    readers: Set<Reader<Line>>,
    toCaller: Schedule,
    first: ReadonlyArray<Line>
  ): Stream.Stream<Line, VenueUnanswered> {
    return Stream.callback<Line, VenueUnanswered>(
      (queue: Queue.Queue<Line, VenueUnanswered | Cause.Done>) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            const read: Reader<Line> = (line, delay = 0) =>
              toCaller(() => void (line === "end" ? Queue.endUnsafe(queue) : Queue.offerUnsafe(queue, line)), delay)
            for (const line of first) read(line)
            readers.add(read)
            return read
          }),
          (read) => Effect.sync(() => readers.delete(read))
        ),
      { bufferSize: readerLimit, strategy: "dropping" }
    )
  }
}

const unanswered = (reason: string): VenueUnanswered => new VenueUnanswered({ reason })
