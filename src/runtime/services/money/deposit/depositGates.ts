/** The gates of a deposit notice that need the client, in the published order; a refusal leaves no row (A3-02). */
import type { DepositBody } from "../../../../machines/deposit/DepositBody.ts"
import type { Currency } from "../../../../machines/shared/Currency.ts"
import type { Gate, Gates } from "../../../../machines/shared/Gates.ts"
import { maxMinor } from "../../../../machines/shared/Money.ts"
import { invalidBody } from "../../../../machines/shared/RequestBody.ts"
import { depositValue } from "../../../../machines/verification/depositValue.ts"
import { verificationGate } from "../../../../machines/verification/requirements.ts"
import { sourceOfWealthDue } from "../../../../machines/verification/sourceOfWealth.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import { balanceOf, cashAtMost } from "../../../ledger/Ledger.ts"
import type { ClientRow } from "../../../tables/client.ts"
import { blockStatuses, lifetimeDeposits } from "../../account/clientState.ts"
import {
  accountGate,
  type MoneyFacts,
  referenceGate,
  restrictionGate,
  sizeCompared,
  verificationCompared
} from "../moneyGates.ts"

export interface DepositFacts extends MoneyFacts {
  readonly turn: Turn
  readonly client: ClientRow
  readonly request: DepositBody
  readonly threshold: bigint
}
type DepositGate = Gate<DepositFacts>

export const tooLarge = "The amount is too large for the balance it leads to."

/** The sum of the client's PENDING notices, valued in micro-USDC (F25). */
export const pendingDeposits = ({ state, facts }: Pick<Turn, "state" | "facts">): bigint =>
  state
    .all("depositNotices")
    .reduce((sum, { currency, amount }) => sum + depositValue(currency as Currency, amount, facts), 0n)

const verification: DepositGate = {
  gate: "verification",
  refusal: ({ turn, client, request, threshold }) => {
    const booked = lifetimeDeposits(turn.state)
    const amount = depositValue(request.currency, request.amount, turn.facts)
    const due = sourceOfWealthDue({ kind: "DEPOSIT", booked, pending: pendingDeposits(turn), amount }, threshold)
    const gate = verificationGate("DEPOSIT:CRYPTO", blockStatuses(turn.state), client.level, due)
    return gate === null ? null : { _tag: "Unverified", ...gate }
  },
  compared: (facts) => {
    const { turn, request } = facts
    const counted =
      lifetimeDeposits(turn.state) + pendingDeposits(turn) + depositValue(request.currency, request.amount, turn.facts)
    return verificationCompared(facts, counted)
  }
}

/**
 * The most cash that the client could have in the notice's currency if it and all pending notices were confirmed, minor
 * units.
 */
const cashReached = ({ turn, client, request }: DepositFacts): bigint =>
  turn.state
    .all("depositNotices")
    .reduce(
      (sum, row) => (row.currency === request.currency ? sum + row.amount : sum),
      cashAtMost(turn.state, balanceOf(turn, client.id, client.partnerId, request.currency)) + request.amount
    )

/** The lifetime deposits that the balance would show if this notice and all pending ones were confirmed, micro-USDC. */
const depositsReached = ({ turn, client, request }: DepositFacts): bigint =>
  balanceOf(turn, client.id, client.partnerId, request.currency).deposited +
  depositValue(request.currency, request.amount, turn.facts) +
  pendingDeposits(turn)

const size: DepositGate = {
  gate: "size",
  refusal: (facts) =>
    cashReached(facts) <= maxMinor && depositsReached(facts) <= maxMinor
      ? null
      : invalidBody({ sentence: tooLarge, errors: { amount: tooLarge } }, "AMOUNT_TOO_LARGE"),
  compared: (facts) => sizeCompared(facts.request.currency, cashReached(facts), depositsReached(facts))
}

export const depositGates: Gates<DepositFacts> = [
  referenceGate,
  accountGate,
  verification,
  restrictionGate<DepositFacts>(() => "DEPOSIT"),
  size
]
