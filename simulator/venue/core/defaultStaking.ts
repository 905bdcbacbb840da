/** The staking markets of a new simulated venue, and the boards that its writers fill (C3; STS-36). */
import type { StakingMarket } from "./Staking.ts"

const tenors = [1, 7, 30] as const
/** The time after which an offer expires, ms. */
export const offerMillis = 86_400_000
const usualRates: Readonly<Record<(typeof tenors)[number], number>> = { 1: 300, 7: 400, 30: 500 }
/** Largest excess of a board's rate over the usual one of its tenor, basis points. */
export const rateSpread = 100

/** One place on the board, which always has an offer. */
export interface Board {
  readonly symbol: string
  readonly tenorDays: number
  readonly rateBps: number
  readonly qty: bigint
}

interface Asset {
  readonly asset: string
  readonly name: string
  /** Decimal places of a minor unit. */
  readonly scale: number
  /**
   * `stepsAUnit`: the steps of quantity that make a whole unit of the asset. `board`: the whole units of an offer, and of the
   * largest take.
   */
  readonly stepsAUnit: bigint
  readonly board: bigint
  readonly takerFeeBps: number
}

const assets: ReadonlyArray<Asset> = [
  { asset: "BTC", name: "Bitcoin", scale: 8, stepsAUnit: 10_000n, board: 10n, takerFeeBps: 0 },
  { asset: "ETH", name: "Ether", scale: 8, stepsAUnit: 1_000n, board: 200n, takerFeeBps: 5 },
  { asset: "SOL", name: "Solana", scale: 9, stepsAUnit: 100n, board: 5_000n, takerFeeBps: 0 },
  { asset: "USDC", name: "USDC", scale: 6, stepsAUnit: 100n, board: 500_000n, takerFeeBps: 0 }
]

const unitOf = ({ scale }: Asset): bigint => 10n ** BigInt(scale)

/** The default staking markets. Each call makes new objects, because they hold a market's state. */
export const defaultStakingMarkets = (): ReadonlyArray<StakingMarket> =>
  assets.map((asset) => {
    const step = unitOf(asset) / asset.stepsAUnit
    return {
      symbol: `${asset.asset}-SWAP`,
      name: `${asset.name} staking`,
      asset: asset.asset,
      scale: asset.scale,
      minTenorDays: tenors[0],
      maxTenorDays: tenors[2],
      maxRateBps: 2_000,
      minQty: step * 10n,
      qtyStep: step,
      maxQty: unitOf(asset) * asset.board,
      takerFeeBps: asset.takerFeeBps,
      enabled: true,
      delisted: false
    }
  })

export const boards: ReadonlyArray<Board> = assets.flatMap((asset) =>
  tenors.map((tenorDays) => ({
    symbol: `${asset.asset}-SWAP`,
    tenorDays,
    rateBps: usualRates[tenorDays],
    qty: unitOf(asset) * asset.board
  }))
)
