/**
 * Market data of the direct API. No credential is needed. Each route is the partner's route of the same name, so shapes
 * can't differ (doc 2, Direct client API summary; DIR-3).
 */
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { currencies } from "../CurrenciesApi.ts"
import { instruments } from "../InstrumentsApi.ts"
import { klines } from "../KlinesApi.ts"
import { marketInfo } from "../MarketInfoApi.ts"
import { orderbook } from "../OrderbookApi.ts"
import { PublicRoute } from "../RouteRules.ts"
import { ticker } from "../TickerApi.ts"
import { tickers } from "../TickersApi.ts"
import { tradingStatus } from "../TradingStatusApi.ts"

export class DirectMarketApi extends HttpApiGroup.make("market")
  .add(instruments, tickers, ticker, klines, orderbook, marketInfo, currencies, tradingStatus)
  .annotate(PublicRoute, true)
  .annotateMerge(
    OpenApi.annotations({
      title: "Market data",
      description: "Prices, books and terms of the markets. 503 code 5030 when no venue is attached to the service."
    })
  ) {}
