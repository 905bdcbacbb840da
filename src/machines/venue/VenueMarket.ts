/**
 * The venue's listings: markets with their grids and limits, staking markets, and the board of staking offers (doc 2, GET
 * /funding; A2-115).
 */
import { Schema } from "effect"
import { DecimalText, Millis, Symbol, VenueId, VenueText } from "./values.ts"

export const assetClasses = ["crypto", "index", "metal", "energy", "fx"] as const
export const venueFamilies = ["PERP", "SPOT", "BARRIER"] as const

/** A listed market whose price the venue publishes. Staking markets have no price and are listed separately. */
export const VenueMarket = Schema.Struct({
  symbol: Symbol,
  family: Schema.Literals(venueFamilies),
  base: Schema.String,
  displayName: VenueText,
  assetClass: Schema.Literals(assetClasses),
  priceTick: DecimalText,
  qtyStep: DecimalText,
  minQty: DecimalText,
  maxQty: DecimalText,
  /** The least value of an order, USDC. */
  minNotional: DecimalText,
  /** The largest distance of a limit price from the mark, basis points. */
  bandBps: Schema.Int,
  /** 0 for every family except perpetuals. */
  fundingIntervalHours: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 24 })),
  /** The halt that the venue has put on the market; null while it trades. */
  halt: Schema.NullOr(Schema.Struct({ since: Millis, message: VenueText })),
  delisted: Schema.Boolean
})
export type VenueMarket = typeof VenueMarket.Type

/** Hours between two funding payments; 0 on every market except a perpetual, even if the venue reports another value. */
export const fundingHoursOf = ({ family, fundingIntervalHours }: VenueMarket): number =>
  family === "PERP" ? fundingIntervalHours : 0

export const VenueStakingMarket = Schema.Struct({
  symbol: Symbol,
  name: VenueText,
  asset: Schema.String,
  enabled: Schema.Boolean,
  delisted: Schema.Boolean,
  minTenorDays: Schema.Int,
  maxTenorDays: Schema.Int,
  maxRateBps: Schema.Int,
  minQty: DecimalText,
  qtyStep: DecimalText,
  maxQty: DecimalText,
  takerFeeBps: Schema.Int
})
export type VenueStakingMarket = typeof VenueStakingMarket.Type

export const VenueOffer = Schema.Struct({
  id: VenueId,
  symbol: Symbol,
  rateBps: Schema.Int,
  tenorDays: Schema.Int,
  qty: DecimalText,
  remainingQty: DecimalText,
  minQty: DecimalText,
  createdAt: Millis,
  expiryAt: Millis
})
export type VenueOffer = typeof VenueOffer.Type

/** All listed markets, delisted ones included; `version` grows with each change. */
export const VenueListing = Schema.Struct({
  version: Schema.Int,
  at: Millis,
  markets: Schema.Array(VenueMarket),
  stakingMarkets: Schema.Array(VenueStakingMarket)
})
export type VenueListing = typeof VenueListing.Type

const each = Schema.Array(Schema.Unknown)
/**
 * A listing and a board of offers as received. Markets and offers are parsed one by one, so that an unreadable one does not
 * hide the others.
 */
export const ListingAnswer = Schema.Struct({ ...VenueListing.fields, markets: each, stakingMarkets: each })
export const OffersAnswer = Schema.Struct({ offers: each, at: Millis })
