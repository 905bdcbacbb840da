/** Markets and the service's own trading halts (operator surface, market; doc 2, GET /trading-status; A2-11; F3). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { haltFamilies, haltMessageLength, tradingHaltStates } from "../../../machines/market/TradingHalt.ts"
import { text } from "../../../machines/shared/Fields.ts"
import { admin, everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Millis, rangeOf } from "./OperatorFieldSchemas.ts"

const ActiveHalt = Schema.Struct({
  scope: Schema.String,
  since: Millis,
  until: Schema.NullOr(Millis),
  message: Schema.String
})

export const MarketRow = Schema.Struct({
  symbol: Schema.String,
  family: Schema.Literals(haltFamilies),
  last: Schema.NullOr(Schema.String),
  mark: Schema.NullOr(Schema.String),
  index: Schema.NullOr(Schema.String),
  /** Whether the mark price is recent enough for risk decisions. */
  fresh: Schema.Boolean,
  /** True while the venue itself halts the market. `haltedByUs`: true while a halt of this service does. */
  halted: Schema.Boolean,
  haltedByUs: Schema.Boolean,
  delisted: Schema.Boolean
})

export const HaltView = Schema.Struct({
  haltId: Schema.Int,
  scope: Schema.String,
  message: Schema.String,
  since: Millis,
  until: Schema.NullOr(Millis),
  status: Schema.Literals(tradingHaltStates),
  endedAt: Schema.NullOr(Millis)
})

/** ALL, a family, or the symbol of a listed market. */
const Scope = text("The scope", 32)
const Until = rangeOf("The end in Unix ms", 0, Number.MAX_SAFE_INTEGER)

export class MarketGroup extends HttpApiGroup.make("market").add(
  HttpApiEndpoint.get("list", "/markets", {
    success: Answer(Schema.Struct({ markets: Schema.Array(MarketRow), halts: Schema.Array(ActiveHalt) }))
  }).pipe(openTo(everyone, { resident: true })),
  HttpApiEndpoint.post("halt", "/markets/halt", {
    payload: Schema.Struct({
      scope: Scope,
      message: text("The message", haltMessageLength),
      until: Schema.optionalKey(Until)
    }),
    success: Answer(HaltView)
  }).pipe(openTo(admin)),
  HttpApiEndpoint.post("resume", "/markets/resume", {
    payload: Schema.Struct({ scope: Scope }),
    success: Answer(HaltView)
  }).pipe(openTo(admin))
) {}
