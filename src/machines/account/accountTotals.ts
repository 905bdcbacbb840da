/**
 * Running totals of an account's trading by family. Money is micro-USDC; an amount booked in another currency counts at its
 * value of that moment, and as zero where that value was unknown (STS-11, A2-60, A2-61, STS-9, A2-103).
 */
export interface AccountTotals {
  /** The number of trades on perpetuals and SPOT, ever. */
  readonly fills: number
  /** Realized PnL of perpetuals, before commission. */
  readonly fillsPnl: bigint
  /** Realized PnL of SPOT disposals, before commission. */
  readonly spotPnl: bigint
  /** Results of ended contracts, negative for a loss. */
  readonly barrierPnl: bigint
  /** Rewards received from swaps. */
  readonly stakingPnl: bigint
  /** Commission on perpetuals and SPOT, positive. */
  readonly fillsCommission: bigint
  /** Commission on contracts, positive. */
  readonly barrierCommission: bigint
  /** Commission on rewards, positive. */
  readonly stakingCommission: bigint
  /** The number of contracts ever opened. */
  readonly contracts: number
  /** The number of swaps ever opened. */
  readonly swapTakes: number
  /** Results above zero, counted for each ended contract, reducing fill, disposal and closed swap. */
  readonly wins: number
  /** Results below zero; a result of zero counts as neither. */
  readonly losses: number
  /** Proceeds of perpetual trades less their cost, each trade at its full value: the venue publishes the same figure. */
  readonly perpFlow: bigint
}

/** Totals of a client that has never traded. */
export const noTotals: AccountTotals = {
  fills: 0,
  fillsPnl: 0n,
  spotPnl: 0n,
  barrierPnl: 0n,
  stakingPnl: 0n,
  fillsCommission: 0n,
  barrierCommission: 0n,
  stakingCommission: 0n,
  contracts: 0,
  swapTakes: 0,
  wins: 0,
  losses: 0,
  perpFlow: 0n
}

/** All realized PnL, without funding. */
export const realizedTotal = ({ fillsPnl, spotPnl, barrierPnl, stakingPnl }: AccountTotals): bigint =>
  fillsPnl + spotPnl + barrierPnl + stakingPnl

/** All commission charged. */
export const commissionTotal = ({ fillsCommission, barrierCommission, stakingCommission }: AccountTotals): bigint =>
  fillsCommission + barrierCommission + stakingCommission

/** Counts a result as a win, a loss or neither. */
export const outcomeOf = (result: bigint): Pick<AccountTotals, "wins" | "losses"> => ({
  wins: result > 0n ? 1 : 0,
  losses: result < 0n ? 1 : 0
})
