/** Reads a posting of a staking swap: its swap, and its parts principal, reward and fee (STS-2, F22). */
import type { JsonObject } from "../../../../machines/shared/Json.ts"
import type { Currency } from "../../../../machines/shared/Currency.ts"
import { floorToMinor, minorOf, toDecimal } from "../../../../machines/shared/Money.ts"
import type { StatementPosting } from "../../../store/reads/statementReads.ts"

export const swapOf = ({ refs }: Pick<StatementPosting, "refs">): number | null => {
  const id = refs["swapId"]
  return typeof id === "number" ? id : null
}

/** A part of the amount of a posting, as its refs name it; minor units of its currency. */
export const partOf = (
  { refs, currency }: { readonly refs: JsonObject; readonly currency: Currency },
  part: "principal" | "reward" | "notional" | "fee"
): bigint => {
  const value = refs[part]
  return typeof value === "string" ? minorOf(value, currency) : 0n
}

/** True if a mark of the posting's currency was known when it was booked (STS-9). */
export const isValued = ({ refs, currency }: Pick<StatementPosting, "refs" | "currency">): boolean =>
  currency === "USDC" || typeof refs["mark"] === "string"

/**
 * The value of an amount in the posting's currency at the mark of its booking, micro-USDC rounded down; zero if no mark
 * was known. Lots are valued in the same way, so both agree to the last unit (F21).
 */
export const worthOf = ({ refs, currency }: Pick<StatementPosting, "refs" | "currency">, amount: bigint): bigint => {
  if (currency === "USDC") return amount
  const mark = refs["mark"]
  return typeof mark === "string" ? floorToMinor(toDecimal(amount, currency).mul(mark), "USDC") : 0n
}

/** The value of a charge in the posting's currency, rounded up (F1). */
export const chargeOf = (posting: Pick<StatementPosting, "refs" | "currency">, amount: bigint): bigint =>
  -worthOf(posting, -amount)
