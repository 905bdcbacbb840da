/**
 * The venue of a simulation: the simulator's real core on virtual time, with faults from the seed. Requests and answers
 * are lost, late, unanswered or refused, and lookups lag. Events are dropped, doubled, late, out of order, unreadable
 * or absurd. Connections are cut, the venue restarts (sometimes without its events), and time jumps during a call.
 */
import { Effect, Stream } from "effect"
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { bases } from "../../simulator/venue/core/defaultMarkets.ts"
import {
  type RequestKind,
  type Deliveries,
  InProcessVenue,
  type RequestFault
} from "../../simulator/venue/InProcessVenue.ts"
import { lieOfFact, lieOfFill, lieOfOutcome } from "../../simulator/venue/core/lies.ts"
import { type AccountFact, refOfFact, type VenueEvent } from "../../src/machines/venue/VenueEvent.ts"
import type { VenueFill, VenueOrder } from "../../src/machines/venue/venueObjects.ts"
import type { VenueOutcome } from "../../src/machines/venue/venueCalls.ts"
import { ownerOfRef } from "../../src/machines/venue/venueRefs.ts"
import { answerWithin } from "../../src/runtime/services/venue/VenueGateway.ts"
import { type VenueShape, VenueUnanswered } from "../../src/runtime/ports/Venue.ts"
import { type LieKind, lieKinds } from "../../src/venue/testerTokens.ts"
import type { VenuePath } from "./Coverage.ts"
import type { Lane, Timeline } from "./Timeline.ts"
import { VenueDesk } from "./VenueDesk.ts"

export interface VenueLaneParts {
  readonly seed: number
  readonly timeline: Timeline
  /** The lane of the world outside: the venue lives as long as the run, not as long as a process of the service. */
  readonly outside: Lane
  readonly random: SeededRandom
  /** Receives each path that is taken. */
  readonly took: (path: VenuePath) => void
  /** Receives the names of calls as they leave a process. */
  readonly called: (refs: ReadonlyArray<string>) => void
  readonly note: (line: string) => void
}

export type AccountEvent = VenueEvent & { readonly fact: AccountFact }

/** Three markets of one base. They move by themselves only once a minute, to keep the cost of a seed low. */
const markets = bases
  .filter(({ base }) => base === "BTC")
  .map((base) => ({ ...base, families: ["SPOT", "PERP", "BARRIER"] as const, volatility: 0.3 }))
