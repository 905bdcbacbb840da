/**
 * The simulated venue's core: books, contracts, requests, swaps, prices and time of one venue. The same options and inputs give
 * the same state, events and messages on every machine: it uses no wall time, no external randomness and no transport.
 */
import type { ChannelMessage, KlinePage } from "../../../src/machines/venue/marketData.ts"
import { outcomeFillLimit, type VenueOutcome } from "../../../src/machines/venue/venueCalls.ts"
import type { VenueEvent, VenueFact } from "../../../src/machines/venue/VenueEvent.ts"
import type { VenueListing, VenueOffer } from "../../../src/machines/venue/VenueMarket.ts"
import type { VenueAccount, VenueFill } from "../../../src/machines/venue/venueObjects.ts"
import type { VenueDue, VenueView } from "../../../src/venue/VenueCommand.ts"
import { Calls } from "./Calls.ts"
import { changesOf } from "./changesOf.ts"
import { CommandRefused, Commands } from "./Commands.ts"
import { unitsOf } from "./Market.ts"
import { moneyOf } from "./money.ts"
import { Outbox } from "./Outbox.ts"
import { Passing } from "./Passing.ts"
import { ledgerOf, type LedgerAccount } from "./ledger.ts"
import { textOf } from "./texts.ts"
import { turnKnobs } from "./turnKnobs.ts"
import type { Applied, KlineWindow, VenueCall, VenueInput, VenueListeners, VenueOptions } from "./VenueInput.ts"
import type { Dealer } from "./VenueKnobs.ts"
import { venueDue } from "./venueDue.ts"
import { VenueParts } from "./VenueParts.ts"
import { partsOf, stateOf, type VenueState } from "./VenueState.ts"
import { wireContract, wireFill, wireMarket, wireOffer, wireOrder, wireStakingMarket } from "./wire.ts"

const nothing: Applied = { outcomes: [], id: null, refusal: null }

/**
 * The venue failed on an input by a defect of its own. Nothing was published, but the books may hold a part of the input. They
 * must not be used before `become` replaces them.
 */
export class InputFailed extends Error {}

export class Venue {
  private parts: VenueParts
  private calls: Calls
  private passing: Passing
  private commands: Commands
  private outbox: Outbox

  /** A new venue, which opens at once, or one from a state. Throws a sentence on knobs that do not fit its markets. */
  constructor(options: VenueOptions, listeners: VenueListeners, state: VenueState | null = null) {
    this.outbox = new Outbox(listeners)
    const parts = state === null ? new VenueParts(options, this.outbox) : partsOf(state, this.outbox)
    this.parts = parts
    this.calls = new Calls(parts)
    this.passing = new Passing(parts)
    this.commands = new Commands(parts, this.passing)
    if (state !== null) return
    const refusal = turnKnobs(parts, options.knobs)
    if (refusal !== null) throw new Error(refusal)
    this.passing.open()
    this.outbox.release()
  }

  /** Restores a venue that continues exactly like the one that produced the state. */
  static restore(state: VenueState, listeners: VenueListeners): Venue {
    return new Venue(state.options, listeners, state)
  }

  /** Takes over the books of another venue, which is not used afterwards. */
  become({ parts, calls, passing, commands, outbox }: Venue): void {
    Object.assign(this, { parts, calls, passing, commands, outbox })
  }

  get options(): VenueOptions {
    return this.parts.options
  }

  /** Business time, Unix ms. */
  get now(): number {
    return this.parts.clock.now
  }

  /** Number of the last event; 0 before the first. */
  get number(): number {
    return this.parts.events.number
  }

  /** Applies an input, or refuses it with a reason and without changes. Throws only InputFailed. */
  apply(input: VenueInput): Applied {
    let applied: Applied
    try {
      applied = this.play(input)
    } catch (error) {
      throw new InputFailed(error instanceof Error ? error.message : String(error), { cause: error })
    }
    // A listener's fault does not undo the input: it stays applied, as at every replay.
    this.outbox.release()
    return applied
  }

  state(): VenueState {
    return stateOf(this.parts)
  }

