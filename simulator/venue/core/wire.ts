/** Converts the venue's objects to the wire: decimal strings for ticks, lots and minor units (src/machines/venue). */
import type { VenueSwap } from "../../../src/machines/venue/swapAtVenue.ts"
import type {
  VenueContract,
  VenueFill,
  VenueOrder,
  VenueQuote,
  VenueRfq
} from "../../../src/machines/venue/venueObjects.ts"
import type { VenueMarket, VenueOffer, VenueStakingMarket } from "../../../src/machines/venue/VenueMarket.ts"
import type { StoredContract } from "./Contracts.ts"
import type { Fill, Halt, Listing } from "./Exchange.ts"
import { fundingHours } from "./Funding.ts"
import type { Market } from "./Market.ts"
import type { Order } from "./Order.ts"
import type { Quote, Rfq } from "./Rfqs.ts"
import type { Offer, StakingMarket, Swap } from "./Staking.ts"
import { moneyDecimals, textOf } from "./texts.ts"

/** A price or quantity as a decimal text; null stays null. */
const optional = (units: number | null, decimals: number): string | null =>
  units === null ? null : textOf(units, decimals)

export const wireOrder = (market: Market, account: string, order: Order): VenueOrder => {
  const { tickDecimals, lotDecimals } = market
  const { id, ref, symbol, side, limit, quantity, left, tif, reduceOnly, trigger, group, state, reason } = order
  return {
    id,
    ref,
    account,
    symbol,
    side,
    price: optional(limit, tickDecimals),
    qty: textOf(quantity, lotDecimals),
    filledQty: textOf(quantity - left, lotDecimals),
    tif,
    reduceOnly,
    trigger: trigger === null ? null : { ...trigger, price: textOf(trigger.price, tickDecimals) },
    group,
    state,
    reason,
    triggeredAt: order.triggeredAt
  }
}

export const wireFill = (market: Market, account: string, ref: string | null, fill: Fill, at: number): VenueFill => {
  const { tradeId, orderId, symbol, side, price, quantity, liquidity, reason } = fill
  return {
    tradeId,
    orderId,
    ref,
    account,
    symbol,
    side,
    price: textOf(price, market.tickDecimals),
    qty: textOf(quantity, market.lotDecimals),
    liquidity,
    reason,
    at
  }
}

export const wireQuote = (market: Market, quote: Quote): VenueQuote => {
  const { id, dealer, price, quantity, at, validUntil, state } = quote
  return {
    id,
    dealer,
    price: textOf(price, market.tickDecimals),
    qty: textOf(quantity, market.lotDecimals),
    at,
    validUntil,
    state
  }
}

export const wireRfq = (market: Market, account: string, rfq: Rfq): VenueRfq => {
  const { id, ref, symbol, side, quantity, barrier, takeProfit, expiryAt, strict, windowEndsAt, closes } = rfq
  return {
    id,
    ref,
    account,
    symbol,
    side,
    qty: textOf(quantity, market.lotDecimals),
    barrier: textOf(barrier, market.tickDecimals),
    takeProfit: optional(takeProfit, market.tickDecimals),
    expiryAt,
    strict,
    windowEndsAt,
    closes: closes?.id ?? null,
    state: rfq.state,
    reason: rfq.reason,
    quotes: rfq.quotes.map((quote) => wireQuote(market, quote))
  }
}

export const wireContract = (market: Market, account: string, contract: StoredContract): VenueContract => {
  const { tickDecimals, lotDecimals } = market
  const { id, ref, symbol, side, quantity, entry, barrier, takeProfit, expiryAt, strict, premiumBps } = contract
  const { tradeId, openedAt, state, settlePrice, endedAt } = contract
  return {
    id,
    ref,
    account,
    symbol,
    side,
    qty: textOf(quantity, lotDecimals),
    entry: textOf(entry, tickDecimals),
    barrier: textOf(barrier, tickDecimals),
    takeProfit: optional(takeProfit, tickDecimals),
    expiryAt,
    strict,
    premiumBps,
    tradeId,
    openedAt,
    state,
    settlePrice: optional(settlePrice, tickDecimals),
    endedAt
  }
}

export const wireSwap = ({ scale }: StakingMarket, account: string, swap: Swap): VenueSwap => {
  const { id, ref, symbol, offerId, tradeId, notional, rateBps, tenorDays, reward, fee, openedAt, maturityAt } = swap
  return {
    id,
    ref,
    account,
    symbol,
    offerId,
    tradeId,
    notional: textOf(notional, scale),
    rateBps,
    tenorDays,
    reward: textOf(reward, scale),
    fee: textOf(fee, scale),
    openedAt,
    maturityAt,
    corrections: swap.corrections.map((correction) => ({ ...correction, fee: textOf(correction.fee, scale) })),
    payments: swap.payments.map((payment) => ({ ...payment, amount: textOf(payment.amount, scale) })),
    short: swap.short,
    end: swap.end
  }
}

export const wireOffer = ({ scale }: StakingMarket, offer: Offer): VenueOffer => {
  const { id, symbol, rateBps, tenorDays, createdAt, expiryAt } = offer
  return {
    id,
    symbol,
    rateBps,
    tenorDays,
    qty: textOf(offer.qty, scale),
    remainingQty: textOf(offer.remaining, scale),
    minQty: textOf(offer.minQty, scale),
    createdAt,
    expiryAt
  }
}

export const wireMarket = ({ market, halt, delisted }: Listing): VenueMarket => {
  const { symbol, family, base, displayName, assetClass, tickDecimals, lotDecimals, bandBps } = market
  return {
    symbol,
    family,
    base,
    displayName,
    assetClass,
    priceTick: stepOf(tickDecimals),
    qtyStep: stepOf(lotDecimals),
    minQty: textOf(market.minQty, lotDecimals),
    maxQty: textOf(market.maxQty, lotDecimals),
    minNotional: textOf(market.minNotional, moneyDecimals),
    bandBps,
    fundingIntervalHours: family === "PERP" ? fundingHours : 0,
    halt: wireHalt(halt),
    delisted
  }
}

const stepOf = (decimals: number): string => textOf(1, decimals)

const wireHalt = (halt: Halt | null): VenueMarket["halt"] =>
  halt === null ? null : { since: halt.since, message: "Trading is halted by the venue." }

export const wireStakingMarket = (market: StakingMarket): VenueStakingMarket => {
  const { symbol, name, asset, scale, enabled, delisted, minTenorDays, maxTenorDays, maxRateBps, takerFeeBps } = market
  return {
    symbol,
    name,
    asset,
    enabled,
    delisted,
    minTenorDays,
    maxTenorDays,
    maxRateBps,
    minQty: textOf(market.minQty, scale),
    qtyStep: textOf(market.qtyStep, scale),
    maxQty: textOf(market.maxQty, scale),
    takerFeeBps
  }
}
