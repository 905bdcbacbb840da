/** Candles of one market (doc 2, Market data; A2-05). */
import { HttpApiEndpoint } from "effect/http-api"
import { intervals, KlinesWire } from "../../machines/market/MarketWire.ts"
import { pageLimits } from "../../machines/shared/Limits.ts"
import { ok } from "./Envelope.ts"
import { limitParam, momentParam, symbolParam, tokenParam } from "./Parameters.ts"
import { summary } from "./summary.ts"
import { BadRequest, NotFound, VenueAway } from "./WireErrors.ts"

export const klines = HttpApiEndpoint.get("klines", "/klines", {
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
)
