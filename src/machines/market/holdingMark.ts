/**
 * The value of one unit of a currency in USDC. It is the last known mark of the currency's SPOT market, however old. Without
 * a mark, USD1 and EUR count at par, and any other value is unknown. The facts keep the last mark of every market (F23, F25,
 * STS-10).
 */
import { type Currency, currencyFacts } from "../shared/Currency.ts"
import { floorToMicro, product, scaled } from "../shared/Exact.ts"
import { decimalText, MoneyDecimal } from "../shared/Money.ts"
import { type Facts, isFresh, type Mark } from "./Facts.ts"

export interface HoldingMark {
  readonly price: MoneyDecimal
  /** The mark with the places of the market's grid, for display. */
  readonly text: string
  /** The venue's time of the mark, Unix ms; null for a value at par, and for USDC itself. */
  readonly at: number | null
  readonly fresh: boolean
}

const one = { price: new MoneyDecimal(1), text: "1", at: null }
const itself: HoldingMark = { ...one, fresh: true }
const par: HoldingMark = { ...one, fresh: false }

/** The SPOT market whose mark values a currency. */
export const spotOf = (currency: Currency): string => `${currency}-USDC`

/** The mark that values a currency; null when the currency has no known value. */
export const holdingMark = (currency: Currency, { marks, takenAt }: Facts): HoldingMark | null => {
  if (currency === "USDC") return itself
  const mark = marks.get(spotOf(currency))
  if (mark === undefined) return currencyFacts[currency].kind === "CASH" ? par : null
  return {
    price: mark.price,
    text: textOf(mark),
    at: mark.at,
    fresh: takenAt !== null && isFresh(mark, takenAt)
  }
}

/** The text of each mark, computed once for all accounts and postings that it values. */
const texts = new WeakMap<Mark, string>()

const textOf = (mark: Mark): string => {
  let found = texts.get(mark)
  if (found === undefined) texts.set(mark, (found = decimalText(mark.price, mark.places)))
  return found
}

/** The value of an amount (minor units) at a mark, micro-USDC, rounded down; may exceed 64 bits. */
export const valueAt = (currency: Currency, amount: bigint, { price }: HoldingMark): bigint =>
  floorToMicro(product({ units: amount, places: currencyFacts[currency].scale }, scaled(price)))
