/**
 * Market data on the wire, declared once for the contract and for the service. Prices and quantities are decimal strings with
 * the places of the market's grid (doc 2, Market data shapes; A2-01..A2-12, A2-113, F2).
 */
import { Schema } from "effect"
import { Currency } from "../shared/Currency.ts"
import { Id } from "../shared/Ids.ts"
import { assetClasses } from "../venue/VenueMarket.ts"
import { type KlineInterval, klineIntervals, tradeFlags } from "../venue/marketData.ts"

export const marketFamilies = ["PERP", "SPOT", "BARRIER", "STAKING"] as const

/** The names of the kline intervals, shortest first. */
export const intervals = Object.keys(klineIntervals) as ReadonlyArray<KlineInterval>
/** The numbers of order-book levels per side that a request may choose. */
export const depths = [1, 5, 25, 100] as const

const price = Schema.String.annotate({ description: "Decimal string on the market's price grid." })
const qty = Schema.String.annotate({ description: "Decimal string on the market's quantity grid." })
const rate = Schema.String.annotate({ description: "Fraction for an interval, decimal string, may be negative." })
const percent = Schema.String.annotate({ description: "Percent, decimal string, may be negative." })
const usdc = Schema.String.annotate({ description: "USDC, decimal string with six places." })
const millis = Schema.Int.annotate({ description: "Unix ms." })
const symbol = Schema.String
const ts = millis.annotate({ description: "The venue's time of it, Unix ms." })
const asOfSeq = Schema.Int.annotate({ description: "The venue's sequence that it is of." })
const family = Schema.Literals(marketFamilies)

export const InstrumentWire = Schema.Struct({
  symbol,
  family,
  displayName: Schema.String,
  assetClass: Schema.Literals(assetClasses)
}).annotate({ identifier: "Instrument" })
export type InstrumentWire = typeof InstrumentWire.Type

export const InstrumentsWire = Schema.Struct({ instruments: Schema.Array(InstrumentWire) })
export type InstrumentsWire = typeof InstrumentsWire.Type

/** One row of prices; a member that the family lacks is null. */
export const TickerRow = Schema.Struct({
  symbol,
  lastPrice: Schema.NullOr(price).annotate({ description: "BARRIER: the mark." }),
  markPrice: Schema.NullOr(price),
  indexPrice: Schema.NullOr(price),
  bestBid: Schema.NullOr(price),
  bestAsk: Schema.NullOr(price),
  volume24h: Schema.NullOr(qty).annotate({ description: "Base units; null while the market has no ticker." }),
  openInterest: Schema.NullOr(qty).annotate({ description: "Base units; on PERP alone." }),
  fundingRate: Schema.NullOr(rate),
  fundingRatePct: Schema.NullOr(percent),
  predictedFundingRate: Schema.NullOr(rate),
  nextFundingTs: Schema.Int.annotate({ description: "Unix ms; 0 but on PERP." })
}).annotate({ identifier: "TickerRow" })
export type TickerRow = typeof TickerRow.Type

/** The body of GET /ticker: the only response with sequence and time beside its data. */
export const TickerWire = Schema.Struct({
  code: Schema.Literal(0),
  msg: Schema.Literal("ok"),
  data: TickerRow,
  asOfSeq,
  ts
})
export type TickerWire = typeof TickerWire.Type

export const TickersWire = Schema.Struct({
  asOf: millis.annotate({ description: "When the rows were put together, Unix ms." }),
  tickers: Schema.Array(TickerRow)
})
export type TickersWire = typeof TickersWire.Type

export const KlineWire = Schema.Struct({
  t: millis.annotate({ description: "The bucket's open, Unix ms." }),
  open: price,
  high: price,
  low: price,
  close: price,
  volume: qty,
  trades: Schema.Int,
  partial: Schema.Boolean.annotate({ description: "True on the bucket that is still open." })
})
export type KlineWire = typeof KlineWire.Type

