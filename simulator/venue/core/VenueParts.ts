/** The parts of one venue and their connections: trades become events, public trades and klines; ends become payments. */
import { SeededRandom } from "../../partner/SeededRandom.ts"
import type { NounList, NounObject, VenueNounName } from "../../../src/machines/venue/venueNouns.ts"
import type { VenueOutcome } from "../../../src/machines/venue/venueCalls.ts"
import type { VenueAccount } from "../../../src/machines/venue/venueObjects.ts"
import type { Account } from "./Account.ts"
import { Agenda } from "./Agenda.ts"
import { Balances } from "./Balances.ts"
import { type Contract, Contracts, resultOf } from "./Contracts.ts"
import { type Base, bases, marketsOf, openingTicks, usualLadder, walkOf } from "./defaultMarkets.ts"
import { defaultStakingMarkets } from "./defaultStaking.ts"
import { type AccountNews, EventLine } from "./EventLine.ts"
import { Exchange, type ExchangeEvent, type Fill, type Listing } from "./Exchange.ts"
import { Feed } from "./Feed.ts"
import { Funding, type PositionStamp } from "./Funding.ts"
import { Klines } from "./Klines.ts"
import { houseAccounts, Makers } from "./Makers.ts"
import { isLive } from "./Order.ts"
import { Line } from "./Line.ts"
import { type NounOfVenue, nounsOf } from "./nouns.ts"
import { Prices } from "./Prices.ts"
import { type Known, Refs, type RefsState } from "./Refs.ts"
import { type Quote, type Rfq, Rfqs } from "./Rfqs.ts"
import { type Payment, Staking, type StakingMarket, type Swap } from "./Staking.ts"
import { textOf } from "./texts.ts"
import { usuallyKept } from "./usuallyKept.ts"
import type { Kept, VenueListeners, VenueOptions } from "./VenueInput.ts"
import {
  type Dealer,
  defaultDealers,
  defaultTakers,
  defaultWriters,
  type OrderKnobs,
  type WritersInForce
} from "./VenueKnobs.ts"
import { wireContract, wireFill, wireOrder, wireQuote, wireRfq, wireSwap } from "./wire.ts"

/** Current knobs and switches. Plain JSON. */
export interface Settings {
  tickMillis: number
  takers: number
  /** Knobs of clients' orders, by market symbol. */
  orders: Readonly<Record<string, OrderKnobs>>
  writers: WritersInForce
  dealers: ReadonlyArray<Dealer>
  /** Increases with each change of the listing. */
  listingVersion: number
  /** While set, writers pay nothing at maturity; `until` business time, null without end. */
  writersDefault: { readonly until: number | null; readonly times: number | null } | null
  /** While set, marks and rates of funding times are unknown; `until` business time, null without end. */
  unpricedFunding: { readonly until: number | null } | null
  /** Funding stamps that were published without mark and rate. */
  unpricedStamps: ReadonlyArray<PositionStamp>
}

/** The separate random stream of each component. */
export interface Streams {
  orders: SeededRandom
  writers: SeededRandom
  boards: SeededRandom
}

export class VenueParts {
  readonly options: VenueOptions
  readonly clock: { now: number }
  readonly settings: Settings
  readonly streams: Streams
  readonly exchange: Exchange
  readonly prices = new Prices()
  readonly makers: Makers
  readonly staking: Staking
  readonly rfqs: Rfqs
  readonly listeners: VenueListeners
  events: EventLine
  agenda = new Agenda()
  balances = new Balances()
  refs: Refs
  /** Markets of each base, in the order of the listing. */
  readonly listingsOf: ReadonlyMap<string, ReadonlyArray<Listing>>
  readonly klines = new Map<string, Klines>()
  readonly feeds = new Map<string, Feed>()
  /** The funding of each perpetual, by symbol. */
  readonly funding = new Map<string, Funding>()
  /** Open contracts by knock-out market. */
  readonly contracts = new Map<string, Contracts>()
  /** Open and ended contracts by id. */
  readonly contractById = new Map<number, Contract>()
  /** Ended contracts, in order of their end; over the limit the oldest are dropped. */
  readonly endedContracts = new Line<Contract>()
  /** Id of the last opened contract; 0 before the first. */
  lastContract = 0
  private readonly kept: Kept
  readonly nouns: ReadonlyArray<NounOfVenue> = nounsOf(this)
  readonly accountIds = new Map<string, number>()

