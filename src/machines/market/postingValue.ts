/**
 * The USDC value of a posting in another currency: the mark at its booking, the mark's time, and the value. They are stored
 * with the posting and never change. Results by family and tax figures use this value, never a later mark (STS-9).
 */
import type { JsonObject } from "../shared/Json.ts"
import type { Facts } from "./Facts.ts"
import { holdingMark, valueAt } from "./holdingMark.ts"
import type { Currency } from "../shared/Currency.ts"
import { formatAmount } from "../shared/Money.ts"

/** Members of a posting's refs; all null where the currency has no known value. */
export interface PostingValue extends JsonObject {
  readonly mark: string | null
  /** The venue's time of the mark, Unix ms; null: valued at par. */
  readonly markTs: number | null
  /** The value in USDC with the sign of the amount; six places, rounded down. */
  readonly valueUsdc: string | null
}

/**
 * Values `amount` (minor units, signed from the client's view) at the marks of the facts. Null for USDC, which needs no
 * value.
 */
export const postingValue = (currency: Currency, amount: bigint, facts: Facts): PostingValue | null => {
  if (currency === "USDC") return null
  const mark = holdingMark(currency, facts)
  return mark === null
    ? { mark: null, markTs: null, valueUsdc: null }
    : { mark: mark.text, markTs: mark.at, valueUsdc: formatAmount(valueAt(currency, amount, mark), "USDC") }
}
