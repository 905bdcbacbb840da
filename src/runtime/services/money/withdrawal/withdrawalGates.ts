/**
 * The gates of a withdrawal request that need the client, in the published order; a refusal leaves no row (A3-02,
 * A3-08).
 */
import { graverOf, unjudged } from "../../../../machines/margin/accountRisk.ts"
import type { Gate, Gates } from "../../../../machines/shared/Gates.ts"
import { formatAmount, maxMinor } from "../../../../machines/shared/Money.ts"
import { accept, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { invalidBody, invalidWhole } from "../../../../machines/shared/RequestBody.ts"
import { verificationGate } from "../../../../machines/verification/requirements.ts"
import { sourceOfWealthDue } from "../../../../machines/verification/sourceOfWealth.ts"
import {
  type FreeMoney,
  freeMoneyRefusal,
  moneyOutReasons,
  moneyOutSentences
} from "../../../../machines/withdrawal/moneyOut.ts"
import { decodeWithdrawal, type WithdrawalBody } from "../../../../machines/withdrawal/WithdrawalBody.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { BalanceRow } from "../../../tables/ledger.ts"
import type { ClientRow } from "../../../tables/client.ts"
import { accountInTurn } from "../../account/accountNow.ts"
import { blockStatuses, lifetimeDeposits } from "../../account/clientState.ts"
import { accountGate, type MoneyFacts, referenceGate, restrictionGate, verificationCompared } from "../moneyGates.ts"

export interface WithdrawalFacts extends MoneyFacts {
  readonly turn: Turn
  readonly client: ClientRow
  /** The client's balance in the request's currency. */
  readonly balance: BalanceRow
  readonly request: WithdrawalBody
  readonly threshold: bigint
}
type WithdrawalGate = Gate<WithdrawalFacts>

const verification: WithdrawalGate = {
  gate: "verification",
  refusal: ({ turn, client, threshold }) => {
    const due = sourceOfWealthDue({ kind: "WITHDRAWAL", booked: lifetimeDeposits(turn.state) }, threshold)
    const gate = verificationGate("WITHDRAW:CRYPTO", blockStatuses(turn.state), client.level, due)
    return gate === null ? null : { _tag: "Unverified", ...gate }
  },
  compared: (facts) => verificationCompared(facts, lifetimeDeposits(facts.turn.state))
}

const freeBalance: WithdrawalGate = {
  gate: "freeBalance",
  refusal: ({ balance, request }) =>
    balance.cash < request.amount ? invalidWhole("INSUFFICIENT_BALANCE", moneyOutSentences.insufficient) : null,
  compared: ({ balance, request }) => ({
    figure: formatAmount(request.amount, request.currency),
    limit: formatAmount(balance.cash, request.currency)
  })
}

const freeMoneyOf = ({ turn, client, balance, request }: WithdrawalFacts): FreeMoney => {
  const { risk, recorded } = accountInTurn(turn, client)
  return { currency: request.currency, cash: balance.cash, risk, recorded }
}

const margin: WithdrawalGate = {
  gate: "margin",
  refusal: (facts) => {
    const sentence = freeMoneyRefusal(freeMoneyOf(facts), facts.request.amount)
    return sentence === null ? null : invalidWhole(moneyOutReasons[sentence], sentence)
  },
  compared: (facts) => {
    const { risk, recorded } = freeMoneyOf(facts)
    const { currency, amount } = facts.request
    const state = graverOf(risk.riskState, recorded)
    const standing = unjudged(risk) ? `${state} on stale prices` : state
    return currency === "USDC"
      ? {
          figure: `${standing}, ${formatAmount(amount, "USDC")}`,
          limit: `NORMAL, ${formatAmount(risk.freeMargin, "USDC")}`
        }
      : { figure: standing, limit: "NORMAL" }
  }
}

const tooMuchReserved = "The amount is too large for the reserve it leads to."

const reserve: WithdrawalGate = {
  gate: "reserve",
  refusal: ({ balance, request }) =>
    balance.reserved + request.amount <= maxMinor
      ? null
      : invalidBody({ sentence: tooMuchReserved, errors: { amount: tooMuchReserved } }, "AMOUNT_TOO_LARGE"),
  compared: ({ balance, request }) => ({
    figure: formatAmount(balance.reserved + request.amount, request.currency),
    limit: formatAmount(maxMinor, request.currency)
  })
}

/** Checks the fields of a request. Returns the request, or a refusal with the errors of all failing fields. */
export const checkWithdrawal = (body: unknown, text?: string): Verdict<WithdrawalBody> => {
  const decoded = decodeWithdrawal(body, text)
  return decoded.ok ? accept(decoded.body) : refuse(invalidBody(decoded))
}

export const withdrawalGates: Gates<WithdrawalFacts> = [
  referenceGate,
  accountGate,
  verification,
  restrictionGate<WithdrawalFacts>(() => "WITHDRAWAL"),
  freeBalance,
  margin,
  reserve
]
