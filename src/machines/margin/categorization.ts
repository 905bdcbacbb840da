/**
 * What stands against another categorization of a client (A2-88, A2-102): it moves the leverage that its positions are margined
 * at, and who bears what is lost beyond the account. Sentences are what the operator reads.
 */
import { formatAmount } from "../shared/Money.ts"
import { conflict, type Refusal } from "../shared/Refusal.ts"
import { marginAfter } from "../order/leverageChange.ts"
import { unjudged } from "../withdrawal/moneyOut.ts"
import { type AccountRisk, graverOf, type RiskState } from "./accountRisk.ts"

export interface Categorizing {
  readonly to: "RETAIL" | "PROFESSIONAL"
  /** USDC, micro units. */
  readonly cash: bigint
  /** A close-out is under way. */
  readonly episodeOpen: boolean
  readonly recorded: RiskState
  readonly before: AccountRisk
  /** With the leverage that the client would have. */
  readonly after: AccountRisk
  /** A retail account may leave NORMAL by it. */
  readonly force: boolean
}

/** The protection of retail clients is for what is lost from now on: debts and a close-out come first, whatever is forced. */
export const categorizationRefusal = (facts: Categorizing): Refusal | null =>
  facts.to === "RETAIL" ? toRetail(facts) : toProfessional(facts)

const toRetail = ({ cash, episodeOpen, after, force }: Categorizing): Refusal | null => {
  if (cash < 0n)
    return conflict(
      `The client owes ${formatAmount(-cash, "USDC")} USDC, which must be settled before it becomes RETAIL.`
    )
  if (episodeOpen) return conflict("The account is being closed out, so its categorization can't be changed.")
  if (force) return null
  if (unjudged(after))
    return conflict("The account can't be judged without live prices: try again shortly, or with --force.", {
      ...marginAfter(after)
    })
  if (after.riskState === "NORMAL") return null
  return conflict(`The account would be in ${after.riskState} as RETAIL: --force applies it all the same.`, {
    ...marginAfter(after)
  })
}

const toProfessional = ({ recorded, before }: Categorizing): Refusal | null => {
  const state = graverOf(recorded, before.riskState)
  return state === "NORMAL"
    ? null
    : conflict(`The account is in ${state}: a client becomes PROFESSIONAL only while it is NORMAL.`)
}
