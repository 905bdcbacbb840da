/**
 * Index and mark of every base: a walk, a played path instead, or a held price. All markets of a base share its index. A mark
 * is the index plus a basis, which grows with the book's premium over the index and decays with a half-life. Prices are in
 * ticks.
 */
import { SeededRandom } from "../../partner/SeededRandom.ts"
import { type Walk, walked } from "./PriceProcess.ts"

/** One point of a path: the price at an offset from its beginning. */
export interface PathPoint {
  readonly offsetMillis: number
  readonly price: number
}

/** The prices of a base that a tester holds, in ticks. A price that is null moves by itself. */
interface Held {
  index: number | null
  mark: number | null
  last: number | null
}

export type HeldPrice = keyof Held

interface BasePrices {
  readonly opening: number
  walk: Walk
  random: SeededRandom
  /** Business time of the last step, Unix ms. */
  steppedAt: number
  /** The walk's own value, between ticks. */
  exact: number
  /** The mark's basis, as a share of the index. */
  basis: number
  readonly held: Held
  path: Path | null
}

interface Path {
  readonly startedAt: number
  /** The points by offset, the earliest first. */
  readonly points: ReadonlyArray<PathPoint>
}

/** The prices of one base as plain JSON, for snapshots. */
export interface PricesState {
  readonly base: string
  readonly opening: number
  readonly walk: Walk
  readonly random: number
  readonly steppedAt: number
  readonly exact: number
  readonly basis: number
  readonly held: Readonly<Held>
  readonly path: Path | null
}

export interface Quoted {
  readonly index: number
  readonly mark: number
}

/** Default half-life of a basis. */
export const usualHalfLifeMillis = 60_000
/** Limit of the distance between mark and index, as a share of the index. */
const basisLimit = 0.005

export class Prices {
  private readonly bases = new Map<string, BasePrices>()
  basisHalfLifeMillis = usualHalfLifeMillis

  /** `opening` in ticks; the first step begins at `at`. */
  add(base: string, opening: number, walk: Walk, random: SeededRandom, at = 0): void {
    const held: Held = { index: null, mark: null, last: null }
    this.bases.set(base, { opening, walk, random, steppedAt: at, exact: opening, basis: 0, held, path: null })
  }

  /** Advances from the last step; `premium` is the book's premium over the index, as a share of the index. */
  step(base: string, to: number, premium: number): Quoted {
    const prices = this.of(base)
    const elapsed = to - prices.steppedAt
    prices.steppedAt = to
    const { path } = prices
    if (path === null) prices.exact = walked(prices.exact, prices.opening, elapsed, prices.walk, prices.random)
    else this.follow(prices, path, to)
    const fade = this.basisHalfLifeMillis / (this.basisHalfLifeMillis + elapsed)
    const drawn = prices.basis * fade + premium * (1 - fade)
    prices.basis = Math.min(basisLimit, Math.max(-basisLimit, drawn))
    return this.now(base)
  }

  now(base: string): Quoted {
    const { exact, basis, held } = this.of(base)
    const index = held.index ?? Math.max(1, Math.round(exact))
    return { index, mark: held.mark ?? Math.max(1, Math.round(index * (1 + basis))) }
  }

  /** The price of a base when the venue began, in ticks. */
  openingOf(base: string): number {
    return this.of(base).opening
  }

  /** The prices of a base that a tester holds, in ticks; null where none is held. */
  heldOf(base: string): Readonly<Held> {
    return this.of(base).held
  }

  hasPath(base: string): boolean {
    return this.of(base).path !== null
  }

  /** Time of the next point of a base's path; infinity for none. */
  nextPoint(base: string, time: number): number {
    const { path } = this.of(base)
    const point = path === null ? undefined : path.points[placeAfter(path.points, time - path.startedAt)]
    return path === null || point === undefined ? Number.POSITIVE_INFINITY : path.startedAt + point.offsetMillis
  }

  /** Replaces the walk and its random stream. */
  setWalk(base: string, walk: Walk): void {
    this.of(base).walk = walk
  }

  walkOf(base: string): Walk {
    return this.of(base).walk
  }

  reseed(base: string, random: SeededRandom): void {
    this.of(base).random = random
  }

  /** Holds a price until `release`; the walk continues from it. */
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

  /** Starts a path; when it ends, the walk continues from its last point. */
  play(base: string, startedAt: number, points: ReadonlyArray<PathPoint>): void {
    this.release(base)
    this.of(base).path = { startedAt, points }
  }

  /** Ends the path of a base at its current price. */
  stop(base: string): void {
    this.of(base).path = null
  }

  state(): ReadonlyArray<PricesState> {
    return [...this.bases].map(([base, prices]) => ({
      ...prices,
      base,
      held: { ...prices.held },
      random: prices.random.position
    }))
  }

  restore(states: ReadonlyArray<PricesState>): void {
    for (const { base, ...prices } of states)
      this.bases.set(base, { ...prices, held: { ...prices.held }, random: new SeededRandom(prices.random) })
  }

  private follow(prices: BasePrices, { startedAt, points }: Path, to: number): void {
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

/** The price of a path at an offset, by linear interpolation; null after its end. */
const priceOn = (points: ReadonlyArray<PathPoint>, offset: number): number | null => {
  const next = placeAfter(points, offset)
  const [before, after] = [points[next - 1], points[next]]
  if (after === undefined || before === undefined) return after?.price ?? null
  const share = (offset - before.offsetMillis) / (after.offsetMillis - before.offsetMillis)
  return before.price + (after.price - before.price) * share
}

/** Index of the first point after an offset. */
const placeAfter = (points: ReadonlyArray<PathPoint>, offset: number): number => {
  let low = 0
  let high = points.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((points[middle] as PathPoint).offsetMillis <= offset) low = middle + 1
    else high = middle
  }
  return low
}
