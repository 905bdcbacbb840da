/**
 * What a deposit counts towards the threshold of enhanced due diligence, in micro-USDC (F25: "each valued in USDC when
 * booked").
 *
 * Decision while the service has no market data: USDC and USD1 count at par; EUR counts at par too, because the
 * threshold the rule comes from is 15,000 euro (AMLD Article 11(b)), so that 15,000 EUR reach it exactly; BTC, ETH, SOL,
 * BNB and XRP have no mark and count 0, as F23 values nothing without a mark. Such a notice is still looked at by finance
 * before any money is booked. With market data this is the one place that takes the mark.
 */
import { type Currency, currencyFacts } from "../shared/Currency.ts"

const atPar: ReadonlySet<Currency> = new Set(["USDC", "USD1", "EUR"])
const valueScale = currencyFacts.USDC.scale

/** Micro-USDC of an amount in minor units; may be larger than 64 bits hold. */
export const depositValue = (currency: Currency, amount: bigint): bigint =>
  atPar.has(currency) ? amount * 10n ** BigInt(valueScale - currencyFacts[currency].scale) : 0n
