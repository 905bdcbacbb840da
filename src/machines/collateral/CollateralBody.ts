/**
 * The body of POST .../collateral. This route carries thousands of reports a second, so its decoder is written by hand. The
 * schema beside it describes the same body for the OpenAPI document, and a property test compares the verdicts of both (doc
 * 3, Collateral report rules; A3-15).
 */
import { Schema } from "effect"
import * as Fields from "../shared/Fields.ts"
import { collateralSkewMillis, moneyLengths } from "../shared/Limits.ts"
import { parsePositiveAmount, PositiveAmountText } from "../shared/Money.ts"
import { checkFields } from "../shared/Refusal.ts"
import { type BodyFaults, notAnObject } from "../shared/RequestBody.ts"
import { cleanText, textSentence } from "../shared/Text.ts"

export const collateralDirections = ["DEPOSIT", "WITHDRAWAL"] as const
export type CollateralDirection = (typeof collateralDirections)[number]

const labels = {
  partnerRef: "The partner reference",
  direction: "The direction",
  amount: "The amount",
  sourceAsset: "The source asset",
  txRef: "The transaction reference",
  occurredAt: "The time of occurrence"
} as const
const currencySentence = "The currency must be USDC."

/** The body of a collateral report as sent, null fields left out. */
export const CollateralBody = Fields.objectOf(
  {
    partnerRef: Fields.text(labels.partnerRef, moneyLengths.partnerRef),
    direction: Fields.token(labels.direction, collateralDirections),
    currency: Schema.optionalKey(
      Schema.Literal("USDC").annotate({ message: currencySentence, description: "USDC, the default" })
    ),
    amount: PositiveAmountText("USDC").annotateKey(Fields.missing(labels.amount)),
    sourceAsset: Fields.optionalText(labels.sourceAsset, moneyLengths.sourceAsset),
    txRef: Fields.optionalText(labels.txRef, moneyLengths.txRef),
    occurredAt: Schema.optionalKey(Fields.unixMillis(labels.occurredAt))
  },
  "The request body"
)

export interface CollateralBody {
  readonly partnerRef: string
  readonly direction: CollateralDirection
  readonly currency: "USDC"
  /** Micro-USDC, more than zero. */
  readonly amount: bigint
  /** Null when not sent: the partner's collateralAsset applies. */
  readonly sourceAsset: string | null
  readonly txRef: string | null
  /** Unix ms as sent, up to five minutes ahead; the moment of receipt when not sent. */
  readonly occurredAt: number
}

export type DecodedCollateral = { readonly ok: true; readonly body: CollateralBody } | BodyFaults

/**
 * Checks the body of a collateral report. On refusal, `sentence` belongs to the first failing field in the documented order
 * (reference, direction, currency, amount, sourceAsset, txRef, occurredAt), and `errors` names all failing fields (400 code
 * 4000). `now` in Unix ms.
 */
export const decodeCollateral = (body: unknown, facts: { readonly now: number }): DecodedCollateral => {
  if (!Fields.isRecord(body)) return { ok: false, sentence: notAnObject, errors: {} }
  const { partnerRef, direction, currency, amount, sourceAsset, txRef, occurredAt } = body as RawCollateral
  const minor = typeof amount === "string" ? parsePositiveAmount(amount, "USDC") : undefined
  if (
    typeof minor === "bigint" &&
    typeof partnerRef === "string" &&
    textSentence(partnerRef, labels.partnerRef, moneyLengths.partnerRef, true) === undefined &&
    isDirection(direction) &&
    (currency === undefined || currency === null || currency === "USDC") &&
    optionalTextSentence(sourceAsset, labels.sourceAsset, moneyLengths.sourceAsset) === undefined &&
    optionalTextSentence(txRef, labels.txRef, moneyLengths.txRef) === undefined &&
    occurredAtSentence(occurredAt, facts.now) === undefined
  ) {
    return {
      ok: true,
      body: {
        partnerRef: cleanText(partnerRef),
        direction,
        currency: "USDC",
        amount: minor,
        sourceAsset: textOrNull(sourceAsset),
        txRef: textOrNull(txRef),
        occurredAt: typeof occurredAt === "number" ? occurredAt : facts.now
      }
    }
  }
  return refusal(body, facts.now)
}

type RawCollateral = { readonly [Field in keyof CollateralBody]?: unknown }

/** The slow path: names every failing field, in the documented order. */
const refusal = (body: RawCollateral, now: number): DecodedCollateral => {
  const found: ReadonlyArray<readonly [string, string | undefined]> = [
    ["partnerRef", requiredTextSentence(body.partnerRef, labels.partnerRef, moneyLengths.partnerRef)],
    ["direction", directionSentence(body.direction)],
    ["currency", isAbsent(body.currency) || body.currency === "USDC" ? undefined : currencySentence],
    ["amount", amountSentence(body.amount)],
    ["sourceAsset", optionalTextSentence(body.sourceAsset, labels.sourceAsset, moneyLengths.sourceAsset)],
    ["txRef", optionalTextSentence(body.txRef, labels.txRef, moneyLengths.txRef)],
    ["occurredAt", occurredAtSentence(body.occurredAt, now)]
  ]
  const errors: Fields.FieldErrors = {}
  let first: string | undefined
  for (const [field, sentence] of found) {
    if (sentence === undefined) continue
    errors[field] = sentence
    first ??= sentence
  }
  return { ok: false, sentence: first ?? checkFields, errors }
}

const isAbsent = (value: unknown): value is undefined | null => value === undefined || value === null

const isDirection = (value: unknown): value is CollateralDirection => value === "DEPOSIT" || value === "WITHDRAWAL"

const directionSentence = (value: unknown): string | undefined => {
  if (isAbsent(value)) return `${labels.direction} is required.`
  return isDirection(value) ? undefined : `${labels.direction} must be one of: ${collateralDirections.join(", ")}.`
}

const amountSentence = (value: unknown): string | undefined => {
  if (isAbsent(value)) return `${labels.amount} is required.`
  const minor = parsePositiveAmount(value, "USDC")
  return typeof minor === "string" ? minor : undefined
}

const requiredTextSentence = (value: unknown, label: string, max: number): string | undefined => {
  if (isAbsent(value)) return `${label} is required.`
  return typeof value === "string" ? textSentence(value, label, max, true) : `${label} must be text.`
}

const optionalTextSentence = (value: unknown, label: string, max: number): string | undefined => {
  if (isAbsent(value)) return undefined
  return typeof value === "string" ? textSentence(value, label, max, false) : `${label} must be text.`
}

const occurredAtSentence = (value: unknown, now: number): string | undefined => {
  if (isAbsent(value)) return undefined
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value <= 0) {
    return `${labels.occurredAt} must be a positive integer of Unix milliseconds.`
  }
  return value > now + collateralSkewMillis ? `${labels.occurredAt} must not be in the future.` : undefined
}

/** The cleaned text; null when empty, which counts as not sent. */
const textOrNull = (value: unknown): string | null => (typeof value === "string" ? cleanText(value) || null : null)
