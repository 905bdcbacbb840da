/**
 * Market data for partners, from the feed. Objects are made once per change, shared by all readers and never mutated,
 * so that each is serialised once (A2-114).
 */
import { Context, Effect, Layer } from "effect"
import { bucketsOf, type KlineQuery } from "../../../machines/market/klineWindow.ts"
import { onGrid } from "../../../machines/market/Grid.ts"
import type {
  CurrenciesWire,
  FundingWire,
  IndexPriceWire,
  InstrumentsWire,
  KlinesWire,
  MarketInfoWire,
  MarketTradesWire,
  OrderBookWire,
  TickersWire,
  TickerWire,
  TradingStatusWire
} from "../../../machines/market/MarketWire.ts"
import { type Currency, currencyCodes, currencyFacts } from "../../../machines/shared/Currency.ts"
import { accept, notOffered, refuse, type Refusal, type Verdict } from "../../../machines/shared/Refusal.ts"
import { klineIntervals } from "../../../machines/venue/marketData.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { Settings } from "../../Settings.ts"
import type { ListedMarket } from "./MarketMirror.ts"
import { MarketFeed } from "./MarketFeed.ts"
import { MarketHalts } from "./MarketHalts.ts"
import { marketInfoOf } from "./marketInfo.ts"
import { Shared } from "./Shared.ts"
import { noTicker } from "./TickerMirror.ts"

const noVenue: Refusal = { _tag: "NoVenue", sentence: "No venue is attached to this service." }
const venueAway: Refusal = { _tag: "VenueAway", reason: "VENUE_UNREACHABLE", sentence: "The venue can not be reached." }

/** The refusal if no market is known, because there is no venue or it was not reached since the start; otherwise null. */
export const unreached = (feed: MarketFeed["Service"]): Refusal | null => {
  const standing = feed.standing()
  return standing === "unattached" ? noVenue : standing === "never" || feed.mirror.listing === null ? venueAway : null
}

export class MarketReads extends Context.Service<
  MarketReads,
  {
    instruments(): Verdict<InstrumentsWire>
    ticker(symbol: string): Verdict<TickerWire>
    tickers(): Verdict<TickersWire>
    klines(symbol: string, query: KlineQuery): Effect.Effect<Verdict<KlinesWire>>
    orderbook(symbol: string, depth: number): Verdict<OrderBookWire>
    trades(symbol: string, limit: number): Verdict<MarketTradesWire>
    indexPrice(symbol: string): Verdict<IndexPriceWire>
    funding(symbol: string): Verdict<FundingWire>
    info(symbol: string): Verdict<MarketInfoWire>
    status(): Verdict<TradingStatusWire>
    currencies(): Verdict<CurrenciesWire>
  }
>()("brokerage/runtime/services/market/MarketReads") {
  static readonly layer: Layer.Layer<MarketReads, never, MarketFeed | BusinessClock | Settings | MarketHalts> =
    Layer.effect(
      MarketReads,
      Effect.gen(function* () {
        return new Reads(yield* MarketFeed, yield* BusinessClock, yield* MarketHalts, (yield* Settings).marketTerms)
      })
    )
}

class Reads implements MarketReadsShape {
  private readonly listed = new Shared<null, InstrumentsWire>()
  private readonly rows = new Shared<null, TickersWire>()
  private readonly infos = new WeakMap<ListedMarket, MarketInfoWire>()
  private readonly feed: MarketFeed["Service"]
  private readonly clock: BusinessClock["Service"]
  private readonly halts: MarketHalts["Service"]
  private readonly terms: Settings["Service"]["marketTerms"]

  constructor(
    feed: MarketFeed["Service"],
    clock: BusinessClock["Service"],
    halts: MarketHalts["Service"],
    terms: Settings["Service"]["marketTerms"]
  ) {
    this.feed = feed
    this.clock = clock
    this.halts = halts
    this.terms = terms
  }

  instruments(): Verdict<InstrumentsWire> {
    const { mirror } = this.feed
    return this.known(() => this.listed.of(mirror.listing, null, () => ({ instruments: instrumentsOf(this.feed) })))
  }

  ticker(symbol: string): Verdict<TickerWire> {
    return this.live(symbol, ({ ticker }) => ticker.show())
  }

  tickers(): Verdict<TickersWire> {
    const { mirror } = this.feed
    const away = this.feed.standing() === "away"
    return this.known(() =>
      this.rows.of(away ? mirror.listing : mirror.changes, null, () => ({
        asOf: this.clock.now(),
        tickers: [
          ...[...mirror.markets].map(([symbol, { ticker }]) => (away ? noTicker(symbol) : ticker.row())),
          ...stakingSymbols(this.feed).map((symbol) => ({ ...noTicker(symbol), volume24h: "0" }))
        ]
      }))
    )
  }

