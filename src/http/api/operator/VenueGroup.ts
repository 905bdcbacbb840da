/**
 * Test commands for the simulated venue, one endpoint each. Only sandboxes have them, except `venue resolve` and `venue
 * reconcile`, which every service has (operator surface, sim venue; C1).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { text, token } from "../../../machines/shared/Fields.ts"
import { olderThanMoney } from "../../../machines/reconciliation/money.ts"
import { probesAtOnce, venueProbeStates } from "../../../machines/venueChecks/VenueProbe.ts"
import {
  dealerMoods,
  executionReasons,
  everyFault,
  faultRoutes,
  heldPrices,
  longestKnobs
} from "../../../venue/testerTokens.ts"
import { longestPathText } from "../../../venue/pricePath.ts"
import { VenueCommandAnswer, VenueView } from "../../../venue/VenueCommand.ts"
import { admin, finance, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { OptionalBody, rangeOf } from "./OperatorFieldSchemas.ts"
import { venueResolve } from "./venueResolve.ts"

const shaped = (label: string, pattern: RegExp, form: string) => {
  const message = `${label} must be ${form}.`
  return Schema.String.annotate({ message })
    .check(Schema.isPattern(pattern, { message }))
    .annotateKey({ messageMissingKey: `${label} is required.` })
}
const digits = "(0|[1-9][0-9]{0,14})(\\.[0-9]{1,12})?"
const decimal = (label: string) => shaped(label, new RegExp(`^${digits}$`), "a decimal such as 60000.5")
const signed = (label: string) => shaped(label, new RegExp(`^-?${digits}$`), "a decimal with its sign, such as -2.5")
const symbol = shaped("The symbol", /^[A-Z0-9]{1,12}(-[A-Z0-9]{1,8}){0,2}$/, "a symbol such as BTC-USDC-PERP")
const contractId = rangeOf("The contract id", 1, Number.MAX_SAFE_INTEGER)
const millis = (label: string) => Schema.optionalKey(rangeOf(label, 1, 86_400_000_000))

/** The cap of a text in bytes. It exceeds the number of characters, because JSON may escape each of them. */
const textCap = (characters: number): number => characters * 2 + 1_024

/** A field for a text of several lines, such as a file, with at most `max` characters. */
const lines = (label: string, max: number) => {
  const message = `${label} must be text of at most ${max} characters.`
  return Schema.String.annotate({ message })
    .check(Schema.isMaxLength(max, { message }))
    .annotateKey({ messageMissingKey: `${label} is required.` })
}

const path = <const P extends string>(name: P) => `/sim/venue/${name}` as const
const answers = Answer(VenueCommandAnswer)

/** Probe orders, which can neither fill nor rest, with the outcome of each. IN_FLIGHT: the outcome was unknown after 5 s. */
export const ProbesView = Schema.Struct({
  clientId: Schema.Int,
  symbol: Schema.String,
  price: Schema.String,
  probes: Schema.Array(
    Schema.Struct({
      probeId: Schema.Int,
      state: Schema.Literals(venueProbeStates),
      venueOrderId: Schema.NullOr(Schema.Int),
      reason: Schema.NullOr(Schema.String)
    })
  )
})

