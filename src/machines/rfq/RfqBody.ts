/**
 * The body of POST .../rfq and .../rfq/preview: a request for quotes on a knock-out contract, checked as far as possible
 * without its market (doc 2, RFQ request body; A2-13, A2-110).
 */
import { Schema } from "effect"
import * as Fields from "../shared/Fields.ts"
import { contractLimits } from "../shared/Limits.ts"
import { parsePositiveAmount } from "../shared/Money.ts"
import { type BodyFaults, judgeBody } from "../shared/RequestBody.ts"
import { trimText } from "../shared/Text.ts"

const labels = {
  symbol: "The market symbol",
  side: "The side",
  qty: "The quantity",
  premium: "The premium budget",
  "barrier.level": "The barrier level",
  "barrier.takeProfit": "The take profit",
  "barrier.expiryTs": "The expiry",
  "barrier.strictTakeProfit": "The strict take profit",
  expiresInMs: "The quoting window",
  autoAccept: "Auto-accept"
} as const

const { window } = contractLimits
/** The members of requests to open and to close, as sent. */
export const quotingFields = {
  expiresInMs: Schema.optionalKey(
    Fields.wholeNumber(labels.expiresInMs, window.minMillis, window.maxMillis).annotate({
      description: `How long quotes are taken, milliseconds; ${window.defaultMillis} when not sent`
    })
  ),
  autoAccept: Schema.optionalKey(
    Fields.flag(labels.autoAccept).annotate({
      description: "Whether the first acceptable quote is accepted without being asked; true when not sent"
    })
  )
}
export const quotingLabels = { autoAccept: labels.autoAccept, expiresInMs: labels.expiresInMs } as const

const budget = Schema.String.annotate({
  message: `${labels.premium} must be a decimal string such as 12.50.`,
  description: `${labels.premium} that every quote is measured against, USDC: positive decimal string, at most 6 places`
}).check(
  Schema.makeFilter(
    (written: string) => {
      const micro = parsePositiveAmount(written, "USDC")
      return typeof micro === "string" ? micro.replace("The amount", labels.premium) : undefined
    },
    { toJsonSchema: () => [{ pattern: "^(0|[1-9][0-9]{0,17})(\\.[0-9]{1,6})?$" }, true] }
  )
)

export const RfqBody = Fields.objectOf(
  {
    symbol: Fields.text(labels.symbol, 40),
    side: Fields.token(labels.side, ["BUY", "SELL", "LONG", "SHORT"]).annotate({
      description:
        "BUY or LONG: the contract ends when the price falls to the barrier; SELL or SHORT: when it rises to it"
    }),
    qty: Fields.positiveDecimal(labels.qty),
    premium: Schema.optionalKey(budget),
    barrier: Fields.objectOf(
      {
        level: Fields.positiveDecimal(labels["barrier.level"]),
        takeProfit: Schema.optionalKey(Fields.positiveDecimal(labels["barrier.takeProfit"])),
        expiryTs: Schema.optionalKey(Fields.unixMillis(labels["barrier.expiryTs"])),
        strictTakeProfit: Schema.optionalKey(
          Fields.flag(labels["barrier.strictTakeProfit"]).annotate({
            description: "Pays on a touch of the take profit alone; needs takeProfit and expiryTs; false when not sent"
          })
        )
      },
      "The barrier"
    ),
    ...quotingFields
  },
  "The request body"
)

/** A request whose fields are valid by themselves. Prices and the quantity are decimal texts as sent, trimmed. */
export interface RfqBody {
  readonly symbol: string
  readonly side: "BUY" | "SELL"
  readonly qty: string
  /** The budget in micro-USDC; null without one. */
  readonly premium: bigint | null
  readonly level: string
  readonly takeProfit: string | null
  /** Unix ms, after receipt; null for an open-end contract. */
  readonly expiryTs: number | null
  readonly strict: boolean
  readonly expiresInMs: number
  readonly autoAccept: boolean
}

export type DecodedRfq = { readonly ok: true; readonly body: RfqBody } | BodyFaults

/**
 * Checks a request for quotes. On refusal, `sentence` belongs to the first failing field in the documented order, and
 * `errors` names all failing fields by dotted path (400 code 4000). `now` is the moment of receipt, Unix ms.
 */
export const decodeRfq = (body: unknown, facts: { readonly now: number }): DecodedRfq =>
  judgeBody(body, labels, (raw, add) => {
    const barrier = Fields.withoutNulls(raw["barrier"] ?? {}, 0)
    if (Fields.isRecord(barrier)) checkBarrier(barrier, facts.now, add)
    else add("barrier.level", "The barrier must be an object.")
    const decoded = decodeBody({ ...raw, barrier }, add)
    if (decoded === undefined) return undefined
    const { level, takeProfit, expiryTs, strictTakeProfit } = decoded.barrier
    return {
      ok: true,
      body: {
        symbol: trimText(decoded.symbol),
        side: decoded.side === "BUY" || decoded.side === "LONG" ? "BUY" : "SELL",
        qty: trimText(decoded.qty),
        premium: decoded.premium === undefined ? null : amountOf(decoded.premium),
        level: trimText(level),
        takeProfit: takeProfit === undefined ? null : trimText(takeProfit),
        expiryTs: expiryTs ?? null,
        strict: strictTakeProfit ?? false,
        expiresInMs: decoded.expiresInMs ?? window.defaultMillis,
        autoAccept: decoded.autoAccept ?? true
      }
    }
  })

const decodeBody = Fields.decoderOf(RfqBody)

/** The caller has checked the text already, so no sentence is needed. */
const amountOf = (written: string): bigint | null => {
  const micro = parsePositiveAmount(written, "USDC")
  return typeof micro === "bigint" ? micro : null
}

const checkBarrier = (barrier: Fields.JsonRecord, now: number, add: Fields.AddError): void => {
  const { expiryTs, takeProfit, strictTakeProfit } = barrier
  if (Number.isSafeInteger(expiryTs) && Number(expiryTs) > 0 && Number(expiryTs) <= now) {
    add("barrier.expiryTs", `${labels["barrier.expiryTs"]} must be in the future.`)
  }
  if (strictTakeProfit !== true) return
  if (takeProfit === undefined) {
    add("barrier.takeProfit", `${labels["barrier.takeProfit"]} is required when it is strict.`)
  }
  if (expiryTs === undefined) {
    add("barrier.expiryTs", `${labels["barrier.expiryTs"]} is required with a strict take profit.`)
  }
}
