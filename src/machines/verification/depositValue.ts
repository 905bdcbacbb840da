/**
 * What a deposit counts towards the threshold of enhanced due diligence, in micro-USDC (F25: "each valued in USDC when
 * booked").
 *
 * While the service has no market data no currency has a mark: USDC counts as it is, USD1 and EUR at par, and an asset
 * without any value (BTC, ETH, SOL, BNB, XRP) counts as reaching the threshold, however little of it comes: one such
 * deposit asks for the source of wealth. It is booked at that figure. With market data this is the one place that takes
 * the mark.
 */
import { type Currency, currencyFacts } from "../shared/Currency.ts"
import { defaultSourceOfWealthThreshold } from "./sourceOfWealth.ts"

const atPar: ReadonlySet<Currency> = new Set(["USDC", "USD1", "EUR"])
const valueScale = currencyFacts.USDC.scale

/** Micro-USDC that one minor unit counts; null: the currency has no value, and each deposit counts `unvaluedDeposit`. */
export const depositUnit = (currency: Currency): bigint | null =>
  atPar.has(currency) ? 10n ** BigInt(valueScale - currencyFacts[currency].scale) : null

/** What a deposit of an asset without any value counts, in micro-USDC, whatever its amount. */
export const unvaluedDeposit = defaultSourceOfWealthThreshold

/** Micro-USDC of an amount in minor units; may be larger than 64 bits hold. */
export const depositValue = (currency: Currency, amount: bigint): bigint => {
  const unit = depositUnit(currency)
  return unit === null ? unvaluedDeposit : amount * unit
}