  constructor(options: VenueOptions, listeners: VenueListeners) {
    this.options = options
    this.listeners = listeners
    this.clock = { now: options.startAt }
    this.settings = {
      tickMillis: options.tickMillis,
      takers: defaultTakers,
      orders: {},
      writers: defaultWriters,
      dealers: defaultDealers,
      listingVersion: 1,
      writersDefault: null,
      unpricedFunding: null,
      unpricedStamps: []
    }
    const setup = options.markets ?? bases
    const kept = (this.kept = options.kept ?? usuallyKept)
    this.refs = this.refsOf([])
    this.exchange = new Exchange(marketsOf(setup), (event) => this.traded(event), this.clock, kept.orders)
    this.listingsOf = Map.groupBy(this.exchange.listings.values(), ({ market }) => market.base)
    this.events = new EventLine(listeners.event)
    const seeds = new SeededRandom(options.seed)
    this.makers = new Makers(this.exchange, seeds.fork())
    const [writers, boards] = [seeds.fork(), seeds.fork()]
    this.rfqs = new Rfqs(
      { onQuote: (rfq, quote) => this.quoted(rfq, quote), onEnd: (rfq) => this.publishRfq(rfq) },
      kept.requests
    )
    this.staking = new Staking(
      defaultStakingMarkets(),
      () => ++this.exchange.ids.trade,
      (swap, payment) => this.swapChanged(swap, payment),
      kept.swaps
    )
    for (const base of setup) this.addBase(base, seeds.fork())
    this.streams = { writers, boards, orders: seeds.fork() }
  }

  /** Changes the given knobs of clients' orders by market; other knobs keep their values. */
  turnOrders(knobs: Readonly<Record<string, OrderKnobs>>): void {
    const { settings } = this
    for (const [symbol, turned] of Object.entries(knobs)) {
      const now = { ...settings.orders[symbol], ...turned }
      settings.orders = { ...settings.orders, [symbol]: now }
      this.listing(symbol).slices = now.slices ?? 1
    }
  }

  /** Restarts the random stream of every component from the seed. */
  reseed(seed: number): void {
    const seeds = new SeededRandom(seed)
    this.makers.random = seeds.fork()
    this.streams.writers = seeds.fork()
    this.streams.boards = seeds.fork()
    for (const base of this.listingsOf.keys()) this.prices.reseed(base, seeds.fork())
    this.streams.orders = seeds.fork()
  }

  /** Restores the refs of a state. A ref with a live object is kept, however old it is. */
  refsOf(state: RefsState): Refs {
    return new Refs(this.kept.refs, (known) => this.lives(known), state)
  }

  private lives({ order, rfq, contract, ...ids }: Known): boolean {
    const placed = order === undefined ? undefined : this.exchange.orders.get(order)
    if (placed !== undefined && isLive(placed)) return true
    if (rfq !== undefined && this.rfqs.byId.get(rfq)?.state === "OPEN") return true
    if (contract !== undefined && this.contractById.get(contract)?.state === "OPEN") return true
    return this.nouns.some(({ name, books }) => {
      const id = ids[name]
      return id !== undefined && books.isLive(id)
    })
  }

  accountOf(id: number): Account {
    const account = this.exchange.accounts.get(id)
    if (account === undefined) throw new Error(`no account ${id}`)
    return account
  }

  /** A client's account by the service's name for it, or null. */
  accountNamed(name: string): Account | null {
    const id = this.accountIds.get(name)
    return id === undefined ? null : this.accountOf(id)
  }

  listing(symbol: string): Listing {
    const listing = this.exchange.listings.get(symbol)
    if (listing === undefined) throw new Error(`no market ${symbol}`)
    return listing
  }

  stakingMarket(symbol: string): StakingMarket {
    const market = this.staking.markets.get(symbol)
    if (market === undefined) throw new Error(`no staking market ${symbol}`)
    return market
  }

  publishRfq(rfq: Rfq): void {
    const account = this.accountOf(rfq.accountId)
    const { market } = this.listing(rfq.symbol)
    this.events.publish(account, this.clock.now, { type: "rfq", rfq: wireRfq(market, account.name, rfq) })
  }

  publishContract(contract: Contract): void {
    const account = this.accountOf(contract.accountId)
    const { market } = this.listing(contract.symbol)
    this.events.publish(account, this.clock.now, {
      type: "contract",
      contract: wireContract(market, account.name, contract)
    })
  }

  /** Opens a contract: registers its levels, and adds it to its account. */
  watch(contract: Contract): void {
    this.contractById.set(contract.id, contract)
    this.contracts.get(contract.symbol)?.add(contract)
    this.accountOf(contract.accountId).contracts.add(contract)
  }

  /** Ends a contract: pays its result, publishes the end, and ends a request to close it. */
  contractEnded(contract: Contract): void {
    const { market } = this.listing(contract.symbol)
    this.balances.move("contracts", houseAccounts.venue, contract.accountId, "USDC", resultOf(market, contract))
    // An early close settles at its quote, every other end at a mark.
    if (contract.state !== "EARLY_CLOSE") this.publishMark(contract.symbol, contract.settlePrice)
    this.publishContract(contract)
    this.accountOf(contract.accountId).contracts.delete(contract)
    this.endedContracts.push(contract)
    const oldest = this.endedContracts.size > this.kept.contracts ? this.endedContracts.shift() : undefined
    if (oldest !== undefined) this.contractById.delete(oldest.id)
    for (const rfq of this.rfqs.openOnes()) {
      if (rfq.closes?.id === contract.id) this.rfqs.end(rfq, "CANCELLED", "contract ended")
    }
  }

