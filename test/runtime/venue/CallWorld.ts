/**
 * Processes of the service over one memory store and one memory venue, in virtual time, for tests of venue calls and
 * events: the tests run, kill and freeze processes, and lose answers. No wait takes real time.
 */
import { Clock, Context, Effect, Exit, Layer, Logger, References, Scope } from "effect"
import { ActorHost, type Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../../src/runtime/engine/clock/BusinessClock.ts"
import { Journal } from "../../../src/runtime/engine/journal/Journal.ts"
import { makeJournalMemory } from "../../../src/runtime/engine/journal/JournalMemory.ts"
import { MemoryStore } from "../../../src/runtime/engine/journal/MemoryStore.ts"
import { RowReads } from "../../../src/runtime/ports/RowReads.ts"
import { RowReadsMemory } from "../../../src/runtime/ports/RowReadsMemory.ts"
import { Venue, type VenueShape } from "../../../src/runtime/ports/Venue.ts"
import { VenueMemory, type VenueMemoryOptions } from "../../../src/runtime/ports/VenueMemory.ts"
import { LastListing } from "../../../src/runtime/services/market/LastListing.ts"
import { callsEnded, VenueGateway } from "../../../src/runtime/services/venue/VenueGateway.ts"
import { VenueCalls } from "../../../src/runtime/services/venue/VenueCalls.ts"
import { VenueProgress } from "../../../src/runtime/ports/VenueProgress.ts"
import { VenueEvents } from "../../../src/runtime/services/venue/VenueEvents.ts"
import { VenueLink } from "../../../src/runtime/services/venue/VenueLink.ts"
import type { Quoted } from "../../../src/runtime/services/venue/VenueHandler.ts"
import { Directory } from "../../../src/runtime/services/partners/Directory.ts"
import { QuoteBoard } from "../../../src/runtime/services/trading/rfq/QuoteBoard.ts"
import { OutOfSync } from "../../../src/runtime/services/venue/OutOfSync.ts"
import { venueHandlers } from "../../../src/runtime/services/operations/registries/VenueHandlers.ts"
import { start } from "../../../src/runtime/effects/advance.ts"
import { Lane, LaneKilled, Timeline } from "../../simulation/Timeline.ts"
import { sampleRows } from "../engine/fixtures.ts"

const by = { role: "ADMIN", keyLabel: "test", requestId: "test", actor: "ADMIN" }

/** Unix ms. */
export const begin = 1_795_000_000_000

export const uidOf = (clientId: number): string => `ACM-${String(clientId).padStart(8, "0")}`

type Services =
  | ActorHost
  | Venue
  | BusinessClock
  | VenueGateway
  | Journal
  | RowReads
  | VenueCalls
  | VenueEvents
  | VenueLink
  | VenueProgress

export class CallWorld {
  readonly timeline = new Timeline(begin)
  readonly store = new MemoryStore()
  readonly outside = new Lane(this.timeline, "outside")
  readonly venue: VenueMemory
  readonly processes: Array<CallProcess> = []
  /** The errors that processes have logged. */
  readonly errors: Array<string> = []

  /** Replaces the venue that a process, and its host, use. */
  readonly bend: (venue: VenueShape) => VenueShape
  bendHost: (host: ActorHost["Service"]) => ActorHost["Service"] = (host) => host
  /** Quotes that processes received, as if probes had quotes. */
  readonly quotes: Array<Quoted> = []
  /** Called with every log message of the processes. */
  onLog: (message: string) => void = () => {}

  constructor(
    fault: NonNullable<VenueMemoryOptions["fault"]> = () => ({}),
    bend: (venue: VenueShape) => VenueShape = (venue) => venue
  ) {
    this.bend = bend
    this.venue = new VenueMemory({ now: () => this.timeline.now, fault })
  }

  /** Starts a process, which takes over the store from the previous one. */
  launch(): CallProcess {
    const process = new CallProcess(this, `p${this.processes.length + 1}`)
    this.processes.push(process)
    this.run(1)
    return process
  }

  /** Lets this time pass, ms. */
  run(millis: number): void {
    this.timeline.run(this.timeline.now + millis)
  }

  /** Stored refs of calls in flight. */
  get inFlight(): ReadonlyArray<string> {
    return this.store.rows("venueCalls").map(({ ref }) => ref)
  }

  /** Stored states of the probes, by id. */
  get probes(): ReadonlyMap<number, string> {
    return new Map(this.store.rows("venueProbes").map(({ id, state }) => [id, state]))
  }
}

const probing = (clientId: number, calls: number) =>
  Effect.flatMap(ActorHost, (host) =>
    host.dispatch({
      subject: `client:${clientId}`,
      by,
      decide: (turn) => {
        if (turn.state.one("clients") === undefined) {
          const { clients } = sampleRows(clientId)
          turn.draft.put("clients", { ...clients, uid: uidOf(clientId), partnerClientRef: `ref-${clientId}` })
        }
        return Array.from({ length: calls }, () => startProbe(turn, clientId))
      }
    })
  )

export class CallProcess {
  readonly lane: Lane
  private readonly world: CallWorld
  private context: Context.Context<Services> | null = null

  constructor(world: CallWorld, name: string) {
    this.world = world
    this.lane = new Lane(world.timeline, name)
    const { store, venue, outside } = world
    const { lane } = this
    const journal = makeJournalMemory({
      store,
      owner: name,
      defects: (sentence, cause) => {
        if (!(cause instanceof LaneKilled)) throw new Error(sentence, { cause })
      },
      wall: () => lane.clock.currentTimeMillisUnsafe(),
      schedule: (task, delay) => void lane.after(delay, task)
    })
    const base = Layer.mergeAll(
      Layer.succeed(Journal, journal),
      BusinessClock.layer(0),
      RowReadsMemory.layer({ store }),
      Layer.succeed(
        Venue,
        world.bend(
          venue.port({
            toVenue: (task, delay) => void outside.after(delay, task),
            toCaller: (task, delay) => void outside.after(delay, () => void lane.after(0, task))
          })
        )
      )
    )
    const host = Layer.effect(
      ActorHost,
      Effect.map(ActorHost, (made) => ActorHost.of(world.bendHost(made)))
    )
    const engine = host.pipe(
      Layer.provide(ActorHost.layer({ residentLimit: 100_000 })),
      Layer.provideMerge(LastListing.layer),
      Layer.provideMerge(base)
    )
    const handlers = Effect.map(venueHandlers, (made) => ({
      ...made,
      venueProbe: { ...made.venueProbe, quoted: (quoted: Quoted) => void world.quotes.push(quoted) }
    }))
    const layer = Layer.mergeAll(
      VenueCalls.layer(handlers),
      VenueEvents.layer(handlers).pipe(Layer.provideMerge(VenueLink.layer))
    ).pipe(
      Layer.provideMerge(VenueGateway.layer),
      Layer.provide(Layer.mergeAll(Directory.layer, QuoteBoard.layer, OutOfSync.layer)),
      Layer.provideMerge(engine)
    )
    this.fork(Layer.buildWithScope(layer, Scope.makeUnsafe()), (exit) => {
      if (Exit.isFailure(exit)) throw new Error(`${name} does not start`, { cause: exit.cause })
      this.context = exit.value
    })
  }

  /** Runs an effect in this process; holds its result once it has ended. */
  run<A, E>(effect: Effect.Effect<A, E, Services>): { readonly exit: Exit.Exit<A, E> | null } {
    const { context } = this
    if (context === null) throw new Error("the process has not started")
    const heard: { exit: Exit.Exit<A, E> | null } = { exit: null }
    this.lane.after(0, () => this.fork(Effect.provideContext(effect, context), (exit) => (heard.exit = exit)))
    return heard
  }

  /** Starts this number of probes of a client in one commit. */
  probe(clientId: number, calls: number): { readonly exit: Exit.Exit<ReadonlyArray<number>, unknown> | null } {
    return this.run(probing(clientId, calls))
  }

  /** Starts a probe of each client, 64 at a time, each once there is room for its call. */
  probeInRoom(clientIds: ReadonlyArray<number>): { readonly exit: Exit.Exit<void, unknown> | null } {
    const one = (clientId: number) =>
      Effect.flatMap(VenueCalls, ({ room }) => Effect.andThen(room, probing(clientId, 1)))
    return this.run(Effect.forEach(clientIds, one, { concurrency: 64, discard: true }))
  }

  /** Waits up to 5 s until no call is in flight under these refs. False: some still are. */
  known(clientId: number, refs: ReadonlyArray<string>): { readonly exit: Exit.Exit<boolean, unknown> | null } {
    return this.run(Effect.flatMap(ActorHost, (host) => callsEnded(host, clientId, refs)))
  }

  get link() {
    if (this.context === null) throw new Error("the process has not started")
    return Context.get(this.context, VenueLink).state()
  }

  /** Whether the events up to this number are processed, by the check of a clock jump. */
  isAt(number: number): boolean {
    if (this.context === null) throw new Error("the process has not started")
    return Context.get(this.context, VenueProgress).isAt(number)
  }

  get events() {
    if (this.context === null) throw new Error("the process has not started")
    return Context.get(this.context, VenueEvents).figures()
  }

  get figures() {
    if (this.context === null) throw new Error("the process has not started")
    return Context.get(this.context, VenueCalls).figures()
  }

  private fork<A, E>(effect: Effect.Effect<A, E>, done: (exit: Exit.Exit<A, E>) => void): void {
    const { lane, world } = this
    const logger = Logger.make(({ logLevel, message }) => {
      world.onLog(String(message))
      if (logLevel === "Error" || logLevel === "Fatal") world.errors.push(String(message))
    })
    const fiber = Effect.runFork(
      effect.pipe(
        Effect.provideService(Clock.Clock, lane.clock),
        Effect.provideService(References.CurrentLoggers, new Set([logger]))
      ),
      { scheduler: lane.scheduler }
    )
    fiber.addObserver((exit) => {
      if (lane.alive) done(exit)
    })
  }
}

const startProbe = (turn: Turn, clientId: number): number => {
  const id = turn.nextId("venueProbe")
  const input = { symbol: "BTC-USDC-PERP", side: "BUY", price: "58500", qty: "0.001" } as const
  start(turn, "venueProbes", {
    input: { probeId: id, clientId, account: uidOf(clientId), ...input, startedAt: turn.now },
    columns: { id, partnerId: 1, clientId, startedAt: turn.now }
  })
  return id
}
