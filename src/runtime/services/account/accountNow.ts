/**
 * An account's money with its risk, for decisions and replies. Every rule on outgoing money uses it, and no other file
 * collects the open objects of an account (A3-08).
 */
import { accountRisk, type CashOf, type RiskState } from "../../../machines/margin/accountRisk.ts"
import type { Facts } from "../../../machines/market/Facts.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { oneInTurn } from "../../engine/mailbox/turnRows.ts"
import { openContracts, rfqsInTurn, termsOf } from "./contractHoldings.ts"
import { refuse } from "../../../machines/shared/Refusal.ts"
import { balanceOf } from "../../ledger/Ledger.ts"
import type { RiskMonitorRow } from "../../tables/margin.ts"
import type { ClientRow } from "../../tables/client.ts"
import { type Chosen, perpsInTurn } from "./perpHoldings.ts"
import { acceptsOf, type AccountNow, accountTables, standingAccount } from "./StandingAccount.ts"

export type { AccountNow }

/**
 * The account as the turn sees it, with the turn's own bookings. `client` may carry another categorization, and
 * `chosen` other leverages, to compute the account as if they held.
 */
export const accountInTurn = (turn: Turn, client: ClientRow, chosen?: Chosen): AccountNow => {
  const cashOf = cashInTurn(turn, client)
  if (chosen === undefined && isUntouched(turn, client)) return { ...accountIn(turn.state, turn.facts), cashOf }
  const contracts = openContracts(turn).map(termsOf)
  const accepts = acceptsOf(rfqsInTurn(turn))
  const holds = { cashOf, contracts, accepts, perpetuals: perpsInTurn(turn, client, chosen) }
  return { cashOf, risk: accountRisk(holds, turn.facts), recorded: monitorInTurn(turn)?.state ?? "NORMAL" }
}

/** The cash of an account in a turn, without its risk. */
export const cashInTurn =
  (turn: Turn, { id, partnerId }: Pick<ClientRow, "id" | "partnerId">): CashOf =>
  (currency) =>
    balanceOf(turn, id, partnerId, currency).cash

/** True if the turn has written nothing of the account, so that the committed figures hold. */
const isUntouched = ({ state, draft }: Turn, client: ClientRow): boolean =>
  state.one("clients") === client && accountTables.every((table) => draft.written(table).length === 0)

/** The client's committed account, with its figures at the marks of `facts`. */
export const accountIn = (state: SubjectState, facts: Facts): AccountNow =>
  state.derived(standingAccount).at(facts, state.all("balances"))

/** The client's committed risk state; NORMAL for an account that never left it. */
export const recordedIn = (state: SubjectState): RiskState => state.one("riskMonitors")?.state ?? "NORMAL"

/** The client's risk monitor as the turn sees it; undefined: the account has never left NORMAL. */
export const monitorInTurn = (turn: Turn): RiskMonitorRow | undefined => oneInTurn(turn, "riskMonitors")

/** The refusal of figures that need market data while no venue is attached. */
export const noVenue = refuse({ _tag: "NoVenue", sentence: "No venue is attached to this service." } as const)