  klines(symbol: string, query: KlineQuery): Effect.Effect<Verdict<KlinesWire>> {
    const market = this.market(symbol)
    if (!market.ok) return Effect.succeed(market)
    return this.feed.klines.page({ symbol, ...query }).pipe(
      Effect.map((page) => {
        const { klines, hasMore } = bucketsOf(query, page)
        const { interval } = query
        return accept({
          symbol,
          interval,
          intervalMs: klineIntervals[interval],
          klines: klines.map((row) => onGrids(row, market.value)),
          hasMore,
          oldestAvailable: page.oldestAvailable,
          asOf: page.asOf
        })
      }),
      Effect.catch(() => Effect.succeed(refuse(venueAway)))
    )
  }

  orderbook(symbol: string, depth: number): Verdict<OrderBookWire> {
    return this.live(symbol, ({ market, ticker, book, following }) => {
      if (market.family !== "BARRIER") return following.book.seq === 0 ? null : book.show(depth)
      const shown = ticker.show()
      return shown === null ? null : { symbol, bids: [], asks: [], checksum: 0, asOfSeq: shown.asOfSeq, ts: shown.ts }
    })
  }

  trades(symbol: string, limit: number): Verdict<MarketTradesWire> {
    return this.live(symbol, ({ trades, following }) => (following.trades.seq === 0 ? null : trades.show(limit)))
  }

  indexPrice(symbol: string): Verdict<IndexPriceWire> {
    return this.live(symbol, ({ ticker }) => {
      const shown = ticker.show()
      return shown === null ? null : { symbol, indexPrice: shown.data.indexPrice, ts: shown.ts }
    })
  }

  funding(symbol: string): Verdict<FundingWire> {
    return this.live(symbol, ({ ticker }) => ticker.funding())
  }

  info(symbol: string): Verdict<MarketInfoWire> {
    const market = this.market(symbol)
    if (!market.ok) return market
    const found = this.infos.get(market.value) ?? marketInfoOf(market.value, this.terms)
    this.infos.set(market.value, found)
    return accept(found)
  }

  status(): Verdict<TradingStatusWire> {
    return this.known(() => {
      const asOf = this.clock.now()
      const ofVenue = [...this.feed.mirror.markets.values()].flatMap(({ market: { symbol, halt } }) =>
        halt === null ? [] : [{ scope: symbol, since: halt.since, until: null, message: halt.message }]
      )
      const halts = [...this.halts.active(), ...ofVenue]
      return { asOf, halted: halts.length > 0, halts }
    })
  }

  currencies(): Verdict<CurrenciesWire> {
    return this.known(() => currencies)
  }

  private known<A>(value: () => A): Verdict<A> {
    const refusal = unreached(this.feed)
    return refusal === null ? accept(value()) : refuse(refusal)
  }

  private market(symbol: string): Verdict<ListedMarket> {
    const refusal = unreached(this.feed)
    if (refusal !== null) return refuse(refusal)
    const market = this.feed.mirror.markets.get(symbol)
    return market === undefined ? refuse(notOffered) : accept(market)
  }

  /**
   * The known value of a market. Refused if `value` returns null because it is not known yet, and if the venue has been
   * unavailable for longer than its data may be served (A2-114).
   */
  private live<A>(symbol: string, value: (market: ListedMarket) => A | null): Verdict<A> {
    const market = this.market(symbol)
    if (!market.ok) return market
    const found = this.feed.standing() === "away" ? null : value(market.value)
    return found === null ? refuse(venueAway) : accept(found)
  }
}

type MarketReadsShape = MarketReads["Service"]

const stakingSymbols = ({ mirror }: MarketFeed["Service"]): ReadonlyArray<string> =>
  (mirror.listing?.stakingMarkets ?? []).flatMap(({ symbol, delisted }) => (delisted ? [] : [symbol]))

const instrumentsOf = ({ mirror }: MarketFeed["Service"]): InstrumentsWire["instruments"] => [
  ...[...mirror.markets.values()].map(({ market: { symbol, family, displayName, assetClass } }) => ({
    symbol,
    family,
    displayName,
    assetClass
  })),
  ...(mirror.listing?.stakingMarkets ?? []).flatMap(({ symbol, name, delisted }) =>
    delisted ? [] : [{ symbol, family: "STAKING" as const, displayName: name, assetClass: "crypto" as const }]
  )
]

const currencies: CurrenciesWire = {
  cash: "USDC",
  currencies: currencyCodes.map((code: Currency) => {
    const { kind, displayDecimals, scale } = currencyFacts[code]
    return { code, kind, venueAsset: code, displayDecimals, scale }
  })
}

type Row = KlinesWire["klines"][number]

/** A row with its numbers on the market's grids. A number off the grid stays as the venue sent it. */
const onGrids = (row: Row, { price, qty }: ListedMarket): Row => {
  const at = (text: string): string => onGrid(text, price)?.text ?? text
  const volume = onGrid(row.volume, qty)
  return {
    ...row,
    open: at(row.open),
    high: at(row.high),
    low: at(row.low),
    close: at(row.close),
    volume: volume === null || volume.units === 0 ? row.volume : volume.text
  }
}
