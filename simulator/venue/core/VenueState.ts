/**
 * The whole state of a venue as plain JSON, and its restoration. Each order is stored once. An order with a ref is stored while
 * the venue keeps the ref; an order of the simulator itself, while it rests. Books and triggers are lists of order ids.
 */
import type { Json as JsonValue } from "../../../src/machines/shared/Json.ts"
import type { VenueNounName } from "../../../src/machines/venue/venueNouns.ts"
import type { Position } from "./Account.ts"
import { Agenda, type Entry } from "./Agenda.ts"
import { Balances, type BalancesState } from "./Balances.ts"
import type { Contract, StoredContract } from "./Contracts.ts"
import { EventLine, type EventLineState } from "./EventLine.ts"
import type { Exchange, Listing } from "./Exchange.ts"
import { Feed, type FeedState } from "./Feed.ts"
import type { FillsState } from "./Fills.ts"
import { Funding, type FundingState } from "./Funding.ts"
import { Klines, type KlinesState } from "./Klines.ts"
import type { LadderState } from "./Makers.ts"
import { isLive, type Order, type TriggerSource } from "./Order.ts"
import type { PricesState } from "./Prices.ts"
import type { RefsState } from "./Refs.ts"
import type { Rfq } from "./Rfqs.ts"
import type { Offer, Swap } from "./Staking.ts"
import { SeededRandom } from "../../partner/SeededRandom.ts"
import type { VenueListeners, VenueOptions } from "./VenueInput.ts"
import { type Settings, VenueParts } from "./VenueParts.ts"

/** The plain data of an order. Orders from before bounds existed have no bound. */
type OrderState = Omit<Order, "level" | "previous" | "next" | "waiting" | "boundBps"> & Partial<Pick<Order, "boundBps">>

interface ListingState extends Pick<Listing, "prices" | "lastHeld" | "openInterest" | "halt" | "delisted"> {
  readonly symbol: string
  /** Order ids: in a book in the order of execution, in a list of triggers in the order of firing. */
  readonly bids: ReadonlyArray<number>
  readonly asks: ReadonlyArray<number>
  readonly waiting: Readonly<Record<TriggerSource, ReadonlyArray<number>>>
  readonly feed: FeedState
  readonly klines: KlinesState
  readonly funding: FundingState | null
}

interface AccountState {
  readonly id: number
  readonly name: string
  readonly sequence: number
  readonly positions: ReadonlyArray<readonly [symbol: string, lots: number, flow: string]>
}

/** A value with every bigint as a string of digits. */
type Json<A> = A extends bigint
  ? string
  : A extends ReadonlyArray<infer Item>
    ? ReadonlyArray<Json<Item>>
    : A extends object
      ? { readonly [Key in keyof A]: Json<A[Key]> }
      : A

export interface VenueState {
  readonly version: 1
  readonly options: VenueOptions
  readonly now: number
  readonly settings: Settings
  readonly basisHalfLifeMillis: number
  readonly streams: {
    readonly makers: number
    readonly writers: number
    readonly boards: number
    readonly orders?: number
  }
  readonly ids: {
    readonly exchange: Exchange["ids"]
    readonly rfqs: VenueParts["rfqs"]["ids"]
    readonly staking: VenueParts["staking"]["ids"]
    /**
     * The id of the last opened contract. Absent in older states, which still hold every contract: the highest stored id is
     * then the last.
     */
    readonly contract?: number
  }
  readonly accounts: ReadonlyArray<AccountState>
  readonly orders: ReadonlyArray<OrderState>
  /** The fills that the venue keeps. Absent in states from before fills were kept. */
  readonly fills?: FillsState
  readonly listings: ReadonlyArray<ListingState>
  readonly ladders: ReadonlyArray<LadderState>
  readonly prices: ReadonlyArray<PricesState>
  readonly contracts: ReadonlyArray<StoredContract>
  /** Requests for quotes. In older states `closes` is only the contract's id. */
  readonly rfqs: ReadonlyArray<Omit<Rfq, "closes"> & { readonly closes: Rfq["closes"] | number }>
  readonly stakingMarkets: ReadonlyArray<{
    readonly symbol: string
    readonly enabled: boolean
    readonly delisted: boolean
  }>
  readonly offers: ReadonlyArray<Json<Offer>>
  /** The swaps. States from before corrections were kept lack the corrections. */
  readonly swaps: ReadonlyArray<Omit<Json<Swap>, "corrections"> & Partial<Pick<Json<Swap>, "corrections">>>
  /** Objects of other nouns, by noun. Absent in states from before these objects were kept. */
  readonly nouns?: { readonly [N in VenueNounName]?: JsonValue }
  readonly agenda: ReadonlyArray<Entry>
  readonly balances: BalancesState
  readonly refs: RefsState
  readonly events: EventLineState
}

