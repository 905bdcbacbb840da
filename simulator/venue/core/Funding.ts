/**
 * Funding of one perpetual market at the simulated venue: the premium of the book over the index is sampled each
 * minute, and the average of an interval sets the rate that is paid at the end of the next interval. Rates are whole
 * hundred-millionths an interval, so that payments are exact (F1, F14).
 */
import { type Market, valueOf } from "./Market.ts"

/** Rates are whole numbers of this fraction: 100,000,000 means a rate of 1. */
export const rateUnit = 100_000_000

/** The interest part of a rate, and the limit of its correction by the premium; both hundred-millionths an interval. */
const interest = 10_000
const correction = 50_000
/** The largest rate that one side pays the other, in hundred-millionths an interval: 0.75 %. */
export const largestRate = 750_000

export const fundingHours = 8
export const fundingIntervalMillis = fundingHours * 3_600_000

/** The next funding time: 00:00, 08:00 or 16:00 UTC. */
export const nextStamp = (now: number): number => (Math.floor(now / fundingIntervalMillis) + 1) * fundingIntervalMillis

const within = (value: number, limit: number): number => Math.min(limit, Math.max(-limit, value))

/** The rate of an average premium, both in hundred-millionths. */
export const rateOf = (premium: number): number => within(premium + within(interest - premium, correction), largestRate)

/** The premium of the book over the index, in hundred-millionths of the index; prices in ticks, null for an empty side. */
export const premiumOf = (index: number, bid: number | null, ask: number | null): number => {
  const above = Math.max(0, (bid ?? index) - index)
  const below = Math.max(0, index - (ask ?? index))
  return Math.round(((above - below) * rateUnit) / index)
}

/** The payment to a position, in micro-USDC, negative if it pays; rounded against the account. */
export const paymentOf = (market: Market, lots: number, mark: number, rate: number): bigint => {
  const due = valueOf(market, mark, -lots) * BigInt(rate)
  const unit = BigInt(rateUnit)
  const floor = due / unit
  return due < 0n && floor * unit !== due ? floor - 1n : floor
}

/** The facts of one position at a funding time as plain JSON: `lots`, `mark` in ticks, `rate` in hundred-millionths. */
export interface PositionStamp {
  readonly accountId: number
  readonly symbol: string
  readonly settledAt: number
  readonly lots: number
  readonly mark: number
  readonly rate: number
}

/** The funding of a market as plain JSON, for a snapshot. */
export interface FundingState {
  readonly sum: number
  readonly samples: number
  readonly held: number | null
  readonly fixed: number
}

export class Funding {
  private sum = 0
  private samples = 0
  private held: number | null = null
  /** The rate of the next payment, set at the last funding time. */
  private fixed = interest

  constructor(state?: FundingState) {
    if (state === undefined) return
    this.sum = state.sum
    this.samples = state.samples
    this.held = state.held
    this.fixed = state.fixed
  }

  state(): FundingState {
    const { sum, samples, held, fixed } = this
    return { sum, samples, held, fixed }
  }

  /** The rate of the next payment, hundred-millionths; a held rate takes precedence. */
  get rate(): number {
    return this.held ?? this.fixed
  }

  /** The rate of the payment after the next one, by the samples so far. */
  get predicted(): number {
    return this.held ?? (this.samples === 0 ? this.fixed : rateOf(Math.round(this.sum / this.samples)))
  }

  /** Adds the premium of one minute, or of several minutes with the same premium. */
  sample(premium: number, minutes = 1): void {
    this.sum += premium * minutes
    this.samples += minutes
  }

  /** Holds the rate at this value until `release`, whatever the premiums are. */
  hold(rate: number): void {
    this.held = within(rate, largestRate)
  }

  release(): void {
    this.held = null
  }

  /** Ends an interval: its samples set the rate of the next interval. Returns the rate to pay now. */
  stamp(): number {
    const paid = this.rate
    this.fixed = this.predicted
    this.sum = 0
    this.samples = 0
    return paid
  }
}
