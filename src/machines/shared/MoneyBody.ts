/**
 * The common parts of a deposit notice and a withdrawal request: their first fields, and the roles that decide them (doc 3,
 * Endpoints and Limits; A3-01, A3-03, A3-06).
 */
import { Schema } from "effect"
import { Currency, isCurrency } from "./Currency.ts"
import * as Fields from "./Fields.ts"
import { Id } from "./Ids.ts"
import { moneyLengths } from "./Limits.ts"
import { parsePositiveAmount } from "./Money.ts"

/** The roles that decide: finance or an administrator. PARTNER stands for a cancel, and for the instant decision of a sandbox. */
export const moneyDeciders = ["FINANCE", "ADMIN", "PARTNER"] as const
export type MoneyDecider = (typeof moneyDeciders)[number]

/** The client, the reference and the amount, in every answer and list. */
export const filedFields = {
  partnerId: Id,
  clientId: Id,
  clientUid: Schema.String,
  partnerRef: Schema.String.annotate({ description: "The partner's reference, unique per partner for good." }),
  currency: Currency,
  amount: Schema.String.annotate({ description: "Positive decimal string in the currency's full scale." })
} as const

/** Labels in the documented order of the fields. */
export const moneyLabels = {
  partnerRef: "The partner reference",
  currency: "The currency",
  amount: "The amount"
} as const

export const moneyFields = {
  partnerRef: Fields.text(moneyLabels.partnerRef, moneyLengths.partnerRef),
  currency: Currency.annotateKey(Fields.missing(moneyLabels.currency)),
  amount: Schema.String.annotate({
    message: "The amount must be a decimal string such as 12.50.",
    description:
      "Positive decimal string, at most the currency's places: USDC, USD1, XRP 6; EUR 2; BTC, ETH, BNB 8; SOL 9"
  }).annotateKey(Fields.missing(moneyLabels.amount))
} as const

export interface MoneyBody {
  readonly partnerRef: string
  readonly currency: Currency
  /** Minor units of the currency, more than zero. */
  readonly amount: bigint
}

/**
 * Parses the amount. The currency determines the number of places, so an amount with an unknown currency is checked with the
 * largest scale.
 */
export const amountOf = ({ amount, currency }: Fields.JsonRecord, add: Fields.AddError): bigint | undefined => {
  if (typeof amount !== "string") return undefined
  const minor = parsePositiveAmount(amount, isCurrency(currency) ? currency : "SOL")
  if (typeof minor === "bigint") return minor
  const scaleUnknown = !isCurrency(currency) && minor.endsWith("for SOL.")
  if (!scaleUnknown) add("amount", minor)
  return undefined
}
