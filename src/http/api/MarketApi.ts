/**
 * Market data, which no client is needed for (doc 2, Market data; A2-01..A2-12, A2-56, A2-113, A2-114). Routes marked bare
 * answer without the envelope, the ticker with sequence and time beside its data.
 */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import {
  CurrenciesWire,
  depths,
  FundingWire,
  IndexPriceWire,
  InstrumentsWire,
  intervals,
  KlinesWire,
  MarketInfoWire,
  MarketTradesWire,
  OrderBookWire,
  StakingMarketsWire,
  StakingOffersWire,
  TickersWire,
  TickerWire,
  TradingStatusWire
} from "../../machines/market/MarketWire.ts"
import { currencyCodes } from "../../machines/shared/Currency.ts"
import { pageLimits } from "../../machines/shared/Limits.ts"
import { bare, ok } from "./Envelope.ts"
import { limitParam, momentParam, nameParam, numberParam, symbolParam, tokenParam } from "./Parameters.ts"
import { BadRequest, NotFound, VenueAway } from "./WireErrors.ts"

const ofSymbol = { query: { symbol: symbolParam }, error: [BadRequest, NotFound, VenueAway] } as const

const summary = (text: string, description?: string) =>
  OpenApi.annotations({ summary: text, ...(description === undefined ? {} : { description }) })

const away =
  "While the venue is away the last figures are served until they are 10 seconds old, then the answer is 502."

export class MarketApi extends HttpApiGroup.make("market")
  .add(
    HttpApiEndpoint.get("instruments", "/instruments", {
      success: bare(InstrumentsWire),
      error: VenueAway
    }).annotateMerge(
      summary(
        "Every market that is listed (bare)",
        "Symbols and families; what may be traded in which way says market-info."
      )
    ),
    HttpApiEndpoint.get("ticker", "/ticker", {
      ...ofSymbol,
      success: TickerWire.annotate({ description: "Success." })
    }).annotateMerge(summary("Prices of one market", away)),
    HttpApiEndpoint.get("tickers", "/tickers", {
      success: bare(TickersWire),
      error: VenueAway
    }).annotateMerge(
      summary(
        "A row of prices for every listed market (bare)",
        "A market whose prices are not known has them null; so have all while the venue is away for more than 10 seconds."
      )
    ),
    HttpApiEndpoint.get("klines", "/klines", {
      query: {
        symbol: symbolParam,
        interval: tokenParam("interval", intervals, "The length of a bucket; 1m when absent.", "1m"),
        from: momentParam("from", "Inclusive, Unix ms; rounded down to its bucket."),
        to: momentParam("to", "Exclusive, Unix ms. 400 when it is before from."),
        limit: limitParam(pageLimits.klines)
      },
      success: ok(KlinesWire),
      error: [BadRequest, NotFound, VenueAway]
    }).annotateMerge(
      summary(
        "Candles of one market, oldest first",
        "interval is 1m when absent. Without bounds the newest buckets; with from the first ones from there, with to alone the last ones before it. A bucket without trades repeats the close before it. At most a second old."
      )
    ),
    HttpApiEndpoint.get("orderbook", "/orderbook", {
      query: {
        symbol: symbolParam,
        depth: numberParam("depth", depths, 25, "Levels a side: 1, 5, 25 or 100; 25 when absent.")
      },
      success: bare(OrderBookWire),
      error: [BadRequest, NotFound, VenueAway]
    }).annotateMerge(summary("The order book of one market (bare)", `${away} A BARRIER market has none: it is empty.`)),
    HttpApiEndpoint.get("marketTrades", "/market-trades", {
      query: { symbol: symbolParam, limit: limitParam(pageLimits.marketTrades) },
      success: bare(MarketTradesWire),
      error: [BadRequest, NotFound, VenueAway]
    }).annotateMerge(summary("The newest public trades of one market (bare)", away)),
    HttpApiEndpoint.get("indexPrice", "/index-price", {
      ...ofSymbol,
      success: bare(IndexPriceWire)
    }).annotateMerge(summary("The index price of one market (bare)", away)),
    HttpApiEndpoint.get("funding", "/funding", {
      ...ofSymbol,
      success: bare(FundingWire)
    }).annotateMerge(summary("Funding of one market (bare)", `${away} Rates are null but on PERP.`)),
    HttpApiEndpoint.get("marketInfo", "/market-info", {
      ...ofSymbol,
      success: bare(MarketInfoWire)
    }).annotateMerge(
      summary(
        "Grids, limits, leverage and commission of one market (bare)",
        "Everything an order or a contract is checked against beforehand: price and quantity steps, least and largest sizes, leverage by notional, the commission that applies to the calling partner, and the terms of knock-out contracts."
      )
    ),
    HttpApiEndpoint.get("tradingStatus", "/trading-status", {
      success: ok(TradingStatusWire),
      error: VenueAway
    }).annotateMerge(
      summary(
        "Halts of trading, the venue's and the service's",
        "Empty halts: everything trades. Each halt has its scope, since when, until when if that is known, and the message to show."
      )
    ),
    HttpApiEndpoint.get("currencies", "/currencies", {
      success: bare(CurrenciesWire),
      error: VenueAway
    }).annotateMerge(
      summary(
        "The currencies that a client may hold (bare)",
        "With their scale, which every amount of that currency has, and the places that are worth showing."
      )
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Market data",
      description: "Prices, books and terms of the markets. 503 code 5030 when no venue is attached to the service."
    })
  ) {}

export class StakingApi extends HttpApiGroup.make("staking")
  .add(
    HttpApiEndpoint.get("markets", "/staking/markets", {
      success: ok(StakingMarketsWire),
      error: VenueAway
    }).annotateMerge(
      summary(
        "The staking markets",
        "What may be lent: tenors, rates, sizes and the service's share of the reward, with the disclosure that has to be shown beside them."
      )
    ),
    HttpApiEndpoint.get("offers", "/staking/offers", {
      query: {
        asset: tokenParam("asset", currencyCodes, "Only offers of this asset."),
        symbol: nameParam("Only offers of this staking market. 404 when it is not offered.")
      },
      success: ok(StakingOffersWire),
      error: [BadRequest, NotFound, VenueAway]
    }).annotateMerge(
      summary("The board of staking offers", "Read at the venue every 2 seconds; stale when that was more than 10 ago.")
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Staking", description: "Staking swaps that writers offer." })) {}
