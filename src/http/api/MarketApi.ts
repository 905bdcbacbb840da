/**
 * Market data, which needs no client. Bare routes answer without the envelope; the ticker has sequence and time beside its data
 * (doc 2, Market data; A2-01..A2-12, A2-56, A2-113, A2-114).
 */
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { instruments } from "./InstrumentsApi.ts"
import { ticker } from "./TickerApi.ts"
import { tickers } from "./TickersApi.ts"
import { klines } from "./KlinesApi.ts"
import { orderbook } from "./OrderbookApi.ts"
import { marketTrades } from "./MarketTradesApi.ts"
import { indexPrice } from "./IndexPriceApi.ts"
import { funding } from "./FundingApi.ts"
import { marketInfo } from "./MarketInfoApi.ts"
import { tradingStatus } from "./TradingStatusApi.ts"
import { currencies } from "./CurrenciesApi.ts"

export class MarketApi extends HttpApiGroup.make("market")
  .add(
    instruments,
    ticker,
    tickers,
    klines,
    orderbook,
    marketTrades,
    indexPrice,
    funding,
    marketInfo,
    tradingStatus,
    currencies
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Market data",
      description: "Prices, books and terms of the markets. 503 code 5030 when no venue is attached to the service."
    })
  ) {}
