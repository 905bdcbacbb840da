/**
 * The gates of a money write as data: named, in the order the contract promises (doc 3, Money write gates and
 * Collateral report rules; A3-02). The write stops at the first that refuses; `explain` walks the very same list and
 * shows each. A gate that passes allocates nothing: this is the hot path.
 */
import { moneyRestriction } from "../../../machines/client/Restriction.ts"
import type { Currency } from "../../../machines/shared/Currency.ts"
import { formatAmount, maxMinor } from "../../../machines/shared/Money.ts"
import { conflict, type Refusal } from "../../../machines/shared/Refusal.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { ClientRow } from "../../store/tables/client.ts"
import { blockStatuses, clientContext } from "../client/clientState.ts"

/** What a gate held against what, for a person: decimal strings in the currency's scale, or tokens. */
export interface Compared {
  readonly figure: string
  readonly limit: string
}

export interface MoneyGate<Facts> {
  readonly gate: string
  readonly refusal: (facts: Facts) => Refusal | null
  /** Asked by `explain` alone. Null: it compares nothing for this request. */
  readonly compared: (facts: Facts) => Compared | null
}
export type MoneyGates<Facts> = ReadonlyArray<MoneyGate<Facts>>

/** The first refusal in the list's order, or null when every gate passes. */
export const firstRefusal = <Facts>(gates: MoneyGates<Facts>, facts: Facts): Refusal | null => {
  for (let index = 0; index < gates.length; index++) {
    const refusal = (gates[index] as MoneyGate<Facts>).refusal(facts)
    if (refusal !== null) return refusal
  }
  return null
}

/** What every money write knows of its client and its reference. */
export interface MoneyFacts {
  readonly client: ClientRow
  /** Whoever holds the reference; null when it is free, or taken to be. */
  readonly filed: { readonly clientId: number } | null
}

export const accountGate: MoneyGate<MoneyFacts> = {
  gate: "account",
  refusal: ({ client }) => (client.state === "CLOSED" ? conflict("The account is closed.") : null),
  compared: ({ client }) => ({ figure: client.state, limit: "not CLOSED" })
}

/** An own reference is replayed before any of these gates. */
export const referenceGate: MoneyGate<MoneyFacts> = {
  gate: "reference",
  refusal: ({ filed, client }) =>
    filed !== null && filed.clientId !== client.id ? conflict("This partnerRef was used for another client.") : null,
  compared: ({ filed, client }) => {
    const figure = filed === null ? "free" : filed.clientId === client.id ? "this client's" : "another client's"
    return { figure, limit: "free" }
  }
}

/** FROZEN refuses both directions, NO_WITHDRAWALS a withdrawal only (A3-10). */
export const restrictionGate = <Facts extends MoneyFacts>(
  directionOf: (facts: Facts) => "DEPOSIT" | "WITHDRAWAL"
): MoneyGate<Facts> => ({
  gate: "restriction",
  refusal: (facts) => {
    const sentence = moneyRestriction(directionOf(facts), clientContext(facts.client).restrictions)
    return sentence === null ? null : conflict(sentence)
  },
  compared: (facts) => ({
    figure: clientContext(facts.client).restrictions.join(", ") || "none",
    limit: directionOf(facts) === "DEPOSIT" ? "not FROZEN" : "neither FROZEN nor NO_WITHDRAWALS"
  })
})

/** The verification gate's figure: the level, the deposits it counts in micro-USDC, and the block that many call for (F25). */
export const verificationCompared = (
  { turn, client, threshold }: { readonly turn: Turn; readonly client: ClientRow; readonly threshold: bigint },
  deposits: bigint
): Compared => {
  const status = blockStatuses(turn.state).get("SOURCE_OF_WEALTH") ?? "NOT_STARTED"
  return {
    figure: `${client.level}, deposits ${formatAmount(deposits, "USDC")} USDC, source of wealth ${status}`,
    limit: `MICA, source of wealth from ${formatAmount(threshold, "USDC")} USDC`
  }
}

/**
 * The size gate's figure, of the two that it bounds the one that decides: cash, unless the lifetime deposits alone are
 * over. Cash is in the request's currency, deposits in micro-USDC.
 */
export const sizeCompared = (currency: Currency, cash: bigint, deposits: bigint): Compared =>
  cash <= maxMinor && deposits > maxMinor
    ? {
        figure: `deposits ${formatAmount(deposits, "USDC")} USDC`,
        limit: `deposits ${formatAmount(maxMinor, "USDC")} USDC`
      }
    : { figure: formatAmount(cash, currency), limit: formatAmount(maxMinor, currency) }

/** One gate as `explain` shows it. */
export interface GateResult {
  readonly gate: string
  readonly result: "passed" | "failed" | "notReached"
  readonly compared: Compared | null
  /** What the write would answer; only of the gate that failed. */
  readonly refusal: Refusal | null
}

/** Every gate up to the first that refuses; those after it are not reached. */
export const walkGates = <Facts>(gates: MoneyGates<Facts>, facts: Facts): ReadonlyArray<GateResult> => {
  let failed = false
  return gates.map(({ gate, refusal, compared }) => {
    if (failed) return notReached(gate)
    const refused = refusal(facts)
    failed = refused !== null
    return { gate, result: failed ? "failed" : "passed", compared: compared(facts), refusal: refused }
  })
}

export const notReached = (gate: string): GateResult => ({
  gate,
  result: "notReached",
  compared: null,
  refusal: null
})
