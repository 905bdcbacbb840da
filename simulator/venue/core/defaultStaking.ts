/** The staking markets a simulated venue opens with (C3), and the boards of offers that its writers keep full (STS-36). */
import type { StakingMarket } from "./Staking.ts"

const tenors = [1, 7, 30] as const
/** How long an offer stands. */
export const offerMillis = 86_400_000
const usualRates: Readonly<Record<(typeof tenors)[number], number>> = { 1: 300, 7: 400, 30: 500 }
/** A board's rate lies up to this much above the usual one of its tenor, basis points. */
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
  /** In whole units of the asset: the step is a part of it, the others multiples. */
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

/** New ones each time: a market's state is in it. */
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
