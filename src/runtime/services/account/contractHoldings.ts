/** Selects the knock-out contracts and the requests for quotes among the holdings of an account. */
import type { ContractTerms } from "../../../machines/contract/ContractTerms.ts"
import { usdcMinor } from "../../../machines/shared/Money.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { rowsInTurn } from "../../engine/mailbox/turnRows.ts"
import type { ContractRow } from "../../tables/contract.ts"
import type { RfqRow } from "../../tables/rfq.ts"

/** The terms of a stored contract, in the form from which its figures are calculated. */
export const termsOf = ({ context }: Pick<ContractRow, "context">): ContractTerms => {
  const { symbol, side, qty, entry, barrier, takeProfit, premium, potentialProfit, strict } = context
  return {
    symbol,
    side,
    qty,
    entry,
    barrier,
    takeProfit,
    premium: usdcMinor(premium),
    potentialProfit: potentialProfit === null ? null : usdcMinor(potentialProfit),
    strict
  }
}

/** The open contracts of the client, with the changes of this turn. */
export const openContracts = (turn: Turn): ReadonlyArray<ContractRow> =>
  rowsInTurn(turn, "barrierContracts").filter(({ state }) => state === "OPEN")

/** The requests as the turn sees them, including ended ones that the venue may still have open. */
export const rfqsInTurn = (turn: Turn): ReadonlyArray<RfqRow> => rowsInTurn(turn, "rfqs")
