/**
 * What stood of a swap at a moment of the past, for statements: how much of its principal was still lent, what was claimed and
 * what written off. What was paid is told by the booked postings; write-offs keep their own place among payments (F22, STS-6,
 * STS-27).
 */
import { minorOf } from "../shared/Money.ts"
import { type SwapContext, type SwapWriteOff, termsOfSwap } from "./Swap.ts"
import { outstandingOf } from "./swapFigures.ts"

export interface SwapThen {
  /** Principal that had not come back and was not given up. */
  readonly principal: bigint
  /** Of a default: all that was still claimed, reward with it; else zero. */
  readonly claim: bigint
  readonly writtenOff: bigint
  readonly state: "OPEN" | "DEFAULTED"
}

/** What was written off after all of these write-offs and so much of payments: a payment lowers it first. */
const writtenOffBy = (
  writeOffs: ReadonlyArray<SwapWriteOff>,
  paid: bigint,
  minor: (text: string) => bigint
): bigint => {
  let [written, known] = [0n, 0n]
  const lowered = (now: bigint): bigint => (written > now - known ? written - (now - known) : 0n)
  for (const { amount, paid: before } of writeOffs) {
    written = lowered(minor(before)) + minor(amount)
    known = minor(before)
  }
  return lowered(paid)
}

/** `paid`: what was booked of payments before the moment (Unix ms), minor units. What has ended by then is the caller's to leave out. */
export const swapThen = (context: SwapContext, paid: bigint, moment: number): SwapThen => {
  const { asset, defaultedTs, writeOffs } = context
  const minor = (text: string): bigint => minorOf(text, asset)
  const terms = termsOfSwap(context)
  const writtenOff = writtenOffBy(
    writeOffs.filter(({ at }) => at < moment),
    paid,
    minor
  )
  const outstanding = outstandingOf(terms, { paid, writtenOff })
  const left = terms.notional > paid ? terms.notional - paid : 0n
  const isDefaulted = defaultedTs !== null && defaultedTs < moment
  return {
    principal: left < outstanding ? left : outstanding,
    claim: isDefaulted ? outstanding : 0n,
    writtenOff,
    state: isDefaulted ? "DEFAULTED" : "OPEN"
  }
}
