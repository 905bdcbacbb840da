/**
 * What stands against money leaving a client: the economic rules of a withdrawal request, and the gate that is run again
 * when finance approves it (doc 3, Withdrawal request rules and its states; A3-08, A3-11; F3, F7). Pure rules over
 * figures that the caller reads under the client's lock.
 */
import { moneyRestriction, type Restriction } from "../client/Restriction.ts"
import type { AccountRisk } from "../margin/accountRisk.ts"
import type { Currency } from "../shared/Currency.ts"

/** The two sentences the specification names (doc 3, Endpoints; A3-08). */
export const moneyOutSentences = {
  insufficient: "The client has insufficient free balance.",
  short: "The client is short of margin for its open positions.",
  paused: "An open reconciliation break pauses money out."
} as const

/** In minor units of the currency; `risk` is of the whole account, in micro-USDC. */
export interface FreeMoney {
  readonly currency: Currency
  /** Cash without the reserve. */
  readonly cash: bigint
  readonly risk: Pick<AccountRisk, "freeMargin" | "riskState">
}

/**
 * The economic rule that refuses paying `needed` out of cash, as its sentence, or null. The risk test holds for every
 * currency, the free margin for USDC alone, because nothing else is margin (A3-08). An amount that is reserved already
 * has left cash and free margin, so it is covered exactly while neither is below zero: `needed` is 0 then.
 */
export const freeMoneyRefusal = ({ currency, cash, risk }: FreeMoney, needed: bigint): string | null => {
  if (cash < needed) return moneyOutSentences.insufficient
  const margined = currency === "USDC" && risk.freeMargin < needed
  return margined || risk.riskState !== "NORMAL" ? moneyOutSentences.short : null
}

/** The money-out gate: restriction, reconciliation break, free funds and risk, in this order. */
export const moneyOutRefusal = (
  facts: FreeMoney & { readonly restrictions: ReadonlyArray<Restriction>; readonly paused: boolean },
  needed: bigint
): string | null =>
  moneyRestriction("WITHDRAWAL", facts.restrictions) ??
  (facts.paused ? moneyOutSentences.paused : freeMoneyRefusal(facts, needed))
