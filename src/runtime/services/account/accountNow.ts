/**
 * An account's money with its risk, as a decision or a reader sees it: what every rule on money leaving asks (A3-08). The one
 * place that gathers what the account has open.
 */
import { accountRisk, type AccountRisk, type AccountState, type CashOf } from "../../../machines/margin/accountRisk.ts"
import type { Facts } from "../../../machines/market/Facts.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { balanceOf } from "../../ledger/Ledger.ts"
import type { ClientRow } from "../../store/tables/client.ts"

export interface AccountNow {
  readonly cashOf: CashOf
  readonly risk: AccountRisk
}

/** As the turn sees it: what the turn itself has booked included. */
export const accountInTurn = (turn: Turn, client: ClientRow): AccountNow => {
  const cashOf: CashOf = (currency) => balanceOf(turn, client.id, client.partnerId, currency).cash
  return { cashOf, risk: accountRisk({ cashOf, ...nothingOpen }, turn.facts) }
}

/** As it is committed. */
export const accountIn = (state: SubjectState, facts: Facts): AccountNow => {
  const cashOf: CashOf = (currency) => state.all("balances").find((row) => row.currency === currency)?.cash ?? 0n
  return { cashOf, risk: accountRisk({ cashOf, ...nothingOpen }, facts) }
}

/** Of so much USDC and whatever else the account holds, for readers that have no more of it than that. */
export const riskOfCash = (cash: bigint, facts: Facts): AccountRisk =>
  accountRisk({ cashOf: (currency) => (currency === "USDC" ? cash : 0n), ...nothingOpen }, facts)

const nothingOpen: Pick<AccountState, "contracts" | "accepts"> = { contracts: [], accepts: [] }
