/**
 * Limits on a tester's numbers: all derived figures of the books stay exact, and no wait or list is unbounded. Values beyond
 * them are refused with a reason.
 */
import type { VenueCommand } from "../../../src/venue/VenueCommand.ts"
import type { Listing } from "./Exchange.ts"
import { houseAccounts } from "./Makers.ts"
import type { VenueParts } from "./VenueParts.ts"

const dayMillis = 86_400_000
/** Limit on the duration of a path, and of a fault that ends by time. */
const longestMillis = 366 * dayMillis
const longestDelayMillis = 3_600_000
const mostTimes = 1_000_000
/** A price is at most this multiple of its base's opening price, and at most `mostTicks`. */
const priceMultiple = 1_000
const mostTicks = 500_000_000_000
/** An execution has at most this many of its market's largest orders, an offer at most this many of the largest takes. */
const largestMultiple = 1_000
export const mostSpread = 1_000_000
const mostOffers = 10_000
const mostPayments = 100

type Fault = Pick<Extract<VenueCommand, { readonly type: "fault" }>, "forMillis" | "times" | "delayMillis">

/**
 * Refuses a fault that lasts over 366 days, strikes over 1,000,000 times or delays over an hour. Null if the fault is accepted.
 */
export const faultRefusal = ({ forMillis, times, delayMillis }: Fault): string | null => {
  const given = [forMillis, times, delayMillis].filter((each) => each !== null)
  if (given.some((each) => each < 1)) return "How long, how often and how late are whole numbers from 1."
  if ((forMillis ?? 0) > longestMillis) return "A fault lasts 366 days at most."
  if ((times ?? 0) > mostTimes) return "A fault strikes 1,000,000 times at most."
  return (delayMillis ?? 0) > longestDelayMillis ? "A fault delays by an hour at most." : null
}

/** Refuses a price (ticks) over 1,000 times the base's opening price, or over `mostTicks`. Null if the price is accepted. */
export const priceRefusal = ({ prices }: VenueParts, { market }: Listing, ticks: number): string | null =>
  ticks > Math.min(prices.openingOf(market.base) * priceMultiple, mostTicks)
    ? `A price of ${market.symbol} is at most 1,000 times the one that it opened with.`
    : null

/** Refuses a price path of more than 366 days. Null if the path is accepted. */
export const pathRefusal = (endMillis: number): string | null =>
  endMillis > longestMillis ? "A path lasts 366 days at most." : null

/** The reason to refuse a trade that the venue itself executes, or null; `lots` is signed. Positions must stay exact. */
export const executionRefusal = (
  { exchange }: VenueParts,
  { market }: Listing,
  { accountId, lots }: { readonly accountId: number; readonly lots: number }
): string | null => {
  const { symbol, maxQty } = market
  if (Math.abs(lots) > maxQty * largestMultiple)
    return `The quantity is more than 1,000 of the largest orders of ${symbol}.`
  const after = [
    (exchange.accounts.get(accountId)?.lotsOf(symbol) ?? 0) + lots,
    (exchange.accounts.get(houseAccounts.venue)?.lotsOf(symbol) ?? 0) - lots
  ]
  return after.every(Number.isSafeInteger) ? null : `The position in ${symbol} would be too large.`
}

/** Why an offer of this amount (minor units) is refused; null if it is not. */
export const offerRefusal = ({ staking }: VenueParts, symbol: string, amount: bigint): string | null => {
  if (staking.offers.size >= mostOffers) return "The board has 10,000 offers: no more fit."
  const largest = staking.markets.get(symbol)?.maxQty ?? 0n
  return amount > largest * BigInt(largestMultiple)
    ? `The quantity is more than 1,000 of the largest takes of ${symbol}.`
    : null
}

/** Why another fee correction of a swap is refused; null if it is not. */
export const correctionRefusal = ({ corrections }: { readonly corrections: ReadonlyArray<unknown> }): string | null =>
  corrections.length >= mostPayments ? "No more than 100 corrections are made of one fee." : null

/** Why another payment of a swap is refused; null if it is not. */
export const paymentRefusal = ({ payments }: { readonly payments: ReadonlyArray<unknown> }): string | null =>
  payments.length >= mostPayments ? "No more than 100 payments are made on one swap." : null
