/**
 * The operations of the venue's routes: reads of its books, calls through its single writer, and a tester's commands. It
 * applies faults but no HTTP; `underFaults` applies them to answers.
 */
import type { ChannelMessage } from "../../../src/machines/venue/marketData.ts"
import type { VenueOutcome } from "../../../src/machines/venue/venueCalls.ts"
import type { VenueListing } from "../../../src/machines/venue/VenueMarket.ts"
import type { VenueFill } from "../../../src/machines/venue/venueObjects.ts"
import {
  noChange,
  type VenueChange,
  type VenueCommand,
  type VenueCommandAnswer,
  type VenueView
} from "../../../src/venue/VenueCommand.ts"
import { plural } from "../../../src/machines/shared/Text.ts"
import type { Venue } from "../core/Venue.ts"
import type { Applied, VenueCall, VenueInput } from "../core/VenueInput.ts"
import type { Dealers } from "./Dealers.ts"
import type { EventFeed } from "./EventFeed.ts"
import { liedFill, liedOutcome } from "./lyingFaults.ts"
import type { FaultOrder, Faults, Target } from "./Faults.ts"
import type { MarketFeed, Subscription } from "./MarketFeed.ts"
import type { VenueClock } from "./VenueClock.ts"
import type { VenueWriter } from "./VenueWriter.ts"

/** A tester's command that can't be executed, as a sentence. */
export class CommandRefused extends Error {}

export interface DeskParts {
  readonly venue: Venue
  readonly writer: VenueWriter
  readonly clock: VenueClock
  readonly faults: Faults
  readonly events: EventFeed
  readonly markets: MarketFeed
  readonly dealers: Dealers
  /** Wall time of the process's start, Unix ms. */
  readonly startedAt: number
  /** Ends the process in order. */
  readonly restart: () => void
}

/** The latest business time that a sandbox's clock may reach, Unix ms. */
const lastMoment = Date.UTC(2100, 0, 1)
/** Limit on the refs that are hidden from lookups at the same time. */
const hiddenLimit = 10_000

export class VenueDesk {
  readonly faults: Faults
  private readonly parts: DeskParts
  /** Refs that a lookup does not show yet, each with the wall time from which a lookup shows it. */
  private readonly hidden = new Map<string, number>()

  constructor(parts: DeskParts) {
    this.parts = parts
    this.faults = parts.faults
  }

  get venue(): Venue {
    return this.parts.venue
  }

  /** Executes one call with the decisions of dealers and faults. Rejects with WriterClosed if nothing was done. */
  async call(call: VenueCall, target: Target): Promise<VenueOutcome> {
    const { writer, faults, events, clock } = this.parts
    const { ref } = call.request
    if (faults.strike(["silent"], target) !== null) this.silence(call, ref)
    const lag = faults.strike(["visibility-lag"], target)
    if (lag !== null) this.hide(call, clock.wall() + lag.delayMillis)
    const early = call.name === "placeOrder" ? faults.strike(["fill-before-ack"], target) : null
    if (early !== null) events.acknowledgeLate(ref, early.delayMillis)
    if (call.name === "acceptQuote" && faults.strike(["quote-withdrawn"], target) !== null) {
      // The withdrawal is written together with the accept and before it, so that no other input comes between them.
      void writer.offer({ type: "withdraw", rfqRef: call.request.target, quoteId: call.request.quoteId })
    }
    const { outcomes } = await writer.submit(this.inputOf(call, target))
    if (early !== null) await clock.sleep(early.delayMillis)
    return liedOutcome(faults, outcomes[0] as VenueOutcome)
  }

  /** Completes after the given wall time. */
  sleep(millis: number): Promise<void> {
    return this.parts.clock.sleep(millis)
  }

  async voidRefs(refs: ReadonlyArray<string>): Promise<ReadonlyArray<VenueOutcome>> {
    const { outcomes } = await this.parts.writer.submit({ type: "void", refs })
    return outcomes.map((outcome) => liedOutcome(this.faults, outcome))
  }

  snapshot(subscription: Subscription): ChannelMessage | null {
    return this.parts.markets.snapshot(subscription)
  }

  /** Outcomes of refs; a hidden one counts as not arrived. */
  lookup(refs: ReadonlyArray<string>): ReadonlyArray<VenueOutcome> {
    return this.parts.venue
      .lookup(refs)
      .map((outcome) => (this.isHidden(outcome.ref) ? unknown(outcome) : liedOutcome(this.faults, outcome)))
  }

  /** Fills of an order; null for one that is unknown or hidden. */
  orderFills(ref: string): ReadonlyArray<VenueFill> | null {
    if (this.isHidden(ref)) return null
    return this.parts.venue.orderFills(ref)?.map((fill) => liedFill(this.faults, fill)) ?? null
  }

