/**
 * The cost of each disposal of an asset, lot by lot, for the tax statement. British residents: HMRC's order (same day, then
 * the next 30 days with the earliest first, then the section 104 pool). Others: first in, first out. Costs include the
 * acquisition's commission; proceeds are net of the disposal's commission. Quantities are the asset's minor units, money
 * micro-USDC. Shares are rounded half to even, and the last slice takes the remainder, so the costs always add up (A2-72,
 * A2-83, F21, STS-26, STS-9).
 */
import { takeLots } from "../order/spotLots.ts"
import type { Currency } from "../shared/Currency.ts"

export type TaxMethod = "SAME_DAY" | "THIRTY_DAY" | "S104" | "FIFO"

/** A movement of an asset: acquired, sold, or withdrawn without a disposal. */
export interface AssetMove {
  readonly kind: "ACQUIRED" | "DISPOSED" | "LEFT"
  readonly asset: Currency
  readonly at: number
  /** The quantity in minor units of the asset, more than zero. */
  readonly qty: bigint
  /** The price paid including commission, or the proceeds net of commission; zero for LEFT. */
  readonly money: bigint
  /** True when the cost is a value at a mark instead of a price paid. */
  readonly assumed: boolean
  /** The id of the posting, for an acquisition of unknown value: its cost counts as zero. */
  readonly unvalued?: number
}

/** The part of a disposal that is covered by one lot, or by the pool. */
export interface TaxSlice {
  readonly asset: Currency
  /** The time of the acquisition. Null for a slice from the pool, and for one without a known acquisition. */
  readonly acquired: number | null
  readonly disposed: number
  readonly quantity: bigint
  readonly proceeds: bigint
  readonly cost: bigint
  readonly method: TaxMethod
  readonly assumed: boolean
  /** The acquisitions of unknown value in the cost. */
  readonly unvalued: ReadonlyArray<AssetMove>
}

/** The share of `amount` that belongs to `qty` out of `all`, rounded half to even; no argument is negative. */
const share = (amount: bigint, qty: bigint, all: bigint): bigint => {
  if (qty === all) return amount
  const below = (amount * qty) / all
  const twice = 2n * (amount * qty - below * all)
  return twice > all || (twice === all && below % 2n === 1n) ? below + 1n : below
}

/** The part of a disposal that is not covered yet, with its proceeds. The last slice takes the remaining proceeds. */
class Selling {
  readonly asset: Currency
  readonly at: number
  qty: bigint
  /** Proceeds of the uncovered part. */
  proceeds: bigint
  readonly slices: Array<TaxSlice> = []

  constructor({ asset, at, qty, money }: Pick<AssetMove, "asset" | "at" | "qty" | "money">) {
    this.asset = asset
    this.at = at
    this.qty = qty
    this.proceeds = money
  }

  /** Covers a quantity with an acquisition, at its cost. */
  take(qty: bigint, from: Pick<TaxSlice, "acquired" | "cost" | "method" | "assumed" | "unvalued">): void {
    if (qty === 0n) return
    const proceeds = share(this.proceeds, qty, this.qty)
    this.slices.push({ asset: this.asset, disposed: this.at, quantity: qty, proceeds, ...from })
    this.qty -= qty
    this.proceeds -= proceeds
  }
}

const unvaluedOf = (move: AssetMove): ReadonlyArray<AssetMove> => (move.unvalued === undefined ? [] : [move])

/** First in, first out. `moves` are those of one asset, in order. */
export const fifoSlices = (moves: ReadonlyArray<AssetMove>): ReadonlyArray<TaxSlice> => {
  const assumed = new Set<number>()
  let lots: ReadonlyArray<Parameters<typeof takeLots>[0][number]> = []
  const slices: Array<TaxSlice> = []
  for (const [id, move] of moves.entries()) {
    if (move.kind === "ACQUIRED") {
      if (move.assumed) assumed.add(id)
      const { asset, qty, money: cost, at: acquiredAt } = move
      lots = [...lots, { id, asset, qty, cost, commission: 0n, acquiredAt }]
      continue
    }
    const { taken, left, missing } = takeLots(lots, move.qty)
    lots = left
    if (move.kind === "LEFT") continue
    const selling = new Selling(move)
    for (const lot of taken) {
      const { acquiredAt: acquired, cost } = lot
      const unvalued = unvaluedOf(moves[lot.id] as AssetMove)
      selling.take(lot.qty, { acquired, cost, method: "FIFO", assumed: assumed.has(lot.id), unvalued })
    }
    selling.take(missing, { acquired: null, cost: 0n, method: "FIFO", assumed: true, unvalued: [] })
    slices.push(...selling.slices)
  }
  return slices
}

/** The unmatched acquisitions of one day, which HMRC counts as one acquisition. */
interface Bought {
  readonly day: number
  readonly at: number
  qty: bigint
  cost: bigint
  assumed: boolean
  unvalued: ReadonlyArray<AssetMove>
}