export class VenueGroup extends HttpApiGroup.make("venue").add(
  HttpApiEndpoint.get("show", "/sim/venue", { success: Answer(VenueView) }).pipe(openTo(admin)),
  HttpApiEndpoint.post("restart", path("restart"), { payload: OptionalBody({}), success: answers }).pipe(openTo(admin)),
  HttpApiEndpoint.post("set", path("set"), {
    payload: Schema.Struct({ knobs: lines("The knobs", longestKnobs) }),
    success: answers
  }).pipe(openTo(admin, { bodyCap: textCap(longestKnobs) })),
  HttpApiEndpoint.post("price", path("price"), {
    payload: Schema.Struct({
      symbol,
      price: decimal("The price"),
      only: Schema.optionalKey(token("Which price", heldPrices))
    }),
    success: answers
  }).pipe(openTo(admin)),
  /** `path` has the lines of the file. */
  HttpApiEndpoint.post("path", path("path"), {
    payload: Schema.Struct({ symbol, path: lines("The path", longestPathText) }),
    success: answers
  }).pipe(openTo(admin, { bodyCap: textCap(longestPathText) })),
  HttpApiEndpoint.post("book", path("book"), {
    payload: Schema.Struct({
      symbol,
      size: decimal("The size"),
      levels: Schema.optionalKey(rangeOf("The levels", 1, 1_000)),
      spread: Schema.optionalKey(rangeOf("The spread in ticks", 1, 1_000_000))
    }),
    success: answers
  }).pipe(openTo(admin)),
  HttpApiEndpoint.post("funding", path("funding"), {
    payload: Schema.Struct({ symbol, rate: signed("The rate") }),
    success: answers
  }).pipe(openTo(admin)),
  HttpApiEndpoint.post("execute", path("execute"), {
    payload: Schema.Struct({
      client: text("The client", 254),
      symbol,
      qty: signed("The quantity"),
      price: Schema.optionalKey(decimal("The price")),
      reason: token("The reason", executionReasons)
    }),
    success: answers
  }).pipe(openTo(admin)),
  HttpApiEndpoint.post("fault", path("fault"), {
    payload: Schema.Struct({
      kind: token("The kind", everyFault),
      route: Schema.optionalKey(token("The route", faultRoutes)),
      symbol: Schema.optionalKey(symbol),
      forMillis: millis("How long, in milliseconds,"),
      times: Schema.optionalKey(rangeOf("How often", 1, 1_000_000)),
      delayMillis: millis("The delay in milliseconds")
    }),
    success: answers
  }).pipe(openTo(admin)),
  HttpApiEndpoint.post("dealers", path("dealers"), {
    payload: Schema.Struct({ mood: token("The mood", dealerMoods) }),
    success: answers
  }).pipe(openTo(admin)),
  HttpApiEndpoint.post("halt", path("halt"), { payload: Schema.Struct({ symbol }), success: answers }).pipe(
    openTo(admin)
  ),
  HttpApiEndpoint.post("resume", path("resume"), { payload: Schema.Struct({ symbol }), success: answers }).pipe(
    openTo(admin)
  ),
  HttpApiEndpoint.post("delist", path("delist"), { payload: Schema.Struct({ symbol }), success: answers }).pipe(
    openTo(admin)
  ),
  HttpApiEndpoint.post("offer", path("offer"), {
    payload: Schema.Struct({
      symbol,
      rateBps: rangeOf("The rate in basis points", 0, 1_000_000),
      tenorDays: rangeOf("The tenor in days", 1, 36_500),
      qty: decimal("The quantity")
    }),
    success: answers
  }).pipe(openTo(admin)),
  HttpApiEndpoint.post("pay", path("pay"), {
    payload: Schema.Struct({ contractId, amount: Schema.optionalKey(decimal("The amount")) }),
    success: answers
  }).pipe(openTo(admin)),
  HttpApiEndpoint.post("correct-fee", path("correct-fee"), {
    payload: Schema.Struct({ contractId, fee: decimal("The fee") }),
    success: answers
  }).pipe(openTo(admin)),
  HttpApiEndpoint.post("probe", path("probe"), {
    payload: Schema.Struct({
      client: text("The client", 254),
      calls: Schema.optionalKey(rangeOf("The number of calls", 1, probesAtOnce))
    }),
    success: Answer(ProbesView)
  }).pipe(openTo(admin)),
  HttpApiEndpoint.post("clear", path("clear"), { payload: OptionalBody({}), success: answers }).pipe(openTo(admin)),
  HttpApiEndpoint.post("reconcile", "/venue/reconcile", {
    payload: OptionalBody({ client: Schema.optionalKey(text("The client", 254)) }),
    success: Answer(
      Schema.Struct({
        accounts: Schema.Int,
        differences: Schema.Array(Schema.String),
        more: Schema.Boolean,
        withoutMoney: Schema.Int.annotate({ description: olderThanMoney })
      })
    )
  }).pipe(openTo(finance)),
  venueResolve
) {}
