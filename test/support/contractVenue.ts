/**
 * The simulated venue's books in this process, for scenarios of requests for quotes. Its prices are held, it follows
 * the wall clock and sends heartbeats; the test decides when dealers quote and when calls fail.
 */
import { Effect, Layer, Stream } from "effect"
import { lieOfFact, lieOfFill, lieOfOutcome } from "../../simulator/venue/core/lies.ts"
import {
  type RequestKind,
  type Deliveries,
  InProcessVenue,
  type RequestFault
} from "../../simulator/venue/InProcessVenue.ts"
import { requestRef } from "../../src/machines/rfq/Rfq.ts"
import type { VenueOutcome } from "../../src/machines/venue/venueCalls.ts"
import type { VenueEvent } from "../../src/machines/venue/VenueEvent.ts"
import { Venue, type VenueShape, VenueUnanswered } from "../../src/runtime/ports/Venue.ts"
import type { LieKind } from "../../src/venue/testerTokens.ts"

export const knockOut = "BTC-USDC-KO"

const hidden = new VenueUnanswered({ reason: "hidden" })

export const contractVenue = () => {
  let fault: (kind: RequestKind, refs: ReadonlyArray<string>) => RequestFault = () => ({})
  /** The callers of `requested`, by kind of request. */
  const waiting = new Map<RequestKind, Set<() => void>>()
  let hiding: boolean | "events" | "stream" | "silence" = false
  /** The sequence of the first unpublished event of each account. */
  const unpublished = new Map<string, number>()
  let forgetful = false
  let denying = false
  let lie: LieKind | null = null
  let delivered: (event: VenueEvent) => Deliveries = () => [0]
  const venue = new InProcessVenue({
    venue: { seed: 7, startAt: Date.now(), tickMillis: 1_000, knobs: { seed: 7 } },
    fault: (kind, refs) => {
      for (const wake of waiting.get(kind) ?? []) wake()
      waiting.delete(kind)
      return fault(kind, refs)
    },
    deliveries: (event) => {
      if (hiding === false) return delivered(event)
      const { fact } = event
      const isPublished = hiding === "stream" || hiding === "silence"
      if (!isPublished && "account" in fact && !unpublished.has(fact.account))
        unpublished.set(fact.account, fact.sequence)
      return []
    }
  })
  const shown = (outcome: VenueOutcome): VenueOutcome =>
    hiding === true || forgetful
      ? { ...outcome, contract: null }
      : ((lie === null ? null : lieOfOutcome(lie, outcome)) ?? outcome)
  const altered = <Line extends object>(line: Line | VenueEvent): Line | VenueEvent =>
    lie !== null && "fact" in line ? { ...line, fact: lieOfFact(lie, line.fact) ?? line.fact } : line
  /** The sequence of the last published event of an account. */
  const lastOf = (account: string): number => (unpublished.get(account) ?? Number.POSITIVE_INFINITY) - 1
  const sequenceOf = ({ fact }: VenueEvent): number => ("account" in fact ? fact.sequence : 0)
  const port = (): VenueShape => {
    const whole = venue.port()
    return {
      ...whole,
      write: (name, request) => Effect.map(whole.write(name, request), shown),
      lookup: (refs) => Effect.map(whole.lookup(refs), (outcomes) => outcomes.map(shown)),
      voidRefs: (refs) =>
        Effect.map(denying ? Effect.succeed(refs.map(voided)) : whole.voidRefs(refs), (outcomes) =>
          outcomes.map(shown)
        ),
      account: (account) =>
        Effect.map(whole.account(account), (found) => {
          if (found === null) return null
          const sequence = Math.min(found.sequence, lastOf(account))
          return { ...found, sequence, ...(forgetful ? { contracts: [] } : {}) }
        }),
      accountEvents: (account, after) =>
        Effect.map(whole.accountEvents(account, after), (events) =>
          events.filter((event) => "unreadable" in event || sequenceOf(event) <= lastOf(account))
        ),
      orderFills: (ref) =>
        Effect.map(
          whole.orderFills(ref),
          (fills) => fills?.map((fill) => (lie === null ? null : lieOfFill(lie, fill)) ?? fill) ?? null
        ),
      events: (after) =>
        Stream.suspend(() => {
          if (hiding === "silence") return Stream.filter(whole.events(after), (line) => "heartbeat" in line)
          return hiding === false ? Stream.map(whole.events(after), altered) : Stream.fail(hidden)
        })
    }
  }
  const voided = (ref: string): VenueOutcome => ({
    ref,
    outcome: "VOID",
    reason: null,
    at: venue.now,
    order: null,
    rfq: null,
    contract: null,
    swap: null
  })
  const price = (mark: string) =>
    void venue.apply({ type: "command", command: { type: "price", symbol: knockOut, price: mark, only: null } })
  price("60000")
  let frozen = false
  let ahead = 0
  const beating = setInterval(() => {
    if (!frozen) venue.advance(Date.now() + ahead)
    venue.beat()
  }, 100)
  beating.unref()
  return {
    venue,
    layerVenue: Layer.sync(Venue, port),
    /**
     * While the venue hides, it executes calls, and its new events stay out of the stream. "stream": no stream can be opened, and
     * reads of an account show the events. "silence": as "stream", but an open stream has heartbeats. "events": it publishes no
     * event, by any way. true: nor does it show a contract.
     */
    hide: (on: boolean | "events" | "stream" | "silence"): void => {
      hiding = on
      if (on === false) unpublished.clear()
    },
    /**
     * The delays of each event from now on, ms after its publication; several delays deliver the event several times.
     */
    delivering: (next: typeof delivered) => void (delivered = next),
    /** While on, a query of a contract finds none. */
    forget: (on: boolean) => void (forgetful = on),
    /** Makes one member of the venue's objects false from now on, in events, answers and lookups. Null ends it. */
    lying: (kind: LieKind | null) => void (lie = kind),
    /** While on, the venue confirms every voiding without voiding anything, and may execute the call later. */
    deny: (on: boolean) => void (denying = on),
    /** Sets and holds index, mark and last. */
    price,
    /** While frozen, the venue's time and prices stand still; its connections stay alive. */
    freeze: (on = true) => void (frozen = on),
    /** Advances the venue's time, which then follows the wall clock from there. */
    leap: (millis: number): void => {
      ahead += millis
      venue.advance(Date.now() + ahead)
    },
    /** Sets the fault of requests from now on. */
    failing: (next: typeof fault) => void (fault = next),
    /** Completes at the next request of this kind. */
    requested: (kind: RequestKind): Promise<void> =>
      new Promise((resolve) => void waiting.set(kind, (waiting.get(kind) ?? new Set()).add(resolve))),
    /** Publishes a dealer's quote on a request. Returns the quote's id. */
    quote: (rfqId: number, at: string, { qty = "0.1", dealer = "alpha", validFor = 60_000 } = {}): number => {
      const quoted = { type: "quote", rfqRef: requestRef(rfqId), dealer, price: at, qty } as const
      const { id, refusal } = venue.apply({ ...quoted, validUntil: venue.now + validFor })
      if (id === null) throw new Error(refusal ?? "no quote")
      return id
    },
    withdraw: (rfqId: number, quoteId: number) =>
      void venue.apply({ type: "withdraw", rfqRef: requestRef(rfqId), quoteId })
  }
}