  private play(input: VenueInput): Applied {
    switch (input.type) {
      case "time":
        this.passing.pass(input.to, input.steps)
        return nothing
      case "call":
        return { ...nothing, outcomes: [this.called(input)] }
      case "decline":
        return { ...nothing, outcomes: [this.calls.decline(input, input.reason)] }
      case "void":
        return { ...nothing, outcomes: this.calls.void(input.refs) }
      case "quote":
        return this.quote(input)
      case "withdraw":
        return this.withdraw(input)
      case "command":
        return this.command(input)
    }
  }

  /** Executes a call. Its outcome covers the events of its account up to the first that reports more than the outcome does. */
  private called(call: VenueCall): VenueOutcome {
    const { events } = this.parts
    const before = events.number
    const outcome = this.calls.call(call)
    const fills: Array<NonNullable<VenueOutcome["fills"]>[number]> = []
    let [first, last] = [0, 0]
    const made = events.since(before)
    for (const { fact } of made) {
      if (!("account" in fact) || fact.account !== call.request.account) continue
      if (!reports(outcome, fact, made.length === 1) || (fact.type === "fill" && fills.length === outcomeFillLimit))
        break
      const { sequence } = fact
      if (fact.type === "fill") fills.push({ sequence, fill: fact.fill })
      if (first === 0) first = sequence
      last = sequence
    }
    if (first === 0) return outcome
    return { ...outcome, events: { first, last }, ...(fills.length === 0 ? {} : { fills }) }
  }

  listing(): VenueListing {
    const { settings, exchange, staking } = this.parts
    return {
      version: settings.listingVersion,
      at: this.now,
      markets: [...exchange.listings.values()].map(wireMarket),
      stakingMarkets: [...staking.markets.values()].map(wireStakingMarket)
    }
  }

  /** The board of staking offers, oldest first, without halted markets. */
  offers(): ReadonlyArray<VenueOffer> {
    return [...this.parts.staking.offers.values()].flatMap((offer) => {
      const market = this.parts.stakingMarket(offer.symbol)
      return market.enabled ? [wireOffer(market, offer)] : []
    })
  }

  /** The last published full state of a channel; null for a market without it. */
  snapshot(channel: ChannelMessage["channel"], symbol: string): ChannelMessage | null {
    return this.parts.feeds.get(symbol)?.snapshot(channel) ?? null
  }

  /** The klines of a market in a window; null for an unknown market. */
  klines({ symbol, ...window }: KlineWindow): KlinePage | null {
    const klines = this.parts.klines.get(symbol)
    return klines === undefined ? null : klines.page(this.parts.listing(symbol).market, window, this.now)
  }

  /** An account's live objects and its money; null for an unknown account. */
  account(name: string): VenueAccount | null {
    const { parts } = this
    const account = parts.accountNamed(name)
    if (account === null) return null
    const market = (symbol: string) => parts.listing(symbol).market
    return {
      account: name,
      sequence: account.sequence,
      positions: [...account.positions]
        .filter(([, { lots }]) => lots !== 0)
        .map(([symbol, { lots }]) => ({ symbol, netQty: textOf(lots, market(symbol).lotDecimals) })),
      orders: [...account.orders].map((order) => wireOrder(market(order.symbol), name, order)),
      contracts: [...account.contracts].map((contract) => wireContract(market(contract.symbol), name, contract)),
      ...parts.nounsListed(account),
      money: moneyOf(parts, account)
    }
  }

  /** Every account in the venue's own books, house accounts included: quantities, money and assets sum to zero. */
  ledger(): ReadonlyArray<LedgerAccount> {
    return ledgerOf(this.parts)
  }

  /** Outcomes of refs; UNKNOWN for one that has not arrived. */
  lookup(refs: ReadonlyArray<string>): ReadonlyArray<VenueOutcome> {
    return this.calls.lookup(refs)
  }

  /** Events after a number, oldest first; null if they are not kept any more, or no event has that number. */
  eventsAfter(number: number): ReadonlyArray<VenueEvent> | null {
    return this.parts.events.after(number)
  }

  /**
   * At most 1,000 kept events of an account after a sequence number of the account; null: the number is beyond the
   * account's last.
   */
  accountEvents(name: string, after: number): ReadonlyArray<VenueEvent> | null {
    const account = this.parts.accountNamed(name)
    return account === null ? null : this.parts.events.ofAccount(account, after)
  }

