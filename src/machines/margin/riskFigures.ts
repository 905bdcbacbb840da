/**
 * Margin figures of an account that holds nothing but cash, which is every account until a trading family is attached
 * (F4, F7): equity is cash, nothing is tied up, and negative cash alone means CLOSE_OUT.
 */
export interface RiskFigures {
  /** Micro-USDC; may be negative. */
  readonly equity: bigint
  readonly unrealizedPnl: bigint
  readonly freeMargin: bigint
  readonly riskState: "NORMAL" | "MARGIN_CALL" | "CLOSE_OUT"
}

export const riskFigures = (cash: bigint): RiskFigures => ({
  equity: cash,
  unrealizedPnl: 0n,
  freeMargin: cash,
  riskState: cash < 0n ? "CLOSE_OUT" : "NORMAL"
})
