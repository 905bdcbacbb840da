/**
 * The gates of a collateral report that need the client, in the published order. A refusal by a standing gate leaves no
 * row. A refusal by an economic gate leaves a REFUSED report, which keeps its reference (doc 3, Collateral report
 * rules).
 */
import type { CollateralBody } from "../../../../machines/collateral/CollateralBody.ts"
import { type AccountRisk, graverOf, type RiskState, unjudged } from "../../../../machines/margin/accountRisk.ts"
import type { Gate, Gates } from "../../../../machines/shared/Gates.ts"
import { formatAmount, maxMinor } from "../../../../machines/shared/Money.ts"
import { conflict } from "../../../../machines/shared/Refusal.ts"
import type { Reason } from "../../../../machines/shared/RefusalReason.ts"
import { invalidBody } from "../../../../machines/shared/RequestBody.ts"
import { moneyOutReasons, moneyOutSentences } from "../../../../machines/withdrawal/moneyOut.ts"
import { verificationGate } from "../../../../machines/verification/requirements.ts"
import { sourceOfWealthDue } from "../../../../machines/verification/sourceOfWealth.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import { cashAtMost } from "../../../ledger/Ledger.ts"
import type { BalanceRow } from "../../../tables/ledger.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { CollateralReportRow } from "../../../tables/collateral.ts"
import { accountInTurn } from "../../account/accountNow.ts"
import { blockStatuses, lifetimeDeposits } from "../../account/clientState.ts"
import { accountGate, referenceGate, restrictionGate, sizeCompared, verificationCompared } from "../moneyGates.ts"

export interface CollateralFacts {
  readonly turn: Turn
  readonly client: ClientRow
  /** The client's USDC balance before the report. */
  readonly balance: BalanceRow
  readonly request: CollateralBody
  /** The stored report with the same reference; null if the reference may be used. */
  readonly filed: CollateralReportRow | null
  readonly threshold: bigint
}
type CollateralGate = Gate<CollateralFacts>

const usdc = (minor: bigint): string => formatAmount(minor, "USDC")

const actionOf = ({ request }: CollateralFacts) =>
  request.direction === "DEPOSIT" ? "DEPOSIT:CRYPTO" : "WITHDRAW:CRYPTO"

/**
 * The lifetime deposits with the amount of this report, if it is a deposit. The verification gate compares them with
 * the threshold (F25).
 */
const countedDeposits = ({ turn, request }: CollateralFacts): bigint =>
  lifetimeDeposits(turn.state) + (request.direction === "DEPOSIT" ? request.amount : 0n)

const verification: CollateralGate = {
  gate: "verification",
  refusal: (facts) => {
    const { turn, client, request, threshold } = facts
    const booked = lifetimeDeposits(turn.state)
    const due = sourceOfWealthDue(
      request.direction === "DEPOSIT"
        ? { kind: "DEPOSIT", booked, pending: 0n, amount: request.amount }
        : { kind: "WITHDRAWAL", booked },
      threshold
    )
    const gate = verificationGate(actionOf(facts), blockStatuses(turn.state), client.level, due)
    return gate === null ? null : { _tag: "Unverified", ...gate }
  },
  compared: (facts) => verificationCompared(facts, countedDeposits(facts))
}

const tooLarge = "The amount is too large for the balance it leads to."

const size: CollateralGate = {
  gate: "size",
  refusal: ({ turn, request: { direction, amount }, balance }) => {
    if (direction !== "DEPOSIT") return null
    if (cashAtMost(turn.state, balance) + amount <= maxMinor && balance.deposited + amount <= maxMinor) return null
    return invalidBody({ sentence: tooLarge, errors: { amount: tooLarge } }, "AMOUNT_TOO_LARGE")
  },
  compared: ({ turn, request: { direction, amount }, balance }) =>
    direction === "DEPOSIT"
      ? sizeCompared("USDC", cashAtMost(turn.state, balance) + amount, balance.deposited + amount)
      : null
}

/** The gates whose refusal stores nothing, so that the reference stays free. */
export const rowlessGates: Gates<CollateralFacts> = [accountGate, verification, referenceGate, size]

const restriction = restrictionGate<CollateralFacts>(({ request }) => request.direction)

/** The sentences of economic refusals. Restrictions and stale prices have theirs elsewhere. */
const sentences = {
  onTheBooks: "The withdrawal exceeds the client's collateral on the books.",
  margin: "The account is in margin call or close-out.",
  freeMargin: "The withdrawal exceeds the client's free margin."
} as const

const reasons: Readonly<Record<string, Reason>> = {
  ...moneyOutReasons,
  [sentences.onTheBooks]: "EXCEEDS_COLLATERAL",
  [sentences.margin]: "MARGIN_SHORT",
  [sentences.freeMargin]: "INSUFFICIENT_FREE_MARGIN"
}

/**
 * The reason token of a REFUSED report, whose row stores the sentence alone. An unknown sentence comes from an older
 * version's gate.
 */
export const collateralReason = (refusal: string): Reason => reasons[refusal] ?? "COLLATERAL_REFUSED"

const onTheBooks: CollateralGate = {
  gate: "collateralOnBooks",
  refusal: (facts) =>
    facts.request.direction === "WITHDRAWAL" && facts.request.amount > facts.balance.cash
      ? conflict("EXCEEDS_COLLATERAL", sentences.onTheBooks)
      : null,
  compared: (facts) =>
    facts.request.direction === "WITHDRAWAL"
      ? { figure: usdc(facts.request.amount), limit: usdc(facts.balance.cash) }
      : null
}

/** The account's risk as the turn sees it, without the report. */
const riskOf = ({ turn, client }: CollateralFacts): AccountRisk => accountInTurn(turn, client).risk

const riskStateOf = ({ turn, client }: CollateralFacts): RiskState => {
  const { risk, recorded } = accountInTurn(turn, client)
  return graverOf(risk.riskState, recorded)
}

const margin: CollateralGate = {
  gate: "marginState",
  refusal: (facts) =>
    facts.request.direction === "WITHDRAWAL" && riskStateOf(facts) !== "NORMAL"
      ? conflict("MARGIN_SHORT", sentences.margin)
      : null,
  compared: (facts) =>
    facts.request.direction === "WITHDRAWAL" ? { figure: riskStateOf(facts), limit: "NORMAL" } : null
}

const freeMargin: CollateralGate = {
  gate: "freeMargin",
  refusal: (facts) =>
    facts.request.direction === "WITHDRAWAL" && facts.request.amount > riskOf(facts).free
      ? conflict("INSUFFICIENT_FREE_MARGIN", sentences.freeMargin)
      : null,
  compared: (facts) =>
    facts.request.direction === "WITHDRAWAL"
      ? { figure: usdc(facts.request.amount), limit: usdc(riskOf(facts).free) }
      : null
}

const livePrices: CollateralGate = {
  gate: "livePrices",
  refusal: (facts) =>
    facts.request.direction === "WITHDRAWAL" && unjudged(riskOf(facts))
      ? conflict("PRICES_STALE", moneyOutSentences.stale)
      : null,
  compared: (facts) =>
    facts.request.direction === "WITHDRAWAL"
      ? { figure: unjudged(riskOf(facts)) ? "stale" : "live", limit: "live" }
      : null
}

/** The gates whose refusal is stored as a REFUSED report and uses up the reference. */
export const economicGates: Gates<CollateralFacts> = [restriction, onTheBooks, margin, freeMargin, livePrices]

/** All gates of a report, in order. A reference that the client already used is replayed before them. */
export const collateralGates: Gates<CollateralFacts> = [...rowlessGates, ...economicGates]