export const KlinesWire = Schema.Struct({
  symbol,
  interval: Schema.Literals(intervals),
  intervalMs: Schema.Int,
  klines: Schema.Array(KlineWire).annotate({ description: "Oldest first." }),
  hasMore: Schema.Boolean.annotate({ description: "Whether a bucket of the window was cut off." }),
  oldestAvailable: Schema.NullOr(millis).annotate({ description: "Open of the first bucket there is, Unix ms." }),
  asOf: millis
}).annotate({ identifier: "Klines" })
export type KlinesWire = typeof KlinesWire.Type

const levels = Schema.Array(Schema.Tuple([price, qty])).annotate({ description: "Best level first." })

export const OrderBookWire = Schema.Struct({
  symbol,
  bids: levels,
  asks: levels,
  checksum: Schema.Int.annotate({
    description:
      "CRC-32 (IEEE) as a signed 32-bit integer over bidPx:bidQty:askPx:askQty:... of the levels served, interleaved best first, the best 25 a side at most; the longer side goes on alone. 0 of an empty book."
  }),
  asOfSeq,
  ts
})
export type OrderBookWire = typeof OrderBookWire.Type

export const MarketTradesWire = Schema.Struct({
  symbol,
  trades: Schema.Array(
    Schema.Struct({
      tradeId: Id,
      price,
      qty,
      side: Schema.Literals(["BUY", "SELL"]).annotate({ description: "The taker's." }),
      flags: Schema.Array(Schema.Literals(tradeFlags)),
      ts: millis
    })
  ).annotate({ description: "Newest first." }),
  asOfSeq,
  ts
})
export type MarketTradesWire = typeof MarketTradesWire.Type

export const IndexPriceWire = Schema.Struct({ symbol, indexPrice: Schema.NullOr(price), ts })
export type IndexPriceWire = typeof IndexPriceWire.Type

const times = Schema.Array(Schema.String).annotate({ description: "Times of the day, HH:MM UTC; empty but on PERP." })

export const FundingWire = Schema.Struct({
  symbol,
  fundingRate: Schema.NullOr(rate).annotate({ description: "Applied at nextFundingTs; positive: long pays." }),
  fundingRatePct: Schema.NullOr(percent),
  predictedFundingRate: Schema.NullOr(rate).annotate({ description: "Running estimate of the one after." }),
  predictedFundingRatePct: Schema.NullOr(percent),
  fundingRateAnnualizedPct: Schema.NullOr(percent),
  fundingIntervalHours: Schema.Int,
  settleCcy: Schema.Literal("USDC"),
  nextFundingTs: Schema.Int.annotate({ description: "Unix ms; 0 but on PERP." }),
  funding: Schema.Struct({ schedule: times, intervalHours: Schema.Int })
})
export type FundingWire = typeof FundingWire.Type

export const RiskTier = Schema.Struct({
  tier: Schema.Int,
  notionalFrom: usdc,
  notionalTo: Schema.NullOr(usdc).annotate({ description: "Null: without end." }),
  maxLeverage: Schema.Int
})
export type RiskTier = typeof RiskTier.Type

export const KeyDocument = Schema.Struct({
  documentId: Schema.String,
  version: Schema.String,
  language: Schema.String,
  url: Schema.String
})
export type KeyDocument = typeof KeyDocument.Type

/** Members that only a knock-out market has; all are absent elsewhere. */
const contractBlock = {
  knockOutRebateBps: Schema.optionalKey(Schema.Int),
  strictTakeProfitPremiumBps: Schema.optionalKey(Schema.Int),
  strictTakeProfitOffered: Schema.optionalKey(Schema.Boolean),
  barrierPremiumBps: Schema.optionalKey(Schema.Int),
  barrierMaxLeverage: Schema.optionalKey(Schema.Int),
  barrierExpiry: Schema.optionalKey(
    Schema.Struct({
      maxExplicitMs: Schema.Int,
      strictMaxExplicitMs: Schema.Int.annotate({ description: "Of contracts with a strict take profit." }),
      defaultLifeMonths: Schema.Int,
      venueMaxLifeHours: Schema.Int
    })
  ),
  kid: Schema.optionalKey(Schema.NullOr(KeyDocument)),
  kidStrict: Schema.optionalKey(Schema.NullOr(KeyDocument))
}

