/**
 * Refusals of a payment to a client: the economic rules of a withdrawal request, and the gate that runs again when finance
 * approves the request. Pure rules over figures that the caller reads under the client's lock (doc 3, Withdrawal request
 * rules and its states; A3-08, A3-11, F3, F7).
 */
import { type AccountRisk, graverOf, type RiskState, spendableOf, unjudged } from "../margin/accountRisk.ts"
import {
  moneyRestriction,
  type Restriction,
  restrictionReasons,
  type RestrictionSentence
} from "../client/Restriction.ts"
import type { Currency } from "../shared/Currency.ts"
import type { Reason } from "../shared/RefusalReason.ts"

/** The sentences that refuse a payment. The specification words the first two; the third follows from the rule on stale marks. */
export const moneyOutSentences = {
  insufficient: "The client has insufficient free balance.",
  short: "The client is short of margin for its open positions.",
  stale: "The margin of the client's open positions can not be judged without live prices: try again shortly.",
  paused: "An open reconciliation break pauses money out."
} as const
export type MoneyOutSentence = (typeof moneyOutSentences)[keyof typeof moneyOutSentences]

/** The reason token of each sentence of the money-out gate. */
export const moneyOutReasons: Readonly<Record<MoneyOutSentence | RestrictionSentence, Reason>> = {
  ...restrictionReasons,
  [moneyOutSentences.insufficient]: "INSUFFICIENT_BALANCE",
  [moneyOutSentences.short]: "MARGIN_SHORT",
  [moneyOutSentences.stale]: "PRICES_STALE",
  [moneyOutSentences.paused]: "MONEY_OUT_PAUSED"
}

/** The client's money, in minor units of the currency. `risk` is that of the whole account, in micro-USDC. */
export interface FreeMoney {
  readonly currency: Currency
  /** Cash without the reserve. */
  readonly cash: bigint
  readonly risk: Pick<AccountRisk, "freeMargin" | "orderLoss" | "riskState" | "anyExposure" | "marksFresh">
  readonly recorded: RiskState
}

/**
 * The sentence of the economic rule that refuses to pay `needed` out of cash, or null. The risk test applies to every
 * currency, the free margin only to USDC, because no other currency is margin. An amount that is already reserved has left
 * cash and free margin, so `needed` is 0 for it: it is covered while neither is below zero. Open positions need live marks
 * for any currency.
 */
export const freeMoneyRefusal = (
  { currency, cash, risk, recorded }: FreeMoney,
  needed: bigint
): MoneyOutSentence | null => {
  if (cash < needed) return moneyOutSentences.insufficient
  const margined = currency === "USDC" && spendableOf(risk) < needed
  if (margined || graverOf(risk.riskState, recorded) !== "NORMAL") return moneyOutSentences.short
  return unjudged(risk) ? moneyOutSentences.stale : null
}

/** The money-out gate: restriction, reconciliation break, free funds and risk, in this order. */
export const moneyOutRefusal = (
  facts: FreeMoney & { readonly restrictions: ReadonlyArray<Restriction>; readonly paused: boolean },
  needed: bigint
): MoneyOutSentence | RestrictionSentence | null =>
  moneyRestriction("WITHDRAWAL", facts.restrictions) ??
  (facts.paused ? moneyOutSentences.paused : freeMoneyRefusal(facts, needed))
