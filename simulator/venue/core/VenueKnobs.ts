/**
 * The knobs of the simulated venue (C1), as `sim venue set FILE` has them: every part may be left out and then stays as it is.
 * Shares and probabilities are numbers from 0 to 1, times milliseconds; dealers live on wall time, everything else on business time.
 */
import { Schema } from "effect"
import { DecimalText, Words } from "../../../src/machines/venue/values.ts"

const between = (minimum: number, maximum: number) => Schema.Finite.check(Schema.isBetween({ minimum, maximum }))
const whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const share = between(0, 1)
const dayMillis = 86_400_000

/** How the index of a base walks. */
const Process = Schema.Struct({
  /** Standard deviation of a year's returns. */
  volatility: Schema.optionalKey(between(0, 20)),
  /** Jumps a year, and the largest of them as a share of the price. */
  jumps: Schema.optionalKey(between(0, 100_000)),
  jumpSize: Schema.optionalKey(between(0, 0.9))
})

/** The simulator's own book of a market. */
const BookShape = Schema.Struct({
  levels: Schema.optionalKey(whole(0, 100)),
  /** Ticks between the best bid and the best ask. */
  spread: Schema.optionalKey(whole(1, 1_000_000)),
  /** Base units of each level; 0: no book. */
  size: Schema.optionalKey(DecimalText),
  /** How often a level that was traded away is filled again, a tick. */
  refill: Schema.optionalKey(share)
})

/** What becomes of clients' orders in a market. */
const OrderKnobs = Schema.Struct({
  /** How often an order is refused that could be taken. */
  reject: Schema.optionalKey(share),
  /** In how many fills at least an order is filled that trades at once; each is a trade of its own. */
  slices: Schema.optionalKey(whole(1, 1_000))
})
export type OrderKnobs = typeof OrderKnobs.Type

/** A dealer who quotes on requests; driven on wall time by the server, which logs what it decides. */
export const Dealer = Schema.Struct({
  name: Words.check(Schema.isMinLength(1)),
  latencyMillis: whole(0, 600_000),
  validityMillis: whole(1, dayMillis),
  /** What it earns on each side of the mark, basis points. */
  spreadBps: between(0, 1_000),
  /** The largest quantity that it quotes, as a share of the market's largest order. */
  size: share,
  withdrawal: share,
  lastLookRefusal: share,
  /** How often it does not answer a request. */
  silence: share
})
export type Dealer = typeof Dealer.Type

/** Writers of staking swaps at maturity; what they don't pay then comes `lateMillis` later, of a default never. */
const Writers = Schema.Struct({
  /** How often a writer pays nothing at all. */
  default: Schema.optionalKey(share),
  /** How often it pays late, and how late. */
  late: Schema.optionalKey(share),
  lateMillis: Schema.optionalKey(whole(1, 400 * dayMillis)),
  /** How often it pays a part at maturity and the rest late, and that part. */
  short: Schema.optionalKey(share),
  shortShare: Schema.optionalKey(share)
})

export const VenueKnobs = Schema.Struct({
  /** Begins every stream of chance anew. */
  seed: Schema.optionalKey(whole(0, 4_294_967_295)),
  tickMillis: Schema.optionalKey(whole(10, 3_600_000)),
  /** By base, such as BTC. */
  processes: Schema.optionalKey(Schema.Record(Schema.String, Process)),
  /** How long what the mark has above the index takes to halve. */
  basisHalfLifeMillis: Schema.optionalKey(whole(1, dayMillis)),
  /** By market. */
  books: Schema.optionalKey(Schema.Record(Schema.String, BookShape)),
  /** By market. */
  orders: Schema.optionalKey(Schema.Record(Schema.String, OrderKnobs)),
  /** How often the simulator's own taker trades in a market, a tick. */
  takers: Schema.optionalKey(share),
  /** All of them. */
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

/** Three of them: one quick, one in the middle, one slow but good. */
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