export const stateOf = (parts: VenueParts): VenueState => {
  const { exchange, makers, prices, rfqs, staking, streams } = parts
  return {
    version: 1,
    options: parts.options,
    now: parts.clock.now,
    settings: { ...parts.settings },
    basisHalfLifeMillis: prices.basisHalfLifeMillis,
    streams: {
      makers: makers.random.position,
      writers: streams.writers.position,
      boards: streams.boards.position,
      orders: streams.orders.position
    },
    ids: {
      exchange: { ...exchange.ids },
      rfqs: { ...rfqs.ids },
      staking: { ...staking.ids },
      contract: parts.lastContract
    },
    accounts: [...exchange.accounts.values()].map(({ id, name, sequence, positions }) => ({
      id,
      name,
      sequence,
      positions: [...positions].map(([symbol, { lots, flow }]) => [symbol, lots, String(flow)] as const)
    })),
    orders: ordersOf(exchange).map(plainOrder),
    fills: exchange.fills.state(),
    listings: [...exchange.listings.values()].map((listing) => listingState(parts, listing)),
    ladders: makers.state(),
    prices: prices.state(),
    contracts: [...openContracts(parts), ...parts.endedContracts.all()].map(plainContract),
    rfqs: rfqs.all().map((rfq) => ({
      ...rfq,
      quotes: rfq.quotes.map((quote) => ({ ...quote }))
    })),
    stakingMarkets: [...staking.markets.values()].map(({ symbol, enabled, delisted }) => ({
      symbol,
      enabled,
      delisted
    })),
    offers: [...staking.offers.values()].map((offer) => ({
      ...offer,
      qty: String(offer.qty),
      minQty: String(offer.minQty),
      remaining: String(offer.remaining)
    })),
    swaps: staking.all().map((swap) => ({
      ...swap,
      notional: String(swap.notional),
      reward: String(swap.reward),
      fee: String(swap.fee),
      corrections: swap.corrections.map((correction) => ({ ...correction, fee: String(correction.fee) })),
      payments: swap.payments.map((payment) => ({ ...payment, amount: String(payment.amount) }))
    })),
    nouns: Object.fromEntries(
      parts.nouns.flatMap(({ name, books }) => (books.state === undefined ? [] : [[name, books.state()]]))
    ),
    agenda: parts.agenda.state(),
    balances: parts.balances.state(),
    refs: parts.refs.state(),
    events: parts.events.state()
  }
}

export const partsOf = (state: VenueState, listeners: VenueListeners): VenueParts => {
  const parts = new VenueParts(state.options, listeners)
  const { exchange, staking } = parts
  parts.clock.now = state.now
  Object.assign(parts.settings, state.settings)
  Object.assign(exchange.ids, state.ids.exchange)
  Object.assign(parts.rfqs.ids, state.ids.rfqs)
  Object.assign(staking.ids, state.ids.staking)
  parts.makers.random = new SeededRandom(state.streams.makers)
  parts.streams.writers = new SeededRandom(state.streams.writers)
  parts.streams.boards = new SeededRandom(state.streams.boards)
  if (state.streams.orders !== undefined) parts.streams.orders = new SeededRandom(state.streams.orders)
  parts.turnOrders(parts.settings.orders)
  parts.prices.restore(state.prices)
  parts.prices.basisHalfLifeMillis = state.basisHalfLifeMillis
  for (const account of state.accounts) restoreAccount(parts, account)
  const orders = new Map(state.orders.map((order) => [order.id, restoredOrder(order)]))
  for (const listing of state.listings) restoreListing(parts, listing, orders)
  exchange.fills.restore(state.fills ?? [])
  exchange.adopt([...orders.values()])
  parts.makers.adopt(state.ladders)
  restoreContracts(parts, state)
  restoreStaking(parts, state)
  for (const { name, books } of parts.nouns) {
    const kept = state.nouns?.[name]
    if (kept !== undefined) books.restore?.(kept)
  }
  parts.agenda = new Agenda(state.agenda)
  parts.balances = new Balances(state.balances)
  parts.refs = parts.refsOf(state.refs)
  parts.events = new EventLine(listeners.event, state.events)
  return parts
}

const openContracts = ({ contractById }: VenueParts): ReadonlyArray<Contract> =>
  [...contractById.values()].filter(({ state }) => state === "OPEN")

/**
 * The orders of a state, in its order: live orders with a ref, ended orders with a ref, then the simulator's own resting
 * orders.
 */
const ordersOf = (exchange: Exchange): ReadonlyArray<Order> => [
  ...[...exchange.orders.values()].filter(isLive),
  ...exchange.ended.all(),
  ...[...exchange.listings.values()].flatMap((listing) =>
    exchange.liveOrders(listing).filter(({ ref }) => ref === null)
  )
]

const plainOrder = ({
  level: _level,
  previous: _previous,
  next: _next,
  waiting: _waiting,
  ...order
}: Order): OrderState => order

const plainContract = ({ waits: _waits, ...contract }: Contract): StoredContract => contract

const restoredOrder = (order: OrderState): Order => ({
  ...order,
  boundBps: order.boundBps ?? null,
  level: null,
  previous: null,
  next: null,
  waiting: null
})

