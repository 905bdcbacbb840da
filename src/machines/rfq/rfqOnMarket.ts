/**
 * The checks of a request for quotes that need its market: grids, maximum, expiry limits, strict take profit. The result is
 * the final form of the request, which is checked, stored and sent (A2-110, A2-13, A2-16, BAR-017).
 */
import { premiumBpsOf } from "../contract/contractFigures.ts"
import { priceOn, quantityOn } from "../market/marketGrid.ts"
import type { MarketTerms } from "../market/marketTerms.ts"
import type { AddError, FieldErrors } from "../shared/Fields.ts"
import { checkFields } from "../shared/Refusal.ts"
import type { BodyFaults } from "../shared/RequestBody.ts"
import type { VenueMarket } from "../venue/VenueMarket.ts"
import type { RfqBody } from "./RfqBody.ts"

/** A request on its market. Prices and the quantity have the form of the market's grids. */
export interface RequestedRfq {
  readonly symbol: string
  readonly side: "BUY" | "SELL"
  readonly qty: string
  readonly barrierLevel: string
  readonly takeProfit: string | null
  readonly strict: boolean
  /** The expiry of the contract, Unix ms. */
  readonly expiryTs: number
  /** True when no expiry was sent: the contract is open-end. */
  readonly expiryDefaulted: boolean
  /** Micro-USDC; null without a budget. */
  readonly premiumBudget: bigint | null
  readonly premiumBps: number
  readonly commissionBps: number
  /** The end of the window for quotes, Unix ms (`expiresAt` on the wire). */
  readonly windowEndsAt: number
  readonly autoAccept: boolean
  readonly priceDecimals: number
  readonly qtyDecimals: number
}

export type RfqOnMarket = { readonly ok: true; readonly rfq: RequestedRfq } | BodyFaults

export interface MarketNow {
  readonly market: VenueMarket
  readonly terms: MarketTerms
  /** The moment of receipt, Unix ms. */
  readonly now: number
}

/** Checks a request against its market; refuses like `decodeRfq`, with the same paths. */
export const rfqOnMarket = (body: RfqBody, { market, terms, now }: MarketNow): RfqOnMarket => {
  const errors: FieldErrors = {}
  const add: AddError = (path, sentence) => void (errors[path] ??= sentence)
  const qty = quantityOn(body.qty, market, add)
  const level = priceOn(body.level, "barrier.level", "The barrier level", market, add)
  const takeProfit =
    body.takeProfit === null ? null : priceOn(body.takeProfit, "barrier.takeProfit", "The take profit", market, add)
  checkExpiry(body, terms, now, add)
  if (body.strict && !terms.strictTakeProfitOffered) {
    add("barrier.strictTakeProfit", "The market does not offer a strict take profit.")
  }
  const [sentence] = Object.values(errors)
  if (sentence !== undefined || qty === undefined || level === undefined || takeProfit === undefined) {
    return { ok: false, sentence: sentence ?? checkFields, errors }
  }
  const expiryTs = body.expiryTs ?? openEndExpiry(now, terms.barrierExpiry.defaultLifeMonths)
  return {
    ok: true,
    rfq: {
      symbol: market.symbol,
      side: body.side,
      qty: qty.text,
      barrierLevel: level.text,
      takeProfit: takeProfit === null ? null : takeProfit.text,
      strict: body.strict,
      expiryTs,
      expiryDefaulted: body.expiryTs === null,
      premiumBudget: body.premium,
      premiumBps: premiumBpsOf(body.strict, terms),
      commissionBps: terms.commissionBps.BARRIER,
      windowEndsAt: Math.min(now + body.expiresInMs, expiryTs),
      autoAccept: body.autoAccept,
      priceDecimals: level.decimals,
      qtyDecimals: qty.decimals
    }
  }
}

/** The same day and time `months` calendar months later, UTC. In a month without this day, the month's last day. */
export const openEndExpiry = (now: number, months: number): number => {
  const from = new Date(now)
  const to = new Date(now)
  to.setUTCMonth(from.getUTCMonth() + months)
  if (to.getUTCDate() !== from.getUTCDate()) to.setUTCDate(0)
  return to.getTime()
}

const checkExpiry = (
  { expiryTs, strict }: RfqBody,
  { barrierExpiry }: MarketTerms,
  now: number,
  add: AddError
): void => {
  const longest = strict ? barrierExpiry.strictMaxExplicitMs : barrierExpiry.maxExplicitMs
  if (expiryTs === null || expiryTs - now <= longest) return
  add("barrier.expiryTs", `The expiry must be at most ${longest} milliseconds ahead.`)
}
