/**
 * The bodies of POST .../rfq, its preview and its explanation, of an accept, and of a request to close (doc 2, RFQ request
 * body; F2, F19): shape and range of every field. What a field needs the market for, its grid,
 * the maximum, how long a contract may live, is judged once the market is known.
 */
import { Schema } from "effect"
import * as Fields from "../shared/Fields.ts"
import { rfqLimits } from "../shared/Limits.ts"
import { parsePositiveAmount } from "../shared/Money.ts"
import { type BodyFaults, judgeBody } from "../shared/RequestBody.ts"
import { trimText } from "../shared/Text.ts"

/** In the documented order, which is also that of the sentences. */
const labels = {
  symbol: "The symbol",
  side: "The side",
  qty: "The quantity",
  premium: "The premium",
  barrier: "The barrier",
  "barrier.level": "The barrier level",
  "barrier.takeProfit": "The take profit",
  "barrier.expiryTs": "The expiry",
  "barrier.strictTakeProfit": "The strict take profit",
  expiresInMs: "The quoting window",
  autoAccept: "Whether a quote is accepted by itself"
} as const

/** F2: at most 18 digits before the point and 18 after it, and not zero. */
const positive = /^(?!0+(?:\.0+)?$)(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,18})?$/

const decimal = (label: string, example: string) => {
  const message = `${label} must be a positive decimal string such as ${example}.`
  return Schema.String.annotate({ message, description: `${label}, positive decimal string on the market's grid` })
    .check(
      Schema.makeFilter((written: string) => (positive.test(trimText(written)) ? undefined : message), {
        toJsonSchema: () => [{ pattern: positive.source }, true]
      })
    )
    .annotateKey(Fields.missing(label))
}

/** The sentence that refuses a premium; undefined: it is an amount of USDC. */
const premiumSentence = (written: string): string | undefined => {
  const minor = parsePositiveAmount(written, "USDC")
  return typeof minor === "bigint" ? undefined : minor.replace("The amount", labels.premium)
}

const { min, max, default: usualWindow } = rfqLimits.window
const windowMessage = `${labels.expiresInMs} must be a whole number of milliseconds from ${min} to ${max}.`

/** How a request of either kind is quoted. */
const quoting = {
  expiresInMs: Schema.optionalKey(
    Schema.Number.annotate({
      message: windowMessage,
      description: `How long quotes are asked for, milliseconds; ${usualWindow} when absent`
    }).check(
      Schema.isInt({ message: windowMessage }),
      Schema.isBetween({ minimum: min, maximum: max }, { message: windowMessage })
    )
  ),
  autoAccept: Schema.optionalKey(
    Fields.flag(labels.autoAccept).annotate({
      description: "True, the default: the router accepts the first acceptable quote"
    })
  )
} as const

/** The body as sent, null fields left out (doc 2, RFQ request body). */
export const RfqBody = Fields.objectOf(
  {
    symbol: Schema.String.annotate({ message: `${labels.symbol} must be text.`, description: "A knock-out market" })
      .check(Schema.isMinLength(1, { message: `${labels.symbol} is required.` }))
      .annotateKey(Fields.missing(labels.symbol)),
    side: Fields.token(labels.side, ["BUY", "SELL", "LONG", "SHORT"]).annotate({
      description: "BUY or LONG: knocked out below the entry; SELL or SHORT: above it"
    }),
    qty: decimal(labels.qty, "0.5"),
    premium: Schema.optionalKey(
      Schema.String.annotate({
        message: `${labels.premium} must be a decimal string such as 12.50.`,
        description: "The budget that every quote's premium must fit, USDC: positive decimal string, at most 6 places"
      }).check(Schema.makeFilter(premiumSentence))
    ),
    barrier: Fields.objectOf(
      {
        level: decimal(labels["barrier.level"], "58000.0"),
        takeProfit: Schema.optionalKey(decimal(labels["barrier.takeProfit"], "62000.0")),
        expiryTs: Schema.optionalKey(Fields.unixMillis(labels["barrier.expiryTs"])).annotate({
          description: "When the contract expires, Unix ms; absent: twelve months from now"
        }),
        strictTakeProfit: Schema.optionalKey(Fields.flag(labels["barrier.strictTakeProfit"])).annotate({
          description:
            "False, the default. True: pays on a touch of the take profit alone; needs takeProfit and expiryTs"
        })
      },
      labels.barrier
    ),
    ...quoting
  },
  "The request body"
)

/** How quotes are asked for. */
export interface Quoting {
  /** Milliseconds. */
  readonly expiresInMs: number
  readonly autoAccept: boolean
}

