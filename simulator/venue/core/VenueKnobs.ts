/**
 * The knobs of the simulated venue, as in files of `sim venue set`: an absent part stays as it is. Shares and probabilities are
 * numbers from 0 to 1, times milliseconds. Dealers run on wall time, all else on business time (C1).
 */
import { Schema } from "effect"
import { DecimalText, VenueText } from "../../../src/machines/venue/values.ts"

const between = (minimum: number, maximum: number) => Schema.Finite.check(Schema.isBetween({ minimum, maximum }))
const whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const share = between(0, 1)
const dayMillis = 86_400_000

/** The random walk of a base's index price. */
const Process = Schema.Struct({
  /** Standard deviation of a year's returns; 1 is 100 percent. */
  volatility: Schema.optionalKey(between(0, 20)),
  /** The number of jumps a year. */
  jumps: Schema.optionalKey(between(0, 100_000)),
  /** The size of the largest jump, as a share of the price. */
  jumpSize: Schema.optionalKey(between(0, 0.9))
})

/** The book that the simulator itself quotes in a market. */
const BookShape = Schema.Struct({
  levels: Schema.optionalKey(whole(0, 100)),
  /** Ticks between best bid and best ask. */
  spread: Schema.optionalKey(whole(1, 1_000_000)),
  /** Base units of each level; 0: no book. */
  size: Schema.optionalKey(DecimalText),
  /** Probability of refilling a traded level, each tick. */
  refill: Schema.optionalKey(share)
})

/** Treatment of clients' orders in a market. */
const OrderKnobs = Schema.Struct({
  /** Probability of refusing a valid order. */
  reject: Schema.optionalKey(share),
  /** Least number of fills of an order that trades at once; each is a trade of its own. */
  slices: Schema.optionalKey(whole(1, 1_000))
})
export type OrderKnobs = typeof OrderKnobs.Type

/** A dealer who quotes on requests; run by the server on wall time, which logs its decisions. */
export const Dealer = Schema.Struct({
  name: VenueText.check(Schema.isMinLength(1)),
  latencyMillis: whole(0, 600_000),
  validityMillis: whole(1, dayMillis),
  /** The distance of its quotes from the mark on each side, basis points. */
  spreadBps: between(0, 1_000),
  /** The largest quoted quantity, as a share of the market's largest order. */
  size: share,
  withdrawal: share,
  lastLookRefusal: share,
  /** Probability of not answering a request. */
  silence: share
})
export type Dealer = typeof Dealer.Type

/**
 * The behaviour of writers of staking swaps at maturity. A writer pays an unpaid part `lateMillis` later, but nothing after a
 * default.
 */
const Writers = Schema.Struct({
  /** Probability of paying nothing at all. */
  default: Schema.optionalKey(share),
  /** Probability and delay of a late payment. */
  late: Schema.optionalKey(share),
  lateMillis: Schema.optionalKey(whole(1, 400 * dayMillis)),
  /** Probability and amount of a partial payment at maturity; the remaining debt is paid late. */
  short: Schema.optionalKey(share),
  shortShare: Schema.optionalKey(share)
})

export const VenueKnobs = Schema.Struct({
  /** A new seed: restarts every random stream. */
  seed: Schema.optionalKey(whole(0, 4_294_967_295)),
  tickMillis: Schema.optionalKey(whole(10, 3_600_000)),
  /** The price process of each base, such as BTC. */
  processes: Schema.optionalKey(Schema.Record(Schema.String, Process)),
  /** Half-life of the mark's basis over the index. */
  basisHalfLifeMillis: Schema.optionalKey(whole(1, dayMillis)),
  /** The shape of the book of each market. */
  books: Schema.optionalKey(Schema.Record(Schema.String, BookShape)),
  /** The order knobs of each market. */
  orders: Schema.optionalKey(Schema.Record(Schema.String, OrderKnobs)),
  /** Probability of a trade by the simulator's own taker in a market, each tick. */
  takers: Schema.optionalKey(share),
  /** All dealers: the list replaces the earlier one. */
  dealers: Schema.optionalKey(Schema.Array(Dealer).check(Schema.isMaxLength(20))),
  writers: Schema.optionalKey(Writers)
})
export type VenueKnobs = typeof VenueKnobs.Type

export interface WritersInForce {
  readonly default: number
  readonly late: number
  readonly lateMillis: number
  readonly short: number
  readonly shortShare: number
}

export const defaultWriters: WritersInForce = {
  default: 0,
  late: 0,
  lateMillis: 3_600_000,
  short: 0,
  shortShare: 0.5
}

export const defaultTakers = 0.2

/** Three dealers: one quick, one medium, one slow with good prices. */
export const defaultDealers: ReadonlyArray<Dealer> = [
  dealer("alpha", 200, 8),
  dealer("beta", 400, 5),
  dealer("gamma", 900, 3)
]

function dealer(name: string, latencyMillis: number, spreadBps: number): Dealer {
  return {
    name,
    latencyMillis,
    validityMillis: 15_000,
    spreadBps,
    size: 1,
    withdrawal: 0,
    lastLookRefusal: 0,
    silence: 0
  }
}
