/** What a posting of a staking swap says: which swap, and which part of it is principal, reward or fee (STS-2, F22). */
import type { JsonObject } from "../../../machines/Effects.ts"
import type { Currency } from "../../../machines/shared/Currency.ts"
import { minorOf, usdcMinor } from "../../../machines/shared/Money.ts"
import type { StatedPosting } from "../../store/reads/statementReads.ts"

export const swapOf = ({ refs }: Pick<StatedPosting, "refs">): number | null => {
  const id = refs["swapId"]
  return typeof id === "number" ? id : null
}

/** A part of the posting that its refs name, minor units of its currency. */
export const partOf = (
  { refs, currency }: { readonly refs: JsonObject; readonly currency: Currency },
  part: "principal" | "reward" | "notional" | "fee"
): bigint => {
  const value = refs[part]
  return typeof value === "string" ? minorOf(value, currency) : 0n
}

/** What a part was worth when it was booked, micro-USDC; zero where nobody knew (STS-9). */
export const worthOf = ({ refs, currency, amount }: StatedPosting, part: bigint): bigint => {
  if (currency === "USDC") return part
  const value = refs["valueUsdc"]
  if (typeof value !== "string" || amount === 0n) return 0n
  const whole = usdcMinor(value.replace("-", ""))
  return (whole * part) / (amount < 0n ? -amount : amount)
}