/** A valid body; quantity and prices are as they were written, trimmed: their grid is the market's. */
export interface RfqBody extends Quoting {
  readonly symbol: string
  readonly side: "BUY" | "SELL"
  readonly qty: string
  /** Micro-USDC; null: no budget. */
  readonly premium: bigint | null
  readonly barrierLevel: string
  readonly takeProfit: string | null
  /** Unix ms; null: open-end. */
  readonly expiryTs: number | null
  readonly strict: boolean
}

export type DecodedRfq = { readonly ok: true; readonly body: RfqBody } | BodyFaults

/**
 * Judges the body of a request to open. On refusal `sentence` is that of the first failing field in the documented order
 * and `errors` names all of them by dotted path (400 code 4000).
 */
export const decodeRfq = (body: unknown): DecodedRfq =>
  judgeBody(body, labels, (sent, add) => {
    // Without a barrier its level is what is missing: that is the path that partners are shown.
    const raw = { ...sent, barrier: Fields.withoutNulls(sent["barrier"] ?? {}, 0) }
    const decoded = decodeBody(raw, add)
    checkStrict(raw.barrier, add)
    if (decoded === undefined) return undefined
    const { symbol, side, qty, premium, barrier } = decoded
    const budget = premium === undefined ? null : parsePositiveAmount(premium, "USDC")
    if (typeof budget === "string") return undefined
    return {
      ok: true,
      body: {
        symbol,
        side: side === "LONG" ? "BUY" : side === "SHORT" ? "SELL" : side,
        qty: trimText(qty),
        premium: budget,
        barrierLevel: trimText(barrier.level),
        takeProfit: barrier.takeProfit === undefined ? null : trimText(barrier.takeProfit),
        expiryTs: barrier.expiryTs ?? null,
        strict: barrier.strictTakeProfit ?? false,
        ...quotingOf(decoded)
      }
    }
  })

const decodeBody = Fields.decoderOf(RfqBody)

/** What pays on a touch alone must have a price to touch, and an end. */
const checkStrict = (barrier: unknown, add: Fields.AddError): void => {
  if (!Fields.isRecord(barrier) || barrier["strictTakeProfit"] !== true) return
  const lacks = ["takeProfit", "expiryTs"].filter((name) => barrier[name] === undefined)
  if (lacks.length > 0)
    add("barrier.strictTakeProfit", `${labels["barrier.strictTakeProfit"]} needs ${lacks.join(" and ")}.`)
}

const quotingOf = ({ expiresInMs, autoAccept }: { expiresInMs?: number; autoAccept?: boolean }): Quoting => ({
  expiresInMs: expiresInMs ?? usualWindow,
  autoAccept: autoAccept ?? true
})

/** The body of a request to close, which may be left out (doc 2, POST .../barriers/{contractId}/close). */
export const CloseBody = Fields.objectOf(quoting, "The request body")

export type DecodedClose = { readonly ok: true; readonly body: Quoting } | BodyFaults

/** Judges the body of a request to close, as `decodeRfq` does. */
export const decodeClose = (body: unknown): DecodedClose =>
  judgeBody(body, labels, (raw, add) => {
    const decoded = decodeQuoting(raw, add)
    return decoded === undefined ? undefined : { ok: true, body: quotingOf(decoded) }
  })

const decodeQuoting = Fields.decoderOf(CloseBody)

/** The largest 64-bit integer, as near as a number of JSON comes to it. */
const most = 2 ** 63
const quoteIdMessage = "The quote id must be a positive whole number."

/** The body of an accept. */
export const AcceptBody = Fields.objectOf(
  {
    quoteId: Schema.Number.annotate({ message: quoteIdMessage, description: "The quote, a 64-bit integer" })
      .check(
        Schema.makeFilter((id: number) => (Number.isInteger(id) && id > 0 && id <= most ? undefined : quoteIdMessage), {
          toJsonSchema: () => [{ multipleOf: 1, minimum: 1, maximum: most }, true]
        })
      )
      .annotateKey(Fields.missing("The quote id"))
  },
  "The request body"
)

export type DecodedAccept = { readonly ok: true; readonly quoteId: number } | BodyFaults

/**
 * Judges the body of an accept, as `decodeRfq` does. An id beyond 2^53 is one, but is none of any quote: the venue's stay
 * below.
 */
export const decodeAccept = (body: unknown): DecodedAccept =>
  judgeBody(body, { quoteId: "The quote id" }, (raw, add) => {
    const decoded = decodeQuoteId(raw, add)
    return decoded === undefined ? undefined : { ok: true, quoteId: decoded.quoteId }
  })

const decodeQuoteId = Fields.decoderOf(AcceptBody)