export const MarketInfoWire = Schema.Struct({
  symbol,
  family,
  displayName: Schema.String,
  assetClass: Schema.Literals(assetClasses),
  priceTick: Schema.String,
  qtyStep: Schema.String,
  minQty: qty,
  maxQty: qty,
  minNotional: usdc,
  priceBandBps: Schema.Int.annotate({
    description:
      "How far from the mark a limit price may lie, basis points of the mark. A conditional order's limit is measured from its trigger, an attached limit from its level. BARRIER takes no orders."
  }),
  fundingIntervalHours: Schema.Int.annotate({ description: "0 but on PERP." }),
  fundingSchedule: times,
  riskTiers: Schema.Array(RiskTier).annotate({ description: "Empty but on PERP." }),
  leverageSchedule: Schema.NullOr(Schema.Struct({ RETAIL: Schema.Int, PROFESSIONAL: Schema.Int })).annotate({
    description: "Null but on PERP."
  }),
  commission: Schema.Struct({
    feeModel: Schema.Literal("commission"),
    commissionBps: Schema.Int,
    venueFees: Schema.Struct({ includedInCommission: Schema.Literal(true) })
  }),
  ...contractBlock,
  spot: Schema.optionalKey(
    Schema.Struct({
      asset: Currency,
      displayDecimals: Schema.Int,
      quoteCurrency: Schema.Literal("USDC"),
      prefunded: Schema.Literal(true)
    })
  )
})
export type MarketInfoWire = typeof MarketInfoWire.Type

export const TradingStatusWire = Schema.Struct({
  asOf: millis,
  halted: Schema.Boolean.annotate({ description: "Whether any halt is active." }),
  halts: Schema.Array(
    Schema.Struct({
      scope: Schema.String.annotate({ description: "ALL, a family, or a symbol." }),
      since: millis,
      until: Schema.NullOr(millis).annotate({ description: "Unix ms; null: open-ended." }),
      message: Schema.String
    })
  )
})
export type TradingStatusWire = typeof TradingStatusWire.Type

export const CurrenciesWire = Schema.Struct({
  cash: Schema.Literal("USDC"),
  currencies: Schema.Array(
    Schema.Struct({
      code: Currency,
      kind: Schema.Literals(["CASH", "ASSET"]),
      venueAsset: Schema.String,
      displayDecimals: Schema.Int,
      scale: Schema.Int
    })
  )
})
export type CurrenciesWire = typeof CurrenciesWire.Type

const asset = { asset: Schema.String, venueAsset: Schema.String }
const commissionRewardBps = Schema.Int.annotate({ description: "The service's share of a reward, basis points." })
const board = {
  disclosure: Schema.String.annotate({
    description: "To be shown to the client: the writer's obligation is unsecured."
  }),
  commissionRewardBps
}

export const StakingMarketsWire = Schema.Struct({
  markets: Schema.Array(
    Schema.Struct({
      symbol,
      name: Schema.String,
      ...asset,
      enabled: Schema.Boolean,
      minTenorDays: Schema.Int,
      maxTenorDays: Schema.Int,
      maxRateBps: Schema.Int,
      maxRatePct: percent,
      minQty: qty,
      qtyStep: Schema.String,
      maxQty: qty,
      takerFeeRate: Schema.String.annotate({ description: "Fraction of what is taken." }),
      displayDecimals: Schema.Int,
      commissionRewardBps,
      family: Schema.Literal("STAKING")
    })
  ),
  ...board
})
export type StakingMarketsWire = typeof StakingMarketsWire.Type

export const StakingOffersWire = Schema.Struct({
  offers: Schema.Array(
    Schema.Struct({
      offerId: Id,
      symbol,
      name: Schema.String,
      ...asset,
      rateBps: Schema.Int,
      ratePct: percent,
      tenorDays: Schema.Int,
      qty,
      remainingQty: qty,
      minQty: qty,
      expiryTs: millis,
      createdTs: millis,
      rewardPerUnit: Schema.String.annotate({ description: "Reward of one unit of the asset, eight places." }),
      commissionRewardBps
    })
  ),
  asOf: millis.annotate({ description: "When the board was read at the venue, Unix ms." }),
  stale: Schema.Boolean.annotate({ description: "True when the board was last read more than 10 seconds ago." }),
  ...board
})
export type StakingOffersWire = typeof StakingOffersWire.Type