  /** All kept fills of an order, oldest first; null for an unknown order, or one without kept fills. */
  orderFills(ref: string): ReadonlyArray<VenueFill> | null {
    const { exchange } = this.parts
    const order = exchange.orders.get(ref)
    const fills = order === undefined ? null : exchange.fillsOf(order)
    if (order === undefined || fills === null) return null
    const { id: orderId, accountId, symbol, side } = order
    const { market } = this.parts.listing(symbol)
    const { name } = this.parts.accountOf(accountId)
    return fills.map(({ at, ...traded }) =>
      wireFill(market, name, ref, { ...traded, orderId, accountId, symbol, side, reason: null }, at)
    )
  }

  /** Settings of the dealers, who run outside the core. */
  dealers(): ReadonlyArray<Dealer> {
    return this.parts.settings.dealers
  }

  /** The work that is due next (`venueDue`). */
  due(): ReadonlyArray<VenueDue> {
    return venueDue(this.parts)
  }

  get tickMillis(): number {
    return this.parts.settings.tickMillis
  }

  /** Every market as `sim venue show` lists it: prices, which of them are held, a price path, a halt. */
  markets(): VenueView["markets"] {
    const { exchange, prices } = this.parts
    return [...exchange.listings.values()].map(({ market, prices: quoted, halt, delisted }) => {
      const price = (ticks: number | null) => (ticks === null ? null : textOf(ticks, market.tickDecimals))
      const held = prices.heldOf(market.base)
      return {
        symbol: market.symbol,
        last: price(quoted.LAST),
        mark: price(quoted.MARK),
        index: price(quoted.INDEX),
        held: (["last", "mark", "index"] as const).filter((which) => held[which] !== null),
        path: prices.hasPath(market.base),
        halted: halt !== null,
        delisted
      }
    })
  }

  private quote({ rfqRef, dealer, price, qty, validUntil }: Extract<VenueInput, { readonly type: "quote" }>): Applied {
    const refused = (refusal: string): Applied => ({ ...nothing, refusal })
    const rfq = this.parts.rfqs.byRef.get(rfqRef)
    if (rfq === undefined) return refused("unknown request")
    const { market, halt } = this.parts.listing(rfq.symbol)
    const ticks = unitsOf(price, market.tickDecimals)
    const quantity = unitsOf(qty, market.lotDecimals)
    if (ticks === null || ticks === 0) return refused("price off the grid")
    if (quantity === null || quantity === 0) return refused("quantity off the grid")
    if (halt !== null) return refused("market halted")
    if (validUntil <= this.now) return refused("quote not live")
    const quote = this.parts.rfqs.quote(rfq, { dealer, price: ticks, quantity, at: this.now, validUntil })
    return quote === null ? refused("request not open") : { ...nothing, id: quote.id }
  }

  private withdraw({ rfqRef, quoteId }: Extract<VenueInput, { readonly type: "withdraw" }>): Applied {
    const rfq = this.parts.rfqs.byRef.get(rfqRef)
    const withdrawn = rfq !== undefined && this.parts.rfqs.withdraw(rfq, quoteId)
    return withdrawn ? { ...nothing, id: quoteId } : { ...nothing, refusal: "quote not live" }
  }

  private command({ command }: Extract<VenueInput, { readonly type: "command" }>): Applied {
    try {
      const before = this.number
      const { id, ...done } = this.commands.run(command)
      return { ...nothing, id, change: { ...done, ...changesOf(this.parts.events.since(before)) } }
    } catch (error) {
      if (error instanceof CommandRefused) return { ...nothing, refusal: error.message }
      throw error
    }
  }
}

/**
 * True if the outcome reports everything that the event reports. `isOnly`: the call made no other event. An accept makes
 * several events, each of which reports more than the outcome.
 */
const reports = ({ order, rfq }: VenueOutcome, fact: VenueFact, isOnly: boolean): boolean => {
  switch (fact.type) {
    case "order":
    case "fill":
      return order !== null && fact.order.ref === order.ref
    case "rfq":
      return isOnly && fact.rfq.ref === rfq?.ref
    default:
      return false
  }
}
