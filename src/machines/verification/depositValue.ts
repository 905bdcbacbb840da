/**
 * The value of a deposit for the threshold of enhanced due diligence, in micro-USDC ("each valued in USDC when booked"). It
 * is valued at the last known mark of its SPOT market, however old, or at par for USD1 and EUR without a mark. A deposit of
 * an asset without any value counts as the whole threshold, whatever its amount, so one such deposit requires the source of
 * wealth (F25).
 */
import type { Facts } from "../market/Facts.ts"
import { holdingMark, valueAt } from "../market/holdingMark.ts"
import { type Currency, currencyFacts } from "../shared/Currency.ts"
import { defaultSourceOfWealthThreshold } from "./sourceOfWealth.ts"

/**
 * For deposits that were booked without their value: micro-USDC of one minor unit at par. Null for a currency without par,
 * whose deposits count as `unvaluedDeposit`.
 */
export const parUnit = (currency: Currency): bigint | null =>
  currencyFacts[currency].kind === "CASH"
    ? 10n ** BigInt(currencyFacts.USDC.scale - currencyFacts[currency].scale)
    : null

/** The value of a deposit of an asset without a known value, in micro-USDC, whatever its amount. */
export const unvaluedDeposit = defaultSourceOfWealthThreshold

/** The value of an amount in minor units, micro-USDC; may exceed 64 bits. */
export const depositValue = (currency: Currency, amount: bigint, facts: Facts): bigint => {
  const mark = holdingMark(currency, facts)
  return mark === null ? unvaluedDeposit : valueAt(currency, amount, mark)
}
