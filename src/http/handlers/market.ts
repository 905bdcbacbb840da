/** Market data. An answer that many callers read is rendered as JSON once per change (doc 2, Market data). */
import { Effect } from "effect"
import type { Verdict } from "../../machines/shared/Refusal.ts"
import { MarketReads } from "../../runtime/services/market/MarketReads.ts"
import { MarketApi } from "../api/MarketApi.ts"
import { invalidQuery, toWire } from "../../machines/shared/wireRefusal.ts"
import type { Principal } from "../../runtime/services/partners/Principal.ts"
import { feature } from "./feature.ts"
import { type Handlers, orRefused, refused, type Reply, shared } from "./handler.ts"

/** The reply for a verdict. Its success is an object that many callers read, so it is rendered as JSON once. */
const sharedOr = <A extends object>(verdict: Verdict<A>): Effect.Effect<Reply<A>> =>
  Effect.succeed(verdict.ok ? shared(verdict.value) : refused(toWire(verdict.refusal)))
const own = <A>(verdict: Verdict<A>): Effect.Effect<Reply<A>> => Effect.succeed(orRefused(verdict))

const backwards = refused(invalidQuery({ to: "The end of the window must not be before its start." }))

/** The handlers of market data for callers of any surface. */
export const marketHandlers = (reads: MarketReads["Service"]): Handlers<typeof MarketApi, Principal> => ({
  instruments: () => sharedOr(reads.instruments()),
  ticker: ({ query }) => sharedOr(reads.ticker(query.symbol)),
  tickers: () => sharedOr(reads.tickers()),
  klines: ({ query: { symbol, interval = "1m", from = null, to = null, limit } }) =>
    from !== null && to !== null && from > to
      ? Effect.succeed(backwards)
      : Effect.map(reads.klines(symbol, { interval, from, to, limit }), orRefused),
  orderbook: ({ query: { symbol, depth = 25 } }) => sharedOr(reads.orderbook(symbol, depth)),
  marketTrades: ({ query: { symbol, limit } }) => sharedOr(reads.trades(symbol, limit)),
  indexPrice: ({ query }) => own(reads.indexPrice(query.symbol)),
  funding: ({ query }) => own(reads.funding(query.symbol)),
  marketInfo: ({ query }) => sharedOr(reads.info(query.symbol)),
  tradingStatus: () => own(reads.status()),
  currencies: () => sharedOr(reads.currencies())
})

export const market = feature({
  api: MarketApi,
  layer: MarketReads.layer,
  handlers: Effect.map(MarketReads, marketHandlers)
})
