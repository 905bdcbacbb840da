/** GET /market-info: the venue's grids and limits of a market with the broker's terms (A2-08..A2-10, A2-18). */
import { writtenOn } from "../../../machines/market/Grid.ts"
import type { MarketInfoWire } from "../../../machines/market/MarketWire.ts"
import { type MarketTerms, riskTiersOf } from "../../../machines/market/marketTerms.ts"
import { currencyFacts, isCurrency } from "../../../machines/shared/Currency.ts"
import { ceilToMinor, formatAmount } from "../../../machines/shared/Money.ts"
import { fundingHoursOf, type VenueMarket } from "../../../machines/venue/VenueMarket.ts"
import type { ListedMarket } from "./MarketMirror.ts"
import { fundingTimes } from "./TickerMirror.ts"

const usdc = (micro: bigint): string => formatAmount(micro, "USDC")

/** 100 percent in basis points. */
const whole = 10_000

export const marketInfoOf = ({ market, qty }: ListedMarket, terms: MarketTerms): MarketInfoWire => {
  const { symbol, family, displayName, assetClass } = market
  const fundingIntervalHours = fundingHoursOf(market)
  const perpetual = family === "PERP"
  return {
    symbol,
    family,
    displayName,
    assetClass,
    priceTick: market.priceTick,
    qtyStep: market.qtyStep,
    minQty: writtenOn(market.minQty, qty),
    maxQty: writtenOn(market.maxQty, qty),
    minNotional: usdc(ceilToMinor(market.minNotional, "USDC")),
    priceBandBps: market.bandBps,
    fundingIntervalHours,
    fundingSchedule: fundingTimes(fundingIntervalHours),
    riskTiers: perpetual ? riskTiersOf(terms, usdc) : [],
    leverageSchedule: perpetual
      ? { RETAIL: terms.leverage.retail[assetClass], PROFESSIONAL: terms.leverage.professional }
      : null,
    commission: {
      feeModel: "commission",
      commissionBps: terms.commissionBps[family],
      venueFees: { includedInCommission: true }
    },
    ...(family === "BARRIER" ? contractOf(terms) : {}),
    ...(family === "SPOT" ? spotOf(market) : {})
  }
}

const contractOf = (terms: MarketTerms) => ({
  knockOutRebateBps: terms.knockOutRebateBps,
  strictTakeProfitPremiumBps: terms.strictTakeProfitPremiumBps,
  strictTakeProfitOffered: terms.strictTakeProfitOffered,
  barrierPremiumBps: whole - terms.knockOutRebateBps,
  barrierMaxLeverage: terms.barrierMaxLeverage,
  barrierExpiry: terms.barrierExpiry,
  kid: terms.kid,
  kidStrict: terms.kidStrict
})

const spotOf = ({ base }: VenueMarket) =>
  isCurrency(base)
    ? {
        spot: {
          asset: base,
          displayDecimals: currencyFacts[base].displayDecimals,
          quoteCurrency: "USDC" as const,
          prefunded: true as const
        }
      }
    : {}
