/**
 * An account's money with its risk, as a decision or a reader sees it: what every rule on money leaving asks (A3-08). The one
 * place that gathers what the account has open.
 */
import {
  accountRisk,
  type AccountRisk,
  type AccountState,
  type CashOf,
  type PerpHolding,
  type RiskState
} from "../../../machines/margin/accountRisk.ts"
import type { Facts } from "../../../machines/market/Facts.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { oneInTurn } from "../../engine/mailbox/turnRows.ts"
import { usdcMinor } from "../../../machines/shared/Money.ts"
import { contractsIn, openContracts, termsOf } from "../barrier/contractDecisions.ts"
import { rfqsInTurn } from "../rfq/rfqDecisions.ts"
import { balanceOf } from "../../ledger/Ledger.ts"
import type { BarrierContractRow, RfqRow } from "../../store/tables/barrier.ts"
import type { RiskMonitorRow } from "../../store/tables/margin.ts"
import type { ClientRow } from "../../store/tables/client.ts"
import { type Chosen, perpsIn, perpsInTurn } from "./perpHoldings.ts"

/** An account's state whose lists can be read again and again. */
export type AccountHoldings = Omit<AccountState, "perpetuals"> & { readonly perpetuals: ReadonlyArray<PerpHolding> }

export interface AccountNow {
  /** What the risk was worked out from. */
  readonly holds: AccountHoldings
  readonly cashOf: CashOf
  readonly risk: AccountRisk
  /** The risk state that is recorded: money gates ask it besides the one that live marks imply (A1-12, A3-08). */
  readonly recorded: RiskState
}

/**
 * As the turn sees it: what the turn itself has booked included. As if the client were another (its categorization), or had
 * made other choices of leverage, where those are given.
 */
export const accountInTurn = (turn: Turn, client: ClientRow, chosen?: Chosen): AccountNow => {
  const cashOf: CashOf = (currency) => balanceOf(turn, client.id, client.partnerId, currency).cash
  const perpetuals = perpsInTurn(turn, client, chosen)
  const holds = { cashOf, ...openIn(openContracts(turn), rfqsInTurn(turn)), perpetuals }
  return { holds, cashOf, risk: accountRisk(holds, turn.facts), recorded: monitorInTurn(turn)?.state ?? "NORMAL" }
}

/** As it is committed. */
export const accountIn = (state: SubjectState, facts: Facts): AccountNow => {
  const cashOf: CashOf = (currency) => state.all("balances").find((row) => row.currency === currency)?.cash ?? 0n
  const client = state.one("clients")
  const perpetuals = client === undefined ? [] : perpsIn(state, client, facts)
  const holds = { cashOf, ...openIn(contractsIn(state), state.all("rfqs")), perpetuals }
  return { holds, cashOf, risk: accountRisk(holds, facts), recorded: recordedIn(state) }
}

/** The client's recorded risk state, as it is committed. */
export const recordedIn = (state: SubjectState): RiskState => state.one("riskMonitors")?.state ?? "NORMAL"

/** The client's risk monitor as the turn sees it; undefined for one that never left NORMAL. */
export const monitorInTurn = (turn: Turn): RiskMonitorRow | undefined => oneInTurn(turn, "riskMonitors")

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
