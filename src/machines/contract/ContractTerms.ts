/** The terms from which the figures of a knock-out contract are computed; frozen when its quote is accepted (F15, F16, A2-20). */
export interface ContractTerms {
  readonly symbol: string
  readonly side: "BUY" | "SELL"
  /** The quantity. It and all prices are decimal texts on the market's grids. */
  readonly qty: string
  readonly entry: string
  readonly barrier: string
  /** The level at which the contract ends with its maximum profit. Null: the contract has no such level. */
  readonly takeProfit: string | null
  /** Micro-USDC: the maximum loss. */
  readonly premium: bigint
  /** Micro-USDC: the maximum profit; null: unbounded. */
  readonly potentialProfit: bigint | null
  /** True: a contract that expires before the mark has touched the take profit loses its whole premium. */
  readonly strict: boolean
}
