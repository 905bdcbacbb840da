/**
 * The current feed of every market: figures of a ticker, levels, trades. Published once a tick and after a command, not for
 * each order.
 */
import type { Listing } from "./Exchange.ts"
import type { Figures } from "./Feed.ts"
import { nextStamp } from "./Funding.ts"
import { rateDecimals, textOf } from "./texts.ts"
import type { VenueParts } from "./VenueParts.ts"

export const publishMarketData = (parts: VenueParts): void => {
  for (const listing of parts.exchange.listings.values()) if (!listing.delisted) publishMarket(parts, listing)
}

export const publishMarket = (parts: VenueParts, listing: Listing): void => {
  const { book, market } = listing
  parts.feeds
    .get(market.symbol)
    ?.publish(parts.clock.now, figuresOf(parts, listing), (side, levels) => book.depth(side, levels))
}

const figuresOf = ({ clock, klines, funding }: VenueParts, listing: Listing): Figures => {
  const { market, prices, book, openInterest } = listing
  const { symbol, family, tickDecimals, lotDecimals } = market
  const price = (ticks: number | null): string | null => (ticks === null ? null : textOf(ticks, tickDecimals))
  const rates = funding.get(symbol)
  return {
    last: price(prices.LAST),
    mark: price(prices.MARK),
    index: price(prices.INDEX),
    bestBid: price(book.best("BUY")),
    bestAsk: price(book.best("SELL")),
    volume24h: textOf(klines.get(symbol)?.volume24h(clock.now) ?? 0, lotDecimals),
    openInterest: family === "PERP" ? textOf(openInterest, lotDecimals) : null,
    funding:
      rates === undefined
        ? null
        : {
            rate: textOf(rates.rate, rateDecimals),
            predicted: textOf(rates.predicted, rateDecimals),
            nextAt: nextStamp(clock.now)
          }
  }
}