const listingState = ({ feeds, klines, funding }: VenueParts, listing: Listing): ListingState => {
  const { market, book, waiting, prices, lastHeld, openInterest, halt, delisted } = listing
  const ids = (orders: Iterable<Order>): ReadonlyArray<number> => [...orders].map(({ id }) => id)
  const waits = (source: TriggerSource) => ids(waiting[source].all().map(({ item }) => item))
  const [feed, series] = [feeds.get(market.symbol), klines.get(market.symbol)]
  if (feed === undefined || series === undefined) throw new Error(`${market.symbol} has no feed`)
  return {
    symbol: market.symbol,
    prices: { ...prices },
    lastHeld,
    openInterest,
    halt,
    delisted,
    bids: ids(book.orders("BUY")),
    asks: ids(book.orders("SELL")),
    waiting: { LAST: waits("LAST"), MARK: waits("MARK"), INDEX: waits("INDEX") },
    feed: feed.state(),
    klines: series.state(),
    funding: funding.get(market.symbol)?.state() ?? null
  }
}

const restoreListing = (parts: VenueParts, state: ListingState, orders: ReadonlyMap<number, Order>): void => {
  const { symbol, prices, lastHeld, openInterest, halt, delisted } = state
  const listing = parts.listing(symbol)
  Object.assign(listing.prices, prices)
  Object.assign(listing, { lastHeld, openInterest, halt, delisted })
  const order = (id: number): Order => {
    const found = orders.get(id)
    if (found === undefined) throw new Error(`${symbol} has an order ${id} that is not there`)
    return found
  }
  for (const id of [...state.bids, ...state.asks]) listing.book.add(order(id))
  for (const source of ["LAST", "MARK", "INDEX"] as const) {
    for (const waits of state.waiting[source].map(order)) {
      if (waits.trigger !== null)
        waits.waiting = listing.waiting[source].add(waits.trigger.direction, waits.trigger.price, waits)
    }
  }
  parts.feeds.set(symbol, new Feed(listing.market, parts.listeners.market, state.feed))
  parts.klines.set(symbol, new Klines(state.klines))
  if (state.funding !== null) parts.funding.set(symbol, new Funding(state.funding))
}

const restoreAccount = (parts: VenueParts, { id, name, sequence, positions }: AccountState): void => {
  const account = parts.exchange.open(id, name)
  account.sequence = sequence
  if (id > 0) parts.accountIds.set(name, id)
  for (const [symbol, lots, flow] of positions) {
    const position: Position = { lots, flow: BigInt(flow) }
    account.positions.set(symbol, position)
  }
}

const restoreContracts = (parts: VenueParts, state: VenueState): void => {
  const names = new Map<string, string>()
  for (const stored of state.contracts) {
    const contract = restoredContract(stored, names)
    parts.lastContract = Math.max(parts.lastContract, contract.id)
    if (contract.state === "OPEN") parts.watch(contract)
    else {
      parts.contractById.set(contract.id, contract)
      parts.endedContracts.push(contract)
    }
  }
  parts.lastContract = state.ids.contract ?? parts.lastContract
  for (const { closes, ...stored } of state.rfqs) {
    const closed =
      typeof closes === "number" ? { id: closes, dealer: parts.contractById.get(closes)?.dealer ?? "" } : closes
    parts.rfqs.adopt({ ...stored, closes: closed, quotes: stored.quotes.map((quote) => ({ ...quote })) })
  }
}

/**
 * Restores a contract. Contracts share one copy of each common name, so that a restored contract takes no more memory than
 * a new one.
 */
const restoredContract = (stored: StoredContract, names: Map<string, string>): Contract => {
  const shared = <Name extends string>(name: Name): Name => {
    const known = names.get(name)
    if (known === undefined) names.set(name, name)
    return (known ?? name) as Name
  }
  return {
    id: stored.id,
    tradeId: stored.tradeId,
    accountId: stored.accountId,
    ref: stored.ref,
    dealer: shared(stored.dealer),
    entry: stored.entry,
    symbol: shared(stored.symbol),
    side: shared(stored.side),
    quantity: stored.quantity,
    barrier: stored.barrier,
    takeProfit: stored.takeProfit,
    expiryAt: stored.expiryAt,
    strict: stored.strict,
    premiumBps: stored.premiumBps,
    openedAt: stored.openedAt,
    state: shared(stored.state),
    settlePrice: stored.settlePrice,
    endedAt: stored.endedAt,
    waits: null
  }
}

const restoreStaking = ({ staking }: VenueParts, state: VenueState): void => {
  for (const { symbol, ...switches } of state.stakingMarkets) Object.assign(staking.markets.get(symbol) ?? {}, switches)
  for (const offer of state.offers) {
    const [qty, minQty, remaining] = [BigInt(offer.qty), BigInt(offer.minQty), BigInt(offer.remaining)]
    staking.offers.set(offer.id, { ...offer, qty, minQty, remaining })
  }
  for (const swap of state.swaps) {
    const payments = swap.payments.map((payment) => ({ ...payment, amount: BigInt(payment.amount) }))
    const [notional, reward, fee] = [BigInt(swap.notional), BigInt(swap.reward), BigInt(swap.fee)]
    const corrections = (swap.corrections ?? []).map((correction) => ({ ...correction, fee: BigInt(correction.fee) }))
    staking.adopt({ ...swap, notional, reward, fee, corrections, payments })
  }
}
