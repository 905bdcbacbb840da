/** The markets of a new simulated venue: grids, limits and opening prices, all against USDC (C3). */
import type { LadderShape } from "./Makers.ts"
import { type AssetClass, type Family, type Market, unitsOf } from "./Market.ts"
import type { Walk } from "./PriceProcess.ts"

/** A base with its markets. Plain JSON. */
export interface Base {
  /** The base's symbol, such as BTC. */
  readonly base: string
  readonly name: string
  readonly assetClass: AssetClass
  /** Decimal places of a tick and of a lot. */
  readonly tick: number
  readonly lot: number
  /** The opening price in USDC, a decimal text. */
  readonly opening: string
  /** Standard deviation of a year's returns. */
  readonly volatility: number
  readonly families: ReadonlyArray<Family>
}

const everywhere: ReadonlyArray<Family> = ["SPOT", "PERP", "BARRIER"]
const derivatives: ReadonlyArray<Family> = ["PERP", "BARRIER"]

export const bases: ReadonlyArray<Base> = [
  base("BTC", "Bitcoin", "crypto", 1, 4, "60000", 0.5, everywhere),
  base("ETH", "Ether", "crypto", 2, 3, "3000", 0.6, everywhere),
  base("SOL", "Solana", "crypto", 3, 2, "150", 0.8, everywhere),
  base("BNB", "BNB", "crypto", 2, 3, "600", 0.55, everywhere),
  base("XRP", "XRP", "crypto", 4, 0, "0.6", 0.7, everywhere),
  base("EUR", "Euro", "fx", 4, 0, "1.08", 0.07, ["SPOT"]),
  base("USD1", "USD1", "crypto", 4, 0, "1", 0.002, ["SPOT"]),
  base("US500", "US 500 index", "index", 1, 3, "5500", 0.15, derivatives),
  base("XAU", "Gold", "metal", 2, 3, "2400", 0.14, derivatives),
  base("WTI", "Crude oil", "energy", 3, 2, "75", 0.35, derivatives),
  base("EURUSD", "Euro and US dollar", "fx", 5, 0, "1.08", 0.07, derivatives)
]

function base(
  code: string,
  name: string,
  assetClass: AssetClass,
  tick: number,
  lot: number,
  opening: string,
  volatility: number,
  families: ReadonlyArray<Family>
): Base {
  return { base: code, name, assetClass, tick, lot, opening, volatility, families }
}

const suffixOf: Readonly<Record<Family, string>> = { SPOT: "USDC", PERP: "USDC-PERP", BARRIER: "USDC-KO" }
const titleOf: Readonly<Record<Family, string>> = { SPOT: "", PERP: " perpetual", BARRIER: " knock-out" }

/** Value of the largest order at the opening price, in USDC. */
const largestOrder = 10_000_000
/** The value of the smallest order in each family, micro-USDC. */
const smallestOrder: Readonly<Record<Family, bigint>> = { SPOT: 5_000_000n, PERP: 5_000_000n, BARRIER: 100_000_000n }

/** The markets of some bases; those of one base share their grid. */
export const marketsOf = (setup: ReadonlyArray<Base>): ReadonlyArray<Market> =>
  setup.flatMap((asset) => asset.families.map((family) => marketOf(asset, family)))

export const defaultMarkets: ReadonlyArray<Market> = marketsOf(bases)

/** Jumps a year and their largest size, for every base. */
const jumps = { jumps: 12, jumpSize: 0.02 } as const

export const walkOf = ({ volatility }: Base): Walk => ({ volatility, ...jumps })

/** Value of a level of the simulator's own book at the opening price, in USDC. */
const levelValue = 50_000

/** The simulator's own book of a base's markets. */
export const usualLadder = (asset: Base): LadderShape => ({
  levels: 25,
  spread: 2,
  size: Math.max(1, Math.floor((levelValue * 10 ** (asset.tick + asset.lot)) / openingTicks(asset)))
})

function marketOf(asset: Base, family: Family): Market {
  const { base: code, name, assetClass, tick, lot } = asset
  // Whole units of the base, computed in ticks.
  const lots = Math.floor((largestOrder * 10 ** tick) / openingTicks(asset)) * 10 ** lot
  return {
    symbol: `${code}-${suffixOf[family]}`,
    family,
    base: code,
    assetClass,
    displayName: `${name}${titleOf[family]}`,
    tickDecimals: tick,
    lotDecimals: lot,
    minQty: 1,
    maxQty: lots,
    minNotional: smallestOrder[family],
    bandBps: 1_000
  }
}

/** The opening price of a base, in ticks of its markets. */
export function openingTicks({ opening, tick }: Base): number {
  const ticks = unitsOf(opening, tick)
  if (ticks === null) throw new Error(`${opening} lies between two ticks`)
  return ticks
}
