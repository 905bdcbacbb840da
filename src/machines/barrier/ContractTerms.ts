/** What of a knock-out contract its figures are worked out from; frozen when its quote is accepted (D5; F15, F16). */
export interface ContractTerms {
  readonly symbol: string
  readonly side: "BUY" | "SELL"
  /** Quantity and prices are decimal texts on the market's grids. */
  readonly qty: string
  readonly entry: string
  readonly barrier: string
  /** Null: knock-out alone. */
  readonly takeProfit: string | null
  /** Micro-USDC: the most that it can lose. */
  readonly premium: bigint
  /** Micro-USDC: the most that it can pay; null: nothing bounds it. */
  readonly potentialProfit: bigint | null
  /** Pays on a touch of the take profit alone (A2-20). */
  readonly strict: boolean
}
