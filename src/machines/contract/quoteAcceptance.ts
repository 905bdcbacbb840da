/**
 * Rules for accepting a quote, by hand or by the router, at the quote's own price: for a request to open, and for a request
 * to close. Earlier gates check the request's state, an accept or a cancel in flight, the client and the market (F19, F18,
 * A2-110).
 */
import { firstSentence, gateOf, type Gates, reasonOf, type Rule } from "../shared/Gates.ts"
import { contractLimits } from "../shared/Limits.ts"
import { formatAmount, MoneyDecimal } from "../shared/Money.ts"
import type { Reason } from "../shared/RefusalReason.ts"
import type { VenueQuote } from "../venue/venueObjects.ts"
import type { ContractTerms } from "./ContractTerms.ts"
import { type Priced, priceRules } from "./priceRules.ts"

/** The quote as the venue reports it, and the result of an earlier accept. */
export interface JudgedQuote {
  readonly state: VenueQuote["state"]
  readonly price: string
  readonly qty: string
  /** The end of the quote's validity, Unix ms. */
  readonly validUntil: number
  /** The venue's reason for refusing to accept this quote, as a sentence; null without a refusal. */
  readonly refusedWith: string | null
}

interface QuoteFacts {
  readonly now: number
  readonly quote: JudgedQuote
}

export interface OpenQuoteFacts extends QuoteFacts {
  /** Quantity and expiry of the request; the contract must have exactly these. */
  readonly qty: string
  readonly expiryTs: number
  /** Micro-USDC; null without a budget. */
  readonly premiumBudget: bigint | null
  /** The figures that the contract would have at the quote's price. */
  readonly priced: Priced
}

export interface CloseQuoteFacts extends QuoteFacts {
  readonly contract: ContractTerms
}

const ended = {
  EXPIRED: "The quote has expired.",
  WITHDRAWN: "The dealer has withdrawn the quote.",
  ACCEPTED: "The quote has been accepted already.",
  SUPERSEDED: "A later quote has taken the place of this one."
} as const

const endedReasons = {
  EXPIRED: "QUOTE_EXPIRED",
  WITHDRAWN: "QUOTE_WITHDRAWN",
  ACCEPTED: "QUOTE_ACCEPTED",
  SUPERSEDED: "QUOTE_SUPERSEDED"
} as const satisfies Readonly<Record<keyof typeof ended, Reason>>

const live: Rule<QuoteFacts> = {
  gate: "quoteLive",
  reason: ({ quote }) => (quote.state === "LIVE" ? "QUOTE_REFUSED" : endedReasons[quote.state]),
  sentence: ({ quote }) => (quote.state === "LIVE" ? quote.refusedWith : ended[quote.state]),
  compared: ({ quote }) => ({ figure: quote.refusedWith === null ? quote.state : "refused", limit: "LIVE" })
}

const validity: Rule<QuoteFacts> = {
  gate: "quoteValidity",
  reason: "QUOTE_EXPIRED",
  sentence: ({ quote, now }) => (quote.validUntil > now ? null : ended.EXPIRED),
  compared: ({ quote, now }) => ({ figure: String(quote.validUntil), limit: `after ${now}` })
}

const quantity: Rule<QuoteFacts & { readonly qty: string }> = {
  gate: "quoteQuantity",
  reason: "QUOTE_TOO_SMALL",
  sentence: ({ quote, qty }) =>
    new MoneyDecimal(quote.qty).gte(qty) ? null : "The quote is for less than the quantity asked for.",
  compared: ({ quote, qty }) => ({ figure: quote.qty, limit: `at least ${qty}` })
}

const budget: Rule<OpenQuoteFacts> = {
  gate: "premiumBudget",
  reason: "QUOTE_OVER_BUDGET",
  sentence: ({ premiumBudget, priced }) =>
    premiumBudget === null || priced.figures.premium <= premiumBudget
      ? null
      : "The premium at this quote exceeds the request's budget.",
  compared: ({ premiumBudget, priced }) =>
    premiumBudget === null
      ? null
      : { figure: formatAmount(priced.figures.premium, "USDC"), limit: formatAmount(premiumBudget, "USDC") }
}

