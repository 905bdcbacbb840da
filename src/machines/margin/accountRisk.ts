/**
 * The risk of a whole account, the one place that margin figures come from: money gates, balances and client rows all ask
 * here (F4, F7). An account that holds nothing but money, which is every account until a trading family is attached, has
 * its cash for equity and nothing tied up; negative cash alone means CLOSE_OUT.
 */
import type { Facts } from "../market/Facts.ts"

/** An account's cash by currency, without what is reserved, in minor units. */
export type CashOf = (currency: string) => bigint

/** What of an account its risk is judged on. */
export interface AccountState {
  readonly cashOf: CashOf
}

export interface AccountRisk {
  /** Micro-USDC, like all the figures; may be negative. */
  readonly equity: bigint
  readonly unrealizedPnl: bigint
  readonly freeMargin: bigint
  /** The lesser of cash and free margin (F23); may be negative. */
  readonly free: bigint
  /** On the marks of the facts: what money gates ask (A1-12). */
  readonly riskState: "NORMAL" | "MARGIN_CALL" | "CLOSE_OUT"
  /** As client rows show it: null while no market is attached (A1-12). */
  readonly shownRiskState: "NORMAL" | "MARGIN_CALL" | "CLOSE_OUT" | null
}

/** The account's figures, as its state and the facts of one moment have them. */
export const accountRisk = ({ cashOf }: AccountState, facts: Facts): AccountRisk => {
  const cash = cashOf("USDC")
  const riskState = cash < 0n ? "CLOSE_OUT" : "NORMAL"
  return {
    equity: cash,
    unrealizedPnl: 0n,
    freeMargin: cash,
    free: cash,
    riskState,
    shownRiskState: facts.takenAt === null ? null : riskState
  }
}
