/**
 * The broker's settings for markets: leverage by asset class, risk tiers, commission, and the terms of knock-out contracts and
 * staking, with their defaults. The venue's own grids and limits come with its listing (doc 2, Margin picture; A2-08..A2-10,
 * A2-18, F22, F13, F9).
 */
import type { assetClasses } from "../venue/VenueMarket.ts"
import type { KeyDocument, RiskTier } from "./MarketWire.ts"

export type AssetClass = (typeof assetClasses)[number]

export interface MarketTerms {
  /** Highest leverage on perpetuals. */
  readonly leverage: { readonly retail: Readonly<Record<AssetClass, number>>; readonly professional: number }
  /**
   * Risk tiers of perpetuals: the notional in micro-USDC at which a tier begins, and its highest leverage. Null: the market's
   * maximum applies.
   */
  readonly riskTiers: ReadonlyArray<{ readonly from: bigint; readonly maxLeverage: number | null }>
  readonly commissionBps: { readonly PERP: number; readonly SPOT: number; readonly BARRIER: number }
  /** The worst expected slippage of an order at the market, basis points of its value. */
  readonly slippageBps: number
  /** A close-out waits this long for its cancels of orders and requests before it closes positions, ms. */
  readonly closeOutCancelMillis: number
  readonly knockOutRebateBps: number
  readonly strictTakeProfitPremiumBps: number
  readonly strictTakeProfitOffered: boolean
  readonly barrierMaxLeverage: number
  readonly barrierExpiry: {
    readonly maxExplicitMs: number
    readonly strictMaxExplicitMs: number
    readonly defaultLifeMonths: number
    readonly venueMaxLifeHours: number
  }
  /** Key information documents of knock-out contracts; null: not published. */
  readonly kid: KeyDocument | null
  readonly kidStrict: KeyDocument | null
  /** The service's share of staking rewards. */
  readonly commissionRewardBps: number
  readonly stakingDisclosure: string
}

const million = 1_000_000_000_000n

export const defaultMarketTerms: MarketTerms = {
  leverage: { retail: { crypto: 10, index: 20, metal: 20, energy: 20, fx: 30 }, professional: 50 },
  riskTiers: [
    { from: 0n, maxLeverage: null },
    { from: million / 2n, maxLeverage: 20 },
    { from: 2n * million, maxLeverage: 10 },
    { from: 10n * million, maxLeverage: 5 }
  ],
  commissionBps: { PERP: 5, SPOT: 10, BARRIER: 2 },
  slippageBps: 50,
  closeOutCancelMillis: 2_000,
  knockOutRebateBps: 500,
  strictTakeProfitPremiumBps: 4_000,
  strictTakeProfitOffered: true,
  barrierMaxLeverage: 1_000,
  // The venue's limit covers twelve calendar months, which may include a leap day.
  barrierExpiry: {
    maxExplicitMs: 8 * 3_600_000,
    strictMaxExplicitMs: 24 * 3_600_000,
    defaultLifeMonths: 12,
    venueMaxLifeHours: 366 * 24
  },
  kid: null,
  kidStrict: null,
  commissionRewardBps: 1_000,
  stakingDisclosure:
    "The writer of an offer owes notional and reward at maturity without any security: if the writer can not pay, the client may lose all of it."
}

/**
 * The schedule for a broker whose perpetuals count as contracts for difference (ESMA Decision (EU) 2018/796, statement of 24
 * February 2026); an alternative to the default. The figures are those of gold, the main indices and the major pairs. A
 * market outside these classes needs a lower figure.
 */
const esmaLeverage: MarketTerms["leverage"] = {
  retail: { crypto: 2, index: 20, metal: 20, energy: 10, fx: 30 },
  professional: 50
}

/** The selectable schedules, by their name in the setting. */
export const leverageProfiles = {
  default: defaultMarketTerms.leverage,
  esma: esmaLeverage
} as const satisfies Readonly<Record<string, MarketTerms["leverage"]>>
export type LeverageProfile = keyof typeof leverageProfiles

/** The risk tiers of a perpetual in the form that partners read, numbered from 1; `usdc` formats the notional. */
export const riskTiersOf = (
  { riskTiers, leverage }: MarketTerms,
  usdc: (micro: bigint) => string
): ReadonlyArray<RiskTier> =>
  riskTiers.map(({ from, maxLeverage }, at) => {
    const next = riskTiers[at + 1]
    return {
      tier: at + 1,
      notionalFrom: usdc(from),
      notionalTo: next === undefined ? null : usdc(next.from),
      maxLeverage: maxLeverage ?? leverage.professional
    }
  })
