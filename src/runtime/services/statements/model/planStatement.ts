/** The plan of each kind of statement: its sections, and the reads of their rows (A2-69..A2-73). */
import type { Effect } from "effect"
import type { StatementKind } from "../../../../machines/statement/statementTokens.ts"
import type { Building, Plan, Wrong } from "./Building.ts"
import { planAccount } from "./planAccount.ts"
import { planAssets } from "./planAssets.ts"
import { planCosts } from "./planCosts.ts"
import { planTax, type TaxTerms } from "./planTax.ts"
import { planTransactions } from "./planTransactions.ts"

/** Terms besides the cut that a kind of statement may need. */
export interface PlanTerms {
  /** The custody model at the end of the period. */
  readonly custodyModel: string
  readonly tax: TaxTerms
}

const planners: { readonly [K in StatementKind]: (at: Building, terms: PlanTerms) => Effect.Effect<Plan, Wrong> } = {
  ACCOUNT: planAccount,
  TRANSACTIONS: planTransactions,
  COSTS: planCosts,
  TAX: (at, { tax }) => planTax(at, tax),
  CLIENT_ASSETS: (at, { custodyModel }) => planAssets(at, custodyModel)
}

export const planStatement = (at: Building, terms: PlanTerms): Effect.Effect<Plan, Wrong> =>
  planners[at.period.kind](at, terms)
