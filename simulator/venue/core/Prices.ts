/**
 * Index and mark of every base: the walk, a path that is played instead of it, or a price that is held until it is let go.
 * The index of a base is one for all its markets; a mark is the index with a basis that grows with what the book pays above
 * it and halves as time passes. Prices are in ticks.
 */
import type { SeededRandom } from "../../partner/SeededRandom.ts"
import { type Walk, walked } from "./PriceProcess.ts"

/** One step of a path: the price at a time after its beginning. */
export interface PathPoint {
  readonly offsetMillis: number
  readonly price: number
}

/** What of a base is held; each until it is let go. */
interface Held {
  index: number | null
  mark: number | null
  last: number | null
}

export type HeldPrice = keyof Held

interface BasePrices {
  readonly opening: number
  readonly walk: Walk
  readonly random: SeededRandom
  /** The walk itself, between ticks. */
  exact: number
  /** Of the mark, as a share of the index. */
  basis: number
  readonly held: Held
  path: { readonly startedAt: number; readonly points: ReadonlyArray<PathPoint> } | null
}

export interface Quoted {
  readonly index: number
  readonly mark: number
}

/** How long a basis takes to halve. */
const basisHalfLifeMillis = 60_000
/** A mark stays this close to its index, as a share of it. */
const basisLimit = 0.005

export class Prices {
  private readonly bases = new Map<string, BasePrices>()

  /** `opening` in ticks. */
  add(base: string, opening: number, walk: Walk, random: SeededRandom): void {
    const held: Held = { index: null, mark: null, last: null }
    this.bases.set(base, { opening, walk, random, exact: opening, basis: 0, held, path: null })
  }

  /** Lets a stretch of time pass; `premium` is what the book pays above the index, as a share of it. */
  step(base: string, from: number, to: number, premium: number): Quoted {
    const prices = this.of(base)
    const elapsed = to - from
    const { path } = prices
    if (path === null) prices.exact = walked(prices.exact, prices.opening, elapsed, prices.walk, prices.random)
    else this.follow(prices, path, to)
    const fade = basisHalfLifeMillis / (basisHalfLifeMillis + elapsed)
    const drawn = prices.basis * fade + premium * (1 - fade)
    prices.basis = Math.min(basisLimit, Math.max(-basisLimit, drawn))
    return this.now(base)
  }

  now(base: string): Quoted {
    const { exact, basis, held } = this.of(base)
    const index = held.index ?? Math.max(1, Math.round(exact))
    return { index, mark: held.mark ?? Math.max(1, Math.round(index * (1 + basis))) }
  }

  /** What the last price of a base's markets is held at, or null. */
  heldLast(base: string): number | null {
    return this.of(base).held.last
  }

  /** Holds a price until `release`; the walk goes on from it. */
  hold(base: string, which: ReadonlyArray<HeldPrice>, ticks: number): void {
    const prices = this.of(base)
    for (const one of which) prices.held[one] = ticks
    if (which.includes("index")) {
      prices.exact = ticks
      prices.basis = 0
      prices.path = null
    }
  }

  release(base: string): void {
    Object.assign(this.of(base).held, { index: null, mark: null, last: null })
  }

  /** Plays a path from now on; after its last point the walk goes on from there. */
  play(base: string, startedAt: number, points: ReadonlyArray<PathPoint>): void {
    this.release(base)
    this.of(base).path = { startedAt, points }
  }

  private follow(prices: BasePrices, { startedAt, points }: NonNullable<BasePrices["path"]>, to: number): void {
    const price = priceOn(points, to - startedAt)
    prices.exact = price ?? points.at(-1)?.price ?? prices.exact
    if (price === null) prices.path = null
  }

  private of(base: string): BasePrices {
    const prices = this.bases.get(base)
    if (prices === undefined) throw new Error(`no base ${base}`)
    return prices
  }
}

/** The price of a path at an offset, on the straight line between two points; null once it is over. */
const priceOn = (points: ReadonlyArray<PathPoint>, offset: number): number | null => {
  const next = points.findIndex(({ offsetMillis }) => offsetMillis > offset)
  if (next === -1) return null
  const [before, after] = [points[next - 1], points[next]]
  if (after === undefined || before === undefined) return after?.price ?? null
  const share = (offset - before.offsetMillis) / (after.offsetMillis - before.offsetMillis)
  return before.price + (after.price - before.price) * share
}
