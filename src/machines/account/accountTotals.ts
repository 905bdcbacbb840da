/**
 * What an account's trading has added up to by family, kept as it happens (STS-11; A2-60, A2-61). Money is micro-USDC; what is
 * booked in another currency counts with its worth of that moment, and nothing where none was known (STS-9).
 */
export interface AccountTotals {
  /** Trades, on perpetuals and SPOT. */
  readonly fills: number
  /** Realized by perpetuals, without commission. */
  readonly fillsPnl: bigint
  /** Realized by disposals on SPOT, without commission. */
  readonly spotPnl: bigint
  /** What contracts that have ended paid, negative what they cost. */
  readonly barrierPnl: bigint
  /** Rewards of swaps, received. */
  readonly stakingPnl: bigint
  /** Charged on perpetuals and SPOT, positive. */
  readonly fillsCommission: bigint
  /** Charged on contracts, positive. */
  readonly barrierCommission: bigint
  /** Charged on rewards, positive. */
  readonly stakingCommission: bigint
  /** Contracts that were ever opened. */
  readonly contracts: number
  /** Swaps that were ever open. */
  readonly swapTakes: number
  /** Results above zero: of each ended contract, reducing fill, disposal, closed swap. */
  readonly wins: number
  /** Results below zero; zero is neither. */
  readonly losses: number
  /** What perpetuals have brought less what they cost, each trade with all of its value: the venue's own figure (A2-103). */
  readonly perpFlow: bigint
}

/** Of a client that has never traded. */
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

/** All that was realized, without funding (A2-60). */
export const realizedTotal = ({ fillsPnl, spotPnl, barrierPnl, stakingPnl }: AccountTotals): bigint =>
  fillsPnl + spotPnl + barrierPnl + stakingPnl

/** All that was charged. */
export const commissionTotal = ({ fillsCommission, barrierCommission, stakingCommission }: AccountTotals): bigint =>
  fillsCommission + barrierCommission + stakingCommission

/** A result in the counts of what was won and lost. */
export const outcomeOf = (result: bigint): Pick<AccountTotals, "wins" | "losses"> => ({
  wins: result > 0n ? 1 : 0,
  losses: result < 0n ? 1 : 0
})
