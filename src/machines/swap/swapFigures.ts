/**
 * The figures of a staking swap, in whole minor units of its asset, exact and with fixed rounding. A payment repays the
 * principal first and then the reward. A payment after a write-off reverses the write-off first (F22, STS-6, F1).
 */

/** The divisor for a rate in basis points per year of 365 days, times days: 10,000 x 365. */
export const rewardDivisor = 3_650_000n

export const dayMillis = 86_400_000

/** The reward: floor(notional x rateBps x tenorDays / 3,650,000). */
export const swapReward = (notional: bigint, rateBps: number, tenorDays: number): bigint =>
  (notional * BigInt(rateBps) * BigInt(tenorDays)) / rewardDivisor

/** The taker fee: ceil(notional x takerFeeBps / 10,000). */
export const takerFee = (notional: bigint, takerFeeBps: number): bigint =>
  (notional * BigInt(takerFeeBps) + 9_999n) / 10_000n

/** The agreed terms, frozen at the take. */
export interface SwapTerms {
  readonly notional: bigint
  readonly reward: bigint
  /** The service's share of the reward, basis points. */
  readonly commissionRewardBps: number
}

/** Total payments and write-offs. */
export interface SwapProgress {
  readonly paid: bigint
  readonly writtenOff: bigint
}

export const expectedPayout = ({ notional, reward }: Pick<SwapTerms, "notional" | "reward">): bigint =>
  notional + reward

/** The amount still expected; never below zero, even after an overpayment. */
export const outstandingOf = (terms: SwapTerms, { paid, writtenOff }: SwapProgress): bigint =>
  atLeastZero(expectedPayout(terms) - paid - writtenOff)

/** The part of the reward that is paid. Payments repay the principal first; an excess over the reward does not count. */
export const rewardReceived = (
  { notional, reward }: Pick<SwapTerms, "notional" | "reward">,
  { paid }: Pick<SwapProgress, "paid">
): bigint => {
  const beyond = atLeastZero(paid - notional)
  return beyond < reward ? beyond : reward
}

/** The service's share of the received reward, rounded down so that it never exceeds the share. */
export const rewardCommission = (terms: SwapTerms, progress: Pick<SwapProgress, "paid">): bigint =>
  commissionOn(rewardReceived(terms, progress), terms.commissionRewardBps)

/** The commission on a reward: floor(reward x bps / 10,000). */
export const commissionOn = (reward: bigint, bps: number): bigint => (reward * BigInt(bps)) / 10_000n

/** The totals after a payment. A payment reverses the write-off before it reduces the outstanding amount. */
export const afterPayment = ({ paid, writtenOff }: SwapProgress, amount: bigint): SwapProgress => ({
  paid: paid + amount,
  writtenOff: atLeastZero(writtenOff - amount)
})

/** Splits a payment into principal, reward, and the excess over the expected total. */
export const partsOfPayment = (terms: SwapTerms, { paid }: Pick<SwapProgress, "paid">, amount: bigint) => {
  const principalLeft = atLeastZero(terms.notional - paid)
  const principal = amount < principalLeft ? amount : principalLeft
  const reward = rewardReceived(terms, { paid: paid + amount }) - rewardReceived(terms, { paid })
  return { principal, reward, beyond: amount - principal - reward }
}

const atLeastZero = (figure: bigint): bigint => (figure > 0n ? figure : 0n)