const expiry: Rule<OpenQuoteFacts> = {
  gate: "expiry",
  reason: "CONTRACT_EXPIRED",
  sentence: ({ expiryTs, now }) => (expiryTs > now ? null : "The contract's expiry has passed."),
  compared: ({ expiryTs, now }) => ({ figure: String(expiryTs), limit: `after ${now}` })
}

const pricedRule = (rule: Rule<Priced>): Rule<OpenQuoteFacts> => ({
  gate: rule.gate,
  reason: ({ priced }, sentence) => reasonOf(rule, priced, sentence),
  sentence: ({ priced }) => rule.sentence(priced),
  compared: ({ priced }) => rule.compared(priced)
})

/** The rules of a quote that opens a contract. The first rule that fails gives the refusal. */
export const openQuoteRules: ReadonlyArray<Rule<OpenQuoteFacts>> = [
  live,
  validity,
  budget,
  expiry,
  quantity,
  ...priceRules.map(pricedRule)
]

/**
 * The reason that the view of a quote gives for not being acceptable (`notAcceptableReason`); null for an acceptable quote.
 */
export const openQuoteRefusal = (facts: OpenQuoteFacts): string | null => firstSentence(openQuoteRules, facts)

const inside: Rule<CloseQuoteFacts> = {
  gate: "quoteInside",
  reason: "QUOTE_BEYOND_LEVEL",
  sentence: ({ quote, contract: { side, barrier, takeProfit } }) => {
    const price = new MoneyDecimal(quote.price)
    const long = side === "BUY"
    if (long ? price.lte(barrier) : price.gte(barrier)) return "The quote's price is at or beyond the barrier."
    if (takeProfit === null) return null
    return (long ? price.gte(takeProfit) : price.lte(takeProfit))
      ? "The quote's price is at or beyond the take profit."
      : null
  },
  compared: ({ quote, contract: { barrier, takeProfit } }) => ({
    figure: quote.price,
    limit: `strictly between ${barrier} and ${takeProfit ?? "nothing"}`
  })
}

const wholeContract: Rule<CloseQuoteFacts> = {
  gate: quantity.gate,
  reason: "QUOTE_TOO_SMALL",
  sentence: ({ now, quote, contract: { qty } }) => quantity.sentence({ now, quote, qty }),
  compared: ({ now, quote, contract: { qty } }) => quantity.compared({ now, quote, qty })
}

/** The rules of a quote that closes a contract. The first rule that fails gives the refusal. */
export const closeQuoteRules: ReadonlyArray<Rule<CloseQuoteFacts>> = [live, validity, wholeContract, inside]

/** The same rules as gates, for the manual accept of a closing quote. */
export const closeQuoteGates: Gates<CloseQuoteFacts> = closeQuoteRules.map((rule) =>
  gateOf(rule, (facts: CloseQuoteFacts) => facts)
)

/** The sentence that refuses the manual accept of a closing quote; null if it is accepted. */
export const closeQuoteRefusal = (facts: CloseQuoteFacts): string | null => firstSentence(closeQuoteRules, facts)

const whole = 10_000

/**
 * The reason that the router does not accept this closing quote by itself, or null. The router refuses a quote more than 100
 * basis points from the mark, and every quote while the mark is unknown or stale.
 */
export const autoCloseRefusal = (
  facts: CloseQuoteFacts & { readonly mark: MoneyDecimal | "stale" | null }
): string | null => {
  const refusal = closeQuoteRefusal(facts)
  if (refusal !== null) return refusal
  const { quote, mark } = facts
  if (mark === null) return "The market has no mark to measure the quote against."
  if (mark === "stale") return "The market's mark is stale: the quote waits for a fresh one to be measured against."
  const far = mark.minus(quote.price).abs().mul(whole).gt(mark.mul(contractLimits.closeQuoteMaxDeviationBps))
  return far ? "The quote lies more than 1 percent away from the mark." : null
}
