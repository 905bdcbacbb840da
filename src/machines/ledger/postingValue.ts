/**
 * The value of a posting in another currency than USDC at its booking: the mark of that moment, its time, and the value, kept
 * with the posting for ever. Results by family and tax figures use this value, never a later mark (STS-9).
 */
import type { JsonObject } from "../shared/Json.ts"
import type { Facts } from "../market/Facts.ts"
import { holdingMark, valueAt } from "../market/holdingMark.ts"
import type { Currency } from "../shared/Currency.ts"
import { formatAmount } from "../shared/Money.ts"

/** Members of a posting's refs; all null where the currency has no known value. */
export interface PostingValue extends JsonObject {
  readonly mark: string | null
  /** The venue's time of the mark, Unix ms; null: valued at par. */
  readonly markTs: number | null
  /** Signed as the amount is, six places, rounded down. */
  readonly valueUsdc: string | null
}

/** `amount` in minor units, signed from the client's view. Null: USDC, which is its own value. */
export const postingValue = (currency: Currency, amount: bigint, facts: Facts): PostingValue | null => {
  if (currency === "USDC") return null
  const mark = holdingMark(currency, facts)
  return mark === null
    ? { mark: null, markTs: null, valueUsdc: null }
    : { mark: mark.text, markTs: mark.at, valueUsdc: formatAmount(valueAt(currency, amount, mark), "USDC") }
}