interface Day {
  readonly day: number
  bought: Bought | null
  sold: Selling | null
  left: bigint
}

/** A disposal is matched with acquisitions up to this many days later. */
const matchedDays = 30

/**
 * HMRC's order (CRYPTO22250 and following). `moves` are those of one asset, in order, up to 30 days after the last requested
 * disposal. `dayOf` numbers the days in the time zone of the residency.
 */
export const hmrcSlices = (
  moves: ReadonlyArray<AssetMove>,
  dayOf: (at: number) => number
): { readonly slices: ReadonlyArray<TaxSlice>; readonly pool: { readonly qty: bigint; readonly cost: bigint } } => {
  const days = daysOf(moves, dayOf)
  for (const { bought, sold } of days) if (bought !== null && sold !== null) match(sold, bought, "SAME_DAY")
  for (const [at, { day, sold }] of days.entries()) {
    if (sold === null) continue
    for (let next = at + 1; next < days.length && sold.qty > 0n; next++) {
      const later = days[next] as Day
      if (later.day > day + matchedDays) break
      if (later.bought !== null) match(sold, later.bought, "THIRTY_DAY")
    }
  }
  return pooled(days)
}

const match = (sold: Selling, bought: Bought, method: TaxMethod): void => {
  const qty = sold.qty < bought.qty ? sold.qty : bought.qty
  if (qty === 0n) return
  const cost = share(bought.cost, qty, bought.qty)
  sold.take(qty, { acquired: bought.at, cost, method, assumed: bought.assumed, unvalued: bought.unvalued })
  bought.qty -= qty
  bought.cost -= cost
}

const daysOf = (moves: ReadonlyArray<AssetMove>, dayOf: (at: number) => number): ReadonlyArray<Day> => {
  const days: Array<Day> = []
  for (const move of moves) {
    const day = dayOf(move.at)
    let entry = days.at(-1)
    if (entry === undefined || entry.day !== day) days.push((entry = { day, bought: null, sold: null, left: 0n }))
    if (move.kind === "LEFT") entry.left += move.qty
    else if (move.kind === "ACQUIRED") buy(entry, move)
    else sell(entry, move)
  }
  return days
}

const buy = (entry: Day, move: AssetMove): void => {
  const { at, qty, money, assumed } = move
  entry.bought ??= { day: entry.day, at, qty: 0n, cost: 0n, assumed: false, unvalued: [] }
  entry.bought.qty += qty
  entry.bought.cost += money
  entry.bought.assumed ||= assumed
  if (move.unvalued !== undefined) entry.bought.unvalued = [...entry.bought.unvalued, move]
}

const sell = (entry: Day, move: AssetMove): void => {
  const before = entry.sold
  entry.sold = new Selling({
    ...move,
    at: before?.at ?? move.at,
    qty: move.qty + (before?.qty ?? 0n),
    money: move.money + (before?.proceeds ?? 0n)
  })
}

/** The holding with one pooled cost. It lists its acquisitions of unknown value until the holding is zero. */
type Pool = Pick<Bought, "qty" | "cost" | "assumed" | "unvalued">

const emptyPool: Readonly<Pool> = { qty: 0n, cost: 0n, assumed: false, unvalued: [] }

/** Joins two lists. Most days add no acquisition of unknown value, and the pool then keeps its list without a copy. */
const joined = (all: ReadonlyArray<AssetMove>, more: ReadonlyArray<AssetMove>): ReadonlyArray<AssetMove> =>
  more.length === 0 ? all : [...all, ...more]

/** Applies the moves that no earlier rule has matched to the pool, day by day. */
const pooled = (days: ReadonlyArray<Day>) => {
  const slices: Array<TaxSlice> = []
  let pool = emptyPool
  const out = (qty: bigint): bigint => {
    const cost = pool.qty === 0n ? 0n : share(pool.cost, qty, pool.qty)
    pool = pool.qty > qty ? { ...pool, qty: pool.qty - qty, cost: pool.cost - cost } : emptyPool
    return cost
  }
  for (const { bought, sold, left } of days) {
    if (bought !== null)
      pool = {
        qty: pool.qty + bought.qty,
        cost: pool.cost + bought.cost,
        assumed: pool.assumed || (bought.assumed && bought.qty > 0n),
        unvalued: bought.qty === 0n ? pool.unvalued : joined(pool.unvalued, bought.unvalued)
      }
    if (sold !== null) {
      const { assumed, unvalued } = pool
      const known = sold.qty < pool.qty ? sold.qty : pool.qty
      if (known > 0n) sold.take(known, { acquired: null, cost: out(known), method: "S104", assumed, unvalued })
      sold.take(sold.qty, { acquired: null, cost: 0n, method: "S104", assumed: true, unvalued: [] })
      slices.push(...sold.slices)
    }
    const leaves = left < pool.qty ? left : pool.qty
    if (leaves > 0n) out(leaves)
  }
  return { slices, pool: { qty: pool.qty, cost: pool.cost } }
}
