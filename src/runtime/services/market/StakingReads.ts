/** Staking markets and the board of offers as partners read them (A2-56, F22). */
import { Context, Effect, Layer } from "effect"
import { gridOf, writtenOn } from "../../../machines/market/Grid.ts"
import type { MarketTerms } from "../../../machines/market/marketTerms.ts"
import type { StakingMarketsWire, StakingOffersWire } from "../../../machines/market/MarketWire.ts"
import { currencyFacts, isCurrency } from "../../../machines/shared/Currency.ts"
import { decimalText, MoneyDecimal } from "../../../machines/shared/Money.ts"
import { accept, notOffered, refuse, type Verdict } from "../../../machines/shared/Refusal.ts"
import type { VenueOffer, VenueStakingMarket } from "../../../machines/venue/VenueMarket.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { Settings } from "../../Settings.ts"
import { MarketFeed } from "./MarketFeed.ts"
import { unreached } from "./MarketReads.ts"

export class StakingReads extends Context.Service<
  StakingReads,
  {
    markets(): Verdict<StakingMarketsWire>
    offers(query: { readonly asset?: string; readonly symbol?: string }): Verdict<StakingOffersWire>
  }
>()("brokerage/runtime/services/market/StakingReads") {
  static readonly layer: Layer.Layer<StakingReads, never, MarketFeed | Settings | BusinessClock> = Layer.effect(
    StakingReads,
    Effect.gen(function* () {
      const feed = yield* MarketFeed
      const { marketTerms: terms } = yield* Settings
      const clock = yield* BusinessClock
      const board = {
        disclosure: terms.stakingDisclosure,
        commissionRewardBps: terms.commissionRewardBps
      }
      const listed = () => (feed.mirror.listing?.stakingMarkets ?? []).filter(({ delisted }) => !delisted)
      return StakingReads.of({
        markets: () => {
          const refusal = unreached(feed)
          if (refusal !== null) return refuse(refusal)
          return accept({ markets: listed().map((market) => marketOf(market, terms)), ...board })
        },
        offers: ({ asset, symbol }) => {
          const refusal = unreached(feed)
          if (refusal !== null) return refuse(refusal)
          const markets = listed()
          if (symbol !== undefined && !markets.some((market) => market.symbol === symbol)) return refuse(notOffered)
          const read = feed.offers()
          if (read === null)
            return refuse({ _tag: "VenueAway", reason: "VENUE_UNREACHABLE", sentence: "The venue can not be reached." })
          const now = Math.max(read.at, clock.now())
          const wanted = markets.filter(
            (market) => (symbol ?? market.symbol) === market.symbol && (asset ?? market.asset) === market.asset
          )
          const offers = wanted.flatMap((market) =>
            read.offers
              .filter((offer) => offer.symbol === market.symbol && offer.expiryAt > now)
              .sort(byTenor)
              .map((offer) => offerOf(offer, market, terms))
          )
          return accept({ offers, asOf: read.at, stale: feed.offersStale(), ...board })
        }
      })
    })
  )
}

/** The order of the board: the shortest tenor first, then the better rate. */
const byTenor = (a: VenueOffer, b: VenueOffer): number =>
  a.tenorDays - b.tenorDays || b.rateBps - a.rateBps || a.id - b.id

const whole = 10_000

const percentOf = (bps: number): string => decimalText(new MoneyDecimal(bps).div(100), 2)

const sizes = (step: string) => {
  const grid = gridOf(step)
  return (text: string): string => writtenOn(text, grid)
}

const marketOf = (market: VenueStakingMarket, terms: MarketTerms): StakingMarketsWire["markets"][number] => {
  const size = sizes(market.qtyStep)
  const { symbol, name, asset, enabled, minTenorDays, maxTenorDays, maxRateBps, qtyStep } = market
  return {
    symbol,
    name,
    asset,
    venueAsset: asset,
    enabled,
    minTenorDays,
    maxTenorDays,
    maxRateBps,
    maxRatePct: percentOf(maxRateBps),
    minQty: size(market.minQty),
    qtyStep,
    maxQty: size(market.maxQty),
    takerFeeRate: new MoneyDecimal(market.takerFeeBps).div(whole).toString(),
    displayDecimals: isCurrency(asset) ? currencyFacts[asset].displayDecimals : 8,
    commissionRewardBps: terms.commissionRewardBps,
    family: "STAKING"
  }
}

/** Divisor of rate x days: the rate is in basis points per year of 365 days (F22). */
const rewardDivisor = 3_650_000

const offerOf = (
  offer: VenueOffer,
  { name, asset, qtyStep }: VenueStakingMarket,
  terms: MarketTerms
): StakingOffersWire["offers"][number] => {
  const size = sizes(qtyStep)
  const { rateBps, tenorDays } = offer
  return {
    offerId: offer.id,
    symbol: offer.symbol,
    name,
    asset,
    venueAsset: asset,
    rateBps,
    ratePct: percentOf(rateBps),
    tenorDays,
    qty: size(offer.qty),
    remainingQty: size(offer.remainingQty),
    minQty: size(offer.minQty),
    expiryTs: offer.expiryAt,
    createdTs: offer.createdAt,
    rewardPerUnit: decimalText(
      new MoneyDecimal(rateBps).mul(tenorDays).div(rewardDivisor).toDecimalPlaces(8, MoneyDecimal.ROUND_FLOOR),
      8
    ),
    commissionRewardBps: terms.commissionRewardBps
  }
}
