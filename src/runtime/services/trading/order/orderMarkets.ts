/** The present markets for orders: listing, halts, the venue connection, and last prices (A2-11, A2-36, A2-40, A2-114). */
import { Effect } from "effect"
import { type OrderMarket, orderMarket } from "../../../../machines/order/orderOnMarket.ts"
import type { MarketPrices } from "../../../../machines/order/orderRules.ts"
import { refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { MarketFeed } from "../../market/MarketFeed.ts"
import { unreached } from "../../market/MarketReads.ts"
import { type MarketServices, type TradedMarkets, tradedMarkets } from "../tradedMarkets.ts"

export interface Quoted extends MarketPrices {
  readonly bestBid: string | null
  readonly bestAsk: string | null
}

export interface OrderMarkets extends TradedMarkets {
  /** The listed market. Refused if it is not listed, or if no listing is known. */
  readonly find: (symbol: string) => Verdict<OrderMarket>
  /** The market's last published prices; null where unknown. */
  readonly quoted: (symbol: string) => Quoted
}

const unquoted: Quoted = { last: null, mark: null, index: null, bestBid: null, bestAsk: null }

export const orderMarkets: Effect.Effect<OrderMarkets, never, MarketServices> = Effect.gen(function* () {
  const feed = yield* MarketFeed
  const { mirror } = feed
  const listed = {
    market: (symbol: string) => mirror.markets.get(symbol)?.market ?? null,
    isStaking: (symbol: string) =>
      mirror.listing?.stakingMarkets.some((market) => market.symbol === symbol && !market.delisted) ?? false
  }
  return {
    ...(yield* tradedMarkets),
    find: (symbol) => {
      const refusal = unreached(feed)
      return refusal === null ? orderMarket(symbol, listed) : refuse(refusal)
    },
    quoted: (symbol) => {
      const ticker = mirror.markets.get(symbol)?.ticker.show()?.data ?? null
      if (ticker === null) return unquoted
      const { lastPrice, markPrice, indexPrice, bestBid, bestAsk } = ticker
      return { last: lastPrice, mark: markPrice, index: indexPrice, bestBid, bestAsk }
    }
  }
})
