/** Gates that money writes share; each write lists them in its published order (A3-02). */
import { moneyRestriction, restrictionReasons } from "../../../machines/client/Restriction.ts"
import type { Compared, Gate } from "../../../machines/shared/Gates.ts"
import type { Currency } from "../../../machines/shared/Currency.ts"
import { formatAmount, maxMinor } from "../../../machines/shared/Money.ts"
import { conflict } from "../../../machines/shared/Refusal.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { ClientRow } from "../../tables/client.ts"
import { blockStatuses, clientContext } from "../account/clientState.ts"

/** Facts about client and reference that every money write has. */
export interface MoneyFacts {
  readonly client: ClientRow
  /** The client that already used the reference; null if the reference may be used. */
  readonly filed: { readonly clientId: number } | null
}

export const accountGate: Gate<MoneyFacts> = {
  gate: "account",
  refusal: ({ client }) => (client.state === "CLOSED" ? conflict("ACCOUNT_CLOSED", "The account is closed.") : null),
  compared: ({ client }) => ({ figure: client.state, limit: "not CLOSED" })
}

/**
 * Refuses a reference that another client has used. If this client has used it, the earlier answer is replayed before any
 * gate.
 */
export const referenceGate: Gate<MoneyFacts> = {
  gate: "reference",
  refusal: ({ filed, client }) =>
    filed !== null && filed.clientId !== client.id
      ? conflict("REFERENCE_REUSED", "This partnerRef was used for another client.")
      : null,
  compared: ({ filed, client }) => {
    const figure = filed === null ? "free" : filed.clientId === client.id ? "this client's" : "another client's"
    return { figure, limit: "free" }
  }
}

/** The gate of restrictions: FROZEN refuses deposits and withdrawals, NO_WITHDRAWALS withdrawals only (A3-10). */
export const restrictionGate = <Facts extends MoneyFacts>(
  directionOf: (facts: Facts) => "DEPOSIT" | "WITHDRAWAL"
): Gate<Facts> => ({
  gate: "restriction",
  refusal: (facts) => {
    const sentence = moneyRestriction(directionOf(facts), clientContext(facts.client).restrictions)
    return sentence === null ? null : conflict(restrictionReasons[sentence], sentence)
  },
  compared: (facts) => ({
    figure: clientContext(facts.client).restrictions.join(", ") || "none",
    limit: directionOf(facts) === "DEPOSIT" ? "not FROZEN" : "neither FROZEN nor NO_WITHDRAWALS"
  })
})

/**
 * The compared figure of the verification gate: level, deposits in micro-USDC, status of SOURCE_OF_WEALTH. The limit
 * names the level and the amount of deposits from which that block must be approved (F25).
 */
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
 * The compared figure of the size gate, which limits both cash and lifetime deposits. It is the deposits if they alone
 * are over the limit, otherwise the cash. Cash is in the request's currency, deposits in micro-USDC.
 */
export const sizeCompared = (currency: Currency, cash: bigint, deposits: bigint): Compared =>
  cash <= maxMinor && deposits > maxMinor
    ? {
        figure: `deposits ${formatAmount(deposits, "USDC")} USDC`,
        limit: `deposits ${formatAmount(maxMinor, "USDC")} USDC`
      }
    : { figure: formatAmount(cash, currency), limit: formatAmount(maxMinor, currency) }
