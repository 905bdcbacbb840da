/**
 * The eight currencies that a client account can hold, with their scale, their kind and their places for display. No other
 * table has the decimal places of a currency (doc 3, deposits route; F2, A2-12).
 */
import { Schema } from "effect"

export const currencyCodes = ["USDC", "BTC", "ETH", "SOL", "BNB", "XRP", "EUR", "USD1"] as const

/** A client currency code: the exact upper-case token. */
export const Currency = Schema.Literals(currencyCodes).annotate({
  message: `The currency must be one of: ${currencyCodes.join(", ")}.`,
  description: "Client currency"
})
export type Currency = typeof Currency.Type

export interface CurrencyFacts {
  /** Decimal places of one unit: minor units = amount x 10^scale. */
  readonly scale: number
  readonly kind: "CASH" | "ASSET"
  /** Places for display; the wire always carries the full scale. */
  readonly displayDecimals: number
}

/** Scale, kind and display places per currency. */
export const currencyFacts: Readonly<Record<Currency, CurrencyFacts>> = {
  USDC: { scale: 6, kind: "CASH", displayDecimals: 2 },
  BTC: { scale: 8, kind: "ASSET", displayDecimals: 8 },
  ETH: { scale: 8, kind: "ASSET", displayDecimals: 6 },
  SOL: { scale: 9, kind: "ASSET", displayDecimals: 4 },
  BNB: { scale: 8, kind: "ASSET", displayDecimals: 5 },
  XRP: { scale: 6, kind: "ASSET", displayDecimals: 4 },
  EUR: { scale: 2, kind: "CASH", displayDecimals: 2 },
  USD1: { scale: 6, kind: "CASH", displayDecimals: 2 }
}

const known: ReadonlySet<string> = new Set(currencyCodes)

/** True for an exact client currency code. */
export const isCurrency = (code: unknown): code is Currency => typeof code === "string" && known.has(code)

export const scaleOf = (currency: Currency): number => currencyFacts[currency].scale
