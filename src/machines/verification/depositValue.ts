/**
 * What a deposit counts towards the threshold of enhanced due diligence, in micro-USDC: "each valued in USDC when booked". The
 * mark of its SPOT market when one is known, however old, else USD1 and EUR at par; an asset without any value counts as
 * reaching the threshold, however little of it comes: one such deposit asks for the source of wealth (F25).
 */
import type { Facts } from "../market/Facts.ts"
import { holdingMark, valueAt } from "../market/holdingMark.ts"
import { type Currency, currencyFacts } from "../shared/Currency.ts"
import { defaultSourceOfWealthThreshold } from "./sourceOfWealth.ts"

/**
 * Micro-USDC that one minor unit counts at par; null: the currency has none, and a deposit without a mark counts
 * `unvaluedDeposit`. For deposits that were booked without saying their value.
 */
export const parUnit = (currency: Currency): bigint | null =>
  currencyFacts[currency].kind === "CASH"
    ? 10n ** BigInt(currencyFacts.USDC.scale - currencyFacts[currency].scale)
    : null

/** What a deposit of an asset without any value counts, in micro-USDC, whatever its amount. */
export const unvaluedDeposit = defaultSourceOfWealthThreshold

/** Micro-USDC of an amount in minor units; may be larger than 64 bits hold. */
export const depositValue = (currency: Currency, amount: bigint, facts: Facts): bigint => {
  const mark = holdingMark(currency, facts)
  return mark === null ? unvaluedDeposit : valueAt(currency, amount, mark)
}