  /** Executes a tester's command. Rejects with CommandRefused or WriterClosed. */
  async command(command: VenueCommand): Promise<typeof VenueCommandAnswer.Type> {
    const { venue, writer, clock, faults, events, markets, dealers, restart } = this.parts
    switch (command.type) {
      case "fault":
        return this.order(command)
      case "dealers": {
        const did = `dealers ${dealers.mood} → ${command.mood}`
        dealers.mood = command.mood
        return this.answer(did)
      }
      case "restart":
        restart()
        return this.answer("the simulator restarts")
      case "advance":
        if (command.to >= lastMoment) throw new CommandRefused("The clock can't be moved into the year 2100 or later.")
        if (command.to > venue.now) {
          const { refusal } = await writer.submit({
            type: "time",
            to: command.to,
            ...(command.steps === undefined ? {} : { steps: command.steps })
          })
          if (refusal !== null) throw new CommandRefused(refusal)
          clock.reached(command.to)
        }
        return this.answer(null)
      case "clear": {
        const answer = await this.books(command)
        const cleared = plural(faults.view().length, "fault")
        faults.clear()
        events.clear()
        markets.clear()
        this.hidden.clear()
        dealers.mood = "normal"
        return { ...answer, did: `${answer.did}, dealers normal; ${cleared} cleared` }
      }
      default:
        return this.books(command)
    }
  }

  show(): VenueView {
    const { venue, faults, events, markets, dealers, startedAt } = this.parts
    return {
      at: venue.now,
      seed: venue.options.seed,
      number: venue.number,
      startedAt,
      readers: { events: events.size, marketData: markets.size, subscriptions: markets.subscriptions },
      markets: venue.markets(),
      dealers: venue.dealers().map(({ name, latencyMillis, validityMillis }) => ({
        name,
        mood: dealers.mood,
        latencyMillis,
        validityMillis
      })),
      faults: faults.view(),
      due: venue.due()
    }
  }

  /**
   * Hides the ref of a call from lookups until a wall time. For a cancel it also hides the order, whose new state would
   * show the cancel.
   */
  private hide(call: VenueCall, until: number): void {
    const refs = [call.request.ref, ...(call.name === "cancelOrder" ? [call.request.target] : [])]
    for (const ref of refs) if (this.hidden.size < hiddenLimit) this.hidden.set(ref, until)
  }

  private isHidden(ref: string): boolean {
    if ((this.hidden.get(ref) ?? 0) > this.parts.clock.wall()) return true
    this.hidden.delete(ref)
    return false
  }

  private async books(command: VenueCommand) {
    const applied: Applied = await this.parts.writer.submit({ type: "command", command })
    if (applied.refusal !== null) throw new CommandRefused(applied.refusal)
    return { ...this.answer(null), id: applied.id, ...applied.change }
  }

  /** The answer to a command that the books don't know; `did` as a sentence. */
  private answer(did: VenueChange["did"]): typeof VenueCommandAnswer.Type {
    return { number: this.venue.number, at: this.venue.now, id: null, ...noChange, did }
  }

  /** Switches a fault on. A fault that cuts connections also cuts those that are open now. */
  private async order(fault: FaultOrder): Promise<typeof VenueCommandAnswer.Type> {
    const { faults, events, markets, venue } = this.parts
    const { symbol } = fault
    if (symbol !== null && !isListed(venue.listing(), symbol)) throw new CommandRefused(`${symbol} is not listed.`)
    if (fault.kind === "stale-marks") markets.freeze(venue.listing().markets.map((market) => market.symbol))
    const ofBooks = fault.kind === "writer-default" || fault.kind === "unpriced-funding"
    if (ofBooks && symbol !== null) throw new CommandRefused(`${fault.kind} is of all its markets.`)
    const refused = faults.add(fault)
    if (refused !== null) throw new CommandRefused(refused)
    // Defaults of writers and unpriced funding change payments, which the books decide, so the books keep these two faults.
    if (ofBooks) return { ...(await this.books(fault)), did: describeFault(fault) }
    for (const [route, feed] of [["events", events] as const, ["market-data", markets] as const]) {
      for (let open = feed.size; open > 0; open--) {
        if (faults.strike(["outage", "reset"], { route, symbol: null }) === null) break
        feed.cutOne()
      }
    }
    return this.answer(describeFault(fault))
  }

  private silence(call: VenueCall, ref: string): void {
    const { events, dealers } = this.parts
    events.mute(ref)
    if (call.name === "requestQuotes" || call.name === "requestClose") dealers.ignore(ref)
  }

  private inputOf(call: VenueCall, target: Target): VenueInput {
    const { faults, dealers } = this.parts
    if (faults.strike(["reject"], target) !== null) return { type: "decline", reason: "rejected by fault", ...call }
    if (call.name === "acceptQuote" && dealers.declines(call.request)) {
      return { type: "decline", reason: "declined by the dealer", ...call }
    }
    return { type: "call", ...call }
  }
}

const describeFault = ({ kind, route, symbol, forMillis, times, delayMillis }: FaultOrder): string => {
  const limits = [
    forMillis === null ? [] : [`for ${forMillis} ms`],
    times === null ? [] : [plural(times, "time")],
    delayMillis === null ? [] : [`delayed by ${delayMillis} ms`]
  ].flat()
  const end = forMillis === null && times === null ? ["until clear"] : []
  return [`fault ${kind}`, `route ${route}`, symbol ?? "all markets", ...limits, ...end].join(", ")
}

/** True for a listed market or staking market. A fault on any other symbol would never strike. */
const isListed = ({ markets, stakingMarkets }: VenueListing, symbol: string): boolean =>
  markets.some((market) => market.symbol === symbol) || stakingMarkets.some((market) => market.symbol === symbol)

const unknown = ({ ref, at }: VenueOutcome): VenueOutcome => ({
  ref,
  outcome: "UNKNOWN",
  reason: null,
  at,
  order: null,
  rfq: null,
  contract: null,
  swap: null
})
