/**
 * The state of a swap at a past moment, for statements: lent principal, claim and write-offs. Booked postings give the
 * payments; each write-off knows its position among them (F22, STS-6, STS-27).
 */
import { minorOf } from "../shared/Money.ts"
import { type SwapContext, type SwapWriteOff, termsOfSwap } from "./Swap.ts"
import { outstandingOf } from "./swapFigures.ts"

export interface SwapThen {
  /** The principal that is neither repaid nor written off. */
  readonly principal: bigint
  /** The open claim of a default, reward included; otherwise zero. */
  readonly claim: bigint
  readonly writtenOff: bigint
  readonly state: "OPEN" | "DEFAULTED"
}

/**
 * The write-off that remains after these write-offs and this total of payments. A payment first reverses the
 * write-off.
 */
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

/** `paid`: payments booked before the moment (Unix ms), minor units. The caller excludes swaps that have ended by then. */
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
