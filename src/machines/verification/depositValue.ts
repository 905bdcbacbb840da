/**
 * The value of a deposit for the threshold of enhanced due diligence, in micro-USDC ("each valued in USDC when booked"): the
 * last known mark of its SPOT market, however old, otherwise par for USD1 and EUR. An asset without any value counts as
 * reaching the threshold, whatever its amount: one such deposit requires the source of wealth (F25).
 */
import type { Facts } from "../market/Facts.ts"
import { holdingMark, valueAt } from "../market/holdingMark.ts"
import { type Currency, currencyFacts } from "../shared/Currency.ts"
import { defaultSourceOfWealthThreshold } from "./sourceOfWealth.ts"

/**
 * Micro-USDC of one minor unit at par. Null for a currency without par, where a deposit without a mark counts as
 * `unvaluedDeposit`. Used for deposits that were booked without their value.
 */
export const parUnit = (currency: Currency): bigint | null =>
  currencyFacts[currency].kind === "CASH"
    ? 10n ** BigInt(currencyFacts.USDC.scale - currencyFacts[currency].scale)
    : null

/** The value of a deposit of an asset without a known value, in micro-USDC, whatever its amount. */
export const unvaluedDeposit = defaultSourceOfWealthThreshold

/** Micro-USDC of an amount in minor units; may exceed 64 bits. */
export const depositValue = (currency: Currency, amount: bigint, facts: Facts): bigint => {
  const mark = holdingMark(currency, facts)
  return mark === null ? unvaluedDeposit : valueAt(currency, amount, mark)
}
