/**
 * What the broker sets on markets: leverage by asset class, risk tiers, commission, and the terms of knock-out contracts and
 * staking (A2-08..A2-10, A2-18, F22). Defaults of the settings; the venue's own grids and limits come with its listing.
 */
import type { assetClasses } from "../venue/VenueMarket.ts"
import type { KeyDocument, RiskTier } from "./MarketWire.ts"

export type AssetClass = (typeof assetClasses)[number]

export interface MarketTerms {
  /** Highest leverage on perpetuals (doc 2, Margin picture). */
  readonly leverage: { readonly retail: Readonly<Record<AssetClass, number>>; readonly professional: number }
  /** Of perpetuals: from which notional in micro-USDC on at most which leverage; null: the market's maximum (A2-09). */
  readonly riskTiers: ReadonlyArray<{ readonly from: bigint; readonly maxLeverage: number | null }>
  readonly commissionBps: { readonly PERP: number; readonly SPOT: number; readonly BARRIER: number }
  /** What an order that trades at the market is expected to lose to it at worst, basis points of its value (F13). */
  readonly slippageBps: number
  /** How long a close-out waits for the orders and requests that it cancels before it closes, ms (F9). */
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
  /** Key information documents of knock-out contracts; null: none is published. */
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
  // A leap year has room for twelve calendar months.
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
 * February 2026), to be set in place of the default one (A2-10). The figures are those of gold, of the main indices and of the
 * major pairs; a market of a class that is none of these needs a lower one.
 */
const esmaLeverage: MarketTerms["leverage"] = {
  retail: { crypto: 2, index: 20, metal: 20, energy: 10, fx: 30 },
  professional: 50
}

/** The schedules to choose from, by the name that the operator gives. */
export const leverageProfiles = {
  default: defaultMarketTerms.leverage,
  esma: esmaLeverage
} as const satisfies Readonly<Record<string, MarketTerms["leverage"]>>
export type LeverageProfile = keyof typeof leverageProfiles

/** Risk tiers of a perpetual as they are shown (A2-09). */
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
