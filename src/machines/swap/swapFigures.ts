/**
 * The figures of a staking swap, all in whole minor units of its asset: exact, and rounded as F1 says. Payments go to the
 * principal first; what was written off is undone first when money comes after all (F22, STS-6).
 */

/** Rate in basis points a year of 365 days, in hundredths of a percent: what divides rate x days. */
export const rewardDivisor = 3_650_000n

export const dayMillis = 86_400_000

/** floor(notional x rateBps x tenorDays / 3,650,000). */
export const swapReward = (notional: bigint, rateBps: number, tenorDays: number): bigint =>
  (notional * BigInt(rateBps) * BigInt(tenorDays)) / rewardDivisor

/** ceil(notional x takerFeeRate), the rate in basis points. */
export const takerFee = (notional: bigint, takerFeeBps: number): bigint =>
  (notional * BigInt(takerFeeBps) + 9_999n) / 10_000n

/** What was agreed, frozen at the take. */
export interface SwapTerms {
  readonly notional: bigint
  readonly reward: bigint
  /** The service's share of the reward, basis points. */
  readonly commissionRewardBps: number
}

/** What has come of it so far. */
export interface SwapProgress {
  readonly paid: bigint
  readonly writtenOff: bigint
}

export const expectedPayout = ({ notional, reward }: Pick<SwapTerms, "notional" | "reward">): bigint =>
  notional + reward

/** What can still be expected: never below zero, however much was paid. */
export const outstandingOf = (terms: SwapTerms, { paid, writtenOff }: SwapProgress): bigint =>
  atLeastZero(expectedPayout(terms) - paid - writtenOff)

/** Of the reward, what was paid: the principal comes first, and nothing beyond the reward is any. */
export const rewardReceived = (
  { notional, reward }: Pick<SwapTerms, "notional" | "reward">,
  { paid }: Pick<SwapProgress, "paid">
): bigint => {
  const beyond = atLeastZero(paid - notional)
  return beyond < reward ? beyond : reward
}

/** The service's share of what was received, rounded down so that it never exceeds the share. */
export const rewardCommission = (terms: SwapTerms, progress: Pick<SwapProgress, "paid">): bigint =>
  commissionOn(rewardReceived(terms, progress), terms.commissionRewardBps)

/** floor(reward x bps / 10,000). */
export const commissionOn = (reward: bigint, bps: number): bigint => (reward * BigInt(bps)) / 10_000n

/** A payment lowers what was written off before it lowers what is outstanding. */
export const afterPayment = ({ paid, writtenOff }: SwapProgress, amount: bigint): SwapProgress => ({
  paid: paid + amount,
  writtenOff: atLeastZero(writtenOff - amount)
})

/** What of a payment is principal, what reward, and what lies beyond all that was expected. */
export const partsOfPayment = (terms: SwapTerms, { paid }: Pick<SwapProgress, "paid">, amount: bigint) => {
  const principalLeft = atLeastZero(terms.notional - paid)
  const principal = amount < principalLeft ? amount : principalLeft
  const reward = rewardReceived(terms, { paid: paid + amount }) - rewardReceived(terms, { paid })
  return { principal, reward, beyond: amount - principal - reward }
}

const atLeastZero = (figure: bigint): bigint => (figure > 0n ? figure : 0n)
