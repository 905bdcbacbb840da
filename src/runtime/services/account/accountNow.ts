/**
 * An account's money with its risk, as a decision or a reader sees it: what every rule on money leaving asks (A3-08). The one
 * place that gathers what the account has open.
 */
import { accountRisk, type AccountRisk, type AccountState, type CashOf } from "../../../machines/margin/accountRisk.ts"
import type { Facts } from "../../../machines/market/Facts.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { usdcMinor } from "../../../machines/shared/Money.ts"
import { contractsIn, openContracts, termsOf } from "../barrier/contractDecisions.ts"
import { rfqsInTurn } from "../rfq/rfqDecisions.ts"
import { balanceOf } from "../../ledger/Ledger.ts"
import type { BarrierContractRow, RfqRow } from "../../store/tables/barrier.ts"
import type { ClientRow } from "../../store/tables/client.ts"

export interface AccountNow {
  readonly cashOf: CashOf
  readonly risk: AccountRisk
}

/** As the turn sees it: what the turn itself has booked included. */
export const accountInTurn = (turn: Turn, client: ClientRow): AccountNow => {
  const cashOf: CashOf = (currency) => balanceOf(turn, client.id, client.partnerId, currency).cash
  return { cashOf, risk: accountRisk({ cashOf, ...openIn(openContracts(turn), rfqsInTurn(turn)) }, turn.facts) }
}

/** As it is committed. */
export const accountIn = (state: SubjectState, facts: Facts): AccountNow => {
  const cashOf: CashOf = (currency) => state.all("balances").find((row) => row.currency === currency)?.cash ?? 0n
  return { cashOf, risk: accountRisk({ cashOf, ...openIn(contractsIn(state), state.all("rfqs")) }, facts) }
}

/** Of so much USDC and whatever else the account holds, for readers that have no more of it than that. */
export const riskOfCash = (cash: bigint, facts: Facts): AccountRisk =>
  accountRisk({ cashOf: (currency) => (currency === "USDC" ? cash : 0n), ...nothingOpen }, facts)

/** Contracts, and accepts of requests to open one that the venue has not answered (F7). */
const openIn = (
  contracts: ReadonlyArray<BarrierContractRow>,
  rfqs: ReadonlyArray<RfqRow>
): Pick<AccountState, "contracts" | "accepts"> =>
  contracts.length === 0 && rfqs.length === 0
    ? nothingOpen
    : {
        contracts: contracts.map(termsOf),
        accepts: rfqs.flatMap(({ closeContractId, context: { accepting } }) =>
          accepting === null || closeContractId !== null
            ? []
            : [{ premium: usdcMinor(accepting.premium), commission: usdcMinor(accepting.commission) }]
        )
      }

const nothingOpen: Pick<AccountState, "contracts" | "accepts"> = { contracts: [], accepts: [] }