  /**
   * Publishes the mark that decides an event, before the event. A path can pass a mark between two ticks, and the service accepts
   * only marks that it received.
   */
  publishMark(symbol: string, mark: number | null): void {
    if (mark === null) return
    this.feeds.get(symbol)?.publishMark(this.clock.now, textOf(mark, this.listing(symbol).market.tickDecimals))
  }

  /** Publishes that a market's listing has changed, under the next listing version. */
  publishListing(symbol: string): void {
    this.events.publishListing(this.clock.now, ++this.settings.listingVersion, symbol)
  }

  /** Publishes a public trade and adds it to its kline. */
  print(
    fill: Pick<Fill, "tradeId" | "price" | "quantity" | "side" | "reason">,
    { market }: Listing,
    bucketPrice: number
  ): void {
    const { now } = this.clock
    this.klines.get(market.symbol)?.trade(now, bucketPrice, fill.quantity)
    this.feeds.get(market.symbol)?.traded({
      id: fill.tradeId,
      price: textOf(fill.price, market.tickDecimals),
      qty: textOf(fill.quantity, market.lotDecimals),
      side: fill.side,
      flags: fill.reason === "liquidation" ? ["LIQUIDATION"] : [],
      ts: now
    })
  }

  private addBase(base: Base, random: SeededRandom): void {
    this.prices.add(base.base, openingTicks(base), walkOf(base), random, this.options.startAt)
    for (const { market } of this.listingsOf.get(base.base) ?? []) {
      const { symbol, family } = market
      this.klines.set(symbol, new Klines())
      this.feeds.set(symbol, new Feed(market, this.listeners.market))
      if (family === "BARRIER") this.contracts.set(symbol, new Contracts())
      else this.makers.add(symbol, usualLadder(base))
      if (family === "PERP") this.funding.set(symbol, new Funding())
    }
  }

  private traded(event: ExchangeEvent): void {
    const { order } = event
    const listing = this.listing(order.symbol)
    const { market } = listing
    if (event.kind === "fill" && event.fill.liquidity === "TAKER" && prints(event.fill))
      this.print(event.fill, listing, event.fill.price)
    // House accounts have no events.
    if (order.accountId < 0) return
    const account = this.accountOf(order.accountId)
    const { now } = this.clock
    if (order.triggeredAt === now || (event.kind === "fill" && event.fill.reason !== null))
      this.publishMark(order.symbol, listing.prices.MARK)
    const wired = wireOrder(market, account.name, order)
    if (event.kind === "order") this.events.publish(account, now, { type: "order", order: wired })
    else {
      const fill = wireFill(market, account.name, order.ref, event.fill, now)
      this.events.publish(account, now, { type: "fill", fill, order: wired })
    }
  }

  private quoted(rfq: Rfq, quote: Quote): void {
    if (quote.state === "LIVE") this.agenda.add(quote.validUntil, { type: "quote", rfqId: rfq.id, quoteId: quote.id })
    const { market } = this.listing(rfq.symbol)
    this.events.publish(this.accountOf(rfq.accountId), this.clock.now, {
      type: "quote",
      rfqRef: rfq.ref,
      quote: wireQuote(market, quote)
    })
  }

  /** Objects of nouns by the ids of a known ref, for its outcome. */
  nounsShown(ids: Pick<Known, VenueNounName>): Pick<VenueOutcome, VenueNounName> {
    return Object.fromEntries(
      this.nouns.map(({ name, books }) => {
        const id = ids[name]
        return [name, id === undefined ? null : books.shown(id)]
      })
    ) as Pick<VenueOutcome, VenueNounName>
  }

  /** The account's objects of nouns that have not ended, by the name of their list. */
  nounsListed(account: Account): Pick<VenueAccount, NounList> {
    return Object.fromEntries(this.nouns.map(({ list, books }) => [list, books.listed(account)])) as Pick<
      VenueAccount,
      NounList
    >
  }

  publishNoun<N extends VenueNounName>(noun: N, accountId: number, object: NounObject<N>): void {
    const news = { type: noun, [noun]: object } as object as AccountNews
    this.events.publish(this.accountOf(accountId), this.clock.now, news)
  }

  private swapChanged(swap: Swap, payment: Payment | null): void {
    const market = this.stakingMarket(swap.symbol)
    if (payment !== null) this.balances.move("swaps", houseAccounts.venue, swap.accountId, market.asset, payment.amount)
    this.publishNoun("swap", swap.accountId, wireSwap(market, this.accountOf(swap.accountId).name, swap))
  }
}

/** Whether a fill is public. Deleveraging and settlement concern two accounts alone, so they are not. */
const prints = ({ reason }: Fill): boolean => reason === null || reason === "liquidation"