/** One level a side, so that a larger order is filled in part. */
const books = { "BTC-USDC-PERP": { levels: 1 }, "BTC-USDC": { levels: 1 } }
/** An order that trades at once does so in several trades, so that orders are filled in parts. */
const orders = { "BTC-USDC-PERP": { slices: 2 }, "BTC-USDC": { slices: 3 } }
const tickMillis = 60_000
/** One seed in this many has a venue that lies. */
const liarEvery = 5
const beatMillis = 1_000
/** The log line of one quarantined message, or of the number of further ones for the same reason. */
const setAside = /^(a message of the venue is|\d+ more messages of this kind were) quarantined/
/** Lines that the service may log at level Error after a fault, each with that fault. */
const excuses: ReadonlyArray<readonly [cause: VenuePath | null, words: RegExp]> = [
  // A market without a counterparty rejects a leg without any fault.
  [null, /^the venue refused a leg that protects a position/],
  ["events gone", setAside],
  ["event unreadable", setAside],
  ["event absurd", setAside],
  ["event lies", setAside],
  ["answer lies", /^the venue's reports of an object do not fit the request/],
  ["event absurd", /^the object of a quarantined event can't be read again/],
  ["events gone", /^the venue no longer keeps the next events/],
  ["events gone", /^the venue does not say what is missing/],
  // A process that takes over counts the age of a lost call on business time, which may have jumped since.
  ["call lost", /^the venue has not answered a call for a minute/],
  ["answer lost", /^the venue has not answered a call for a minute/],
  ["venue silent", /^the venue has not answered a call for a minute/],
  // A call whose answers do not fit stays in doubt.
  ["answer lies", /^the venue has not answered a call for a minute/]
]

export class VenueLane {
  readonly core: InProcessVenue
  readonly desk: VenueDesk
  /** The venue's last report of each client order by ref, and of each trade by ref and trade id. */
  readonly trading = { orders: new Map<string, VenueOrder>(), fills: new Map<string, VenueFill>() }
  /** Every event of an account, in the order of the numbers. */
  readonly events: Array<AccountEvent> = []
  /** Numbers of events that a reader received in an impossible form. */
  readonly spoiled = new Set<number>()
  /** Numbers of events that a reader received with one member changed (`lieAbout`). */
  readonly lied = new Set<number>()
  /** The time until which no process reaches the venue, Unix ms. */
  private awayUntil = 0
  private forgetful = false
  private calm = false
  /** The jump of time during the next call, ms; 0: none. */
  private jump = 0
  private readonly parts: VenueLaneParts
  /** Random choices of a venue that lies. A separate source leaves the other choices unchanged. */
  private readonly liar: SeededRandom | null
  /** Lies that the venue repeats in each message about the object with this ref. */
  private readonly repeated = new Map<string, LieKind>()
  private readonly caused = new Set<VenuePath>()

  constructor(parts: VenueLaneParts) {
    this.parts = parts
    const { seed, timeline } = parts
    this.liar = seed % liarEvery === 0 ? new SeededRandom(seed) : null
    this.core = new InProcessVenue({
      venue: { seed, startAt: timeline.now, tickMillis, markets, knobs: { books, orders } },
      fault: (asked, refs) => this.fault(asked, refs),
      deliveries: (event) => this.deliver(event)
    })
    this.desk = new VenueDesk({
      core: this.core,
      outside: parts.outside,
      random: parts.random.fork(),
      lies: this.liar !== null
    })
    this.beat()
  }

  /** The venue's port for one process. */
  port(lane: Lane): VenueShape {
    const { outside, timeline } = this.parts
    const port = this.core.port({
      toVenue: (task, delay) =>
        void outside.after(delay, () => {
          this.core.advance(timeline.now)
          task()
        }),
      toCaller: (task, delay) => void outside.after(delay, () => void lane.after(0, task)),
      gone: () => !lane.alive
    })
    return {
      ...port,
      write: (name, request) => Effect.map(port.write(name, request), (outcome) => this.answered(outcome)),
      lookup: (refs) => Effect.map(inTime(port.lookup(refs)), (all) => all.map((each) => this.answered(each))),
      voidRefs: (refs) => Effect.map(inTime(port.voidRefs(refs)), (all) => all.map((each) => this.answered(each))),
      orderFills: (ref) =>
        Effect.map(
          port.orderFills(ref),
          (fills) => fills?.map((fill) => this.lieAbout(ref, fill, lieOfFill, "answer lies") ?? fill) ?? null
        ),
      events: (after) =>
        Stream.unwrap(
          Effect.sync(() => {
            if (this.away) return Stream.fail(new VenueUnanswered({ reason: "nobody listens" }))
            return Stream.map(port.events(after), (line) => ("fact" in line ? this.spoil(line) : line))
          })
        )
    }
  }

  /**
   * Restarts the venue after a short outage. `kept`: the number of its last events that it keeps; all of them if
   * absent.
   */
  restart(kept?: number): void {
    const { random, timeline, note } = this.parts
    this.took(kept === undefined ? "venue restarted" : "events gone")
    note(kept === undefined ? "the venue restarts" : `the venue restarts with its last ${kept} events`)
    this.core.restart(kept)
    this.awayUntil = timeline.now + random.between(20, 2_000)
  }

  /** Restarts the venue at its next event, which no reader receives; it then keeps few events. */
  forgetNext(): void {
    this.forgetful = true
  }

  /** Ends every connection. */
  cut(): void {
    this.took("stream cut")
    this.parts.note("the venue's streams are cut")
    this.core.disconnect()
  }

  /** Lets time jump by `millis` during the next call. */
  jumpInCall(millis: number): void {
    this.jump = millis
  }

  /** Ends the faults. */
  rest(): void {
    this.calm = true
    this.awayUntil = 0
    this.jump = 0
    this.forgetful = false
  }

  /** True if the venue has lost published events. */
  get forgot(): boolean {
    return this.caused.has("events gone")
  }

  /** True if the venue has sent a changed answer. */
  get misled(): boolean {
    return this.caused.has("answer lies")
  }

  /** True if a fault or the market explains a line that a process logged at level Error. */
  excuses(text: string): boolean {
    return excuses.some(([cause, words]) => (cause === null || this.caused.has(cause)) && words.test(text))
  }

  private get away(): boolean {
    return this.parts.timeline.now < this.awayUntil
  }

  private took(path: VenuePath): void {
    this.caused.add(path)
    this.parts.took(path)
  }

  private beat(): void {
    const { outside, timeline } = this.parts
    outside.after(beatMillis, () => {
      this.core.advance(timeline.now)
      if (!this.away) this.core.beat()
      this.beat()
    })
  }

  /** The fault of a request to the venue, or of its answer. */
  private fault(asked: RequestKind, refs: ReadonlyArray<string>): RequestFault {
    const { called, random } = this.parts
    const isCall = asked !== "read" && asked !== "lookup" && asked !== "voidRefs"
    if (isCall) called(refs)
    if (this.calm) return {}
    if (this.away) return { lost: "before" }
    if (isCall && this.jump > 0) this.leap()
    const late = random.chance(0.05)
    const times = {
      toVenue: late ? random.between(4_000, 8_000) : random.between(0, 30),
      toCaller: random.chance(0.05) ? random.between(4_000, 8_000) : random.between(0, 30)
    }
    if (late && isCall) this.took("call late")
    if (random.chance(isCall ? 0.2 : 0.05)) {
      const lost = random.pick(["before", "after"] as const)
      // A caller that reads for a user needs the error of the broken connection.
      const silent = asked !== "read" && random.chance(0.5)
      if (isCall) this.took(silent ? "venue silent" : lost === "before" ? "call lost" : "answer lost")
      return { ...times, lost, silent }
    }
    if (!isCall) return times
    if (random.chance(0.05)) {
      this.took("call refused")
      return { ...times, refused: "refused" }
    }
    if (!random.chance(0.3)) return times
    this.took("lookup lags")
    return { ...times, lag: random.between(100, 5_000) }
  }

  /** Jumps in time during the call that leaves now. */
  private leap(): void {
    const { outside, random, timeline, note } = this.parts
    const millis = this.jump
    this.jump = 0
    outside.after(random.between(0, 20), () => {
      this.took("time jumps during a call")
      note(`time jumps by ${millis}`)
      timeline.leap(millis)
    })
  }

  /**
   * The time at which each reader receives an event. Readers get events out of order when one is delayed longer than
   * the next.
   */
  private deliver(event: VenueEvent): Deliveries {
    const { random } = this.parts
    const { fact } = event
    if ("account" in fact) {
      this.events.push({ ...event, fact })
      this.desk.hear(fact)
      this.hear(fact)
    }
    if (this.calm) return [0]
    if (this.forgetful) {
      this.forgetful = false
      this.parts.outside.after(0, () => this.restart(random.between(0, 1)))
      return []
    }
    if (this.away || random.chance(0.06)) {
      this.took("event dropped")
      return []
    }
    if (random.chance(0.1)) {
      this.took("event late")
      return [random.between(200, 2_500)]
    }
    if (!random.chance(0.1)) return [random.between(0, 30)]
    this.took("event doubled")
    return [random.between(0, 30), random.between(0, 1_000)]
  }

  /** Records the venue's orders and fills when it publishes them, before the faults of their transport. */
  private hear(fact: AccountFact): void {
    if (fact.type === "funding") this.took("funding said")
    if (fact.type !== "order" && fact.type !== "fill") return
    const { ref } = fact.order
    if (ref === null || ownerOfRef(ref)?.owner !== "order") return
    this.trading.orders.set(ref, fact.order)
    if (fact.type === "fill") this.trading.fills.set(`${ref} ${fact.fill.tradeId}`, fact.fill)
  }

  /** An event in transit to one reader, sometimes unreadable or absurd. */
  private spoil(event: VenueEvent): VenueEvent | ReturnType<typeof unreadable> {
    const { random } = this.parts
    const fact = this.lieAbout(refOfFact(event.fact), event.fact, lieOfFact, "event lies")
    if (fact !== null) {
      this.spoiled.add(event.number)
      this.lied.add(event.number)
      return { ...event, fact }
    }
    if (this.calm || random.chance(0.95)) return event
    this.spoiled.add(event.number)
    if (event.fact.type !== "order" || random.chance(0.5)) {
      this.took("event unreadable")
      return unreadable(event)
    }
    this.took("event absurd")
    const { order } = event.fact
    return { ...event, fact: { ...event.fact, order: { ...order, qty: `${order.qty}7` } } }
  }

  /** An answer or a lookup in transit to the caller. */
  private answered(outcome: VenueOutcome): VenueOutcome {
    return this.lieAbout(outcome.ref, outcome, lieOfOutcome, "answer lies") ?? outcome
  }

  /**
   * Changes one member of a message in transit. The service reads the object again (A2-115). The venue repeats some lies until it
   * is calm, so that their misfits stand. A message that names no object is left true, because nothing reads it again. Null: no lie.
   */
  private lieAbout<Message>(
    ref: string | null,
    message: Message,
    lieOf: (kind: LieKind, message: Message) => Message | null,
    path: VenuePath
  ): Message | null {
    const { liar, repeated } = this
    if (this.calm || liar === null) return null
    const before = ref === null ? undefined : repeated.get(ref)
    if (before === undefined && !liar.chance(0.1)) return null
    if (ref === null) return null
    const kinds = before === undefined ? lieKinds.filter((kind) => lieOf(kind, message) !== null) : [before]
    if (kinds.length === 0) return null
    const kind = liar.pick(kinds)
    const lie = lieOf(kind, message)
    if (lie === null) return null
    if (before === undefined && liar.chance(0.3)) repeated.set(ref, kind)
    this.took(path)
    return lie
  }
}

/** Ends an unanswered request by the timeout of its reader, as on a real connection. */
const inTime = <A>(question: Effect.Effect<A, VenueUnanswered>): Effect.Effect<A, VenueUnanswered> =>
  Effect.timeoutOrElse(question, {
    duration: answerWithin,
    orElse: () => Effect.fail(new VenueUnanswered({ reason: "no answer in time" }))
  })

const unreadable = ({ number, fact }: VenueEvent) => ({
  unreadable: `{"number":${number},`,
  reason: "it is cut off",
  number,
  account: "account" in fact ? fact.account : null
})
