/**
 * Staking swaps at the simulated venue: writers' offers with their remaining quantity, takes, payments, corrections of fees.
 * Amounts are minor units of the asset (F22, C1).
 */

import { Line } from "./Line.ts"

export interface StakingMarket {
  /** The market's symbol, such as BTC-SWAP. */
  readonly symbol: string
  readonly name: string
  readonly asset: string
  readonly scale: number
  readonly minTenorDays: number
  readonly maxTenorDays: number
  readonly maxRateBps: number
  readonly minQty: bigint
  readonly qtyStep: bigint
  readonly maxQty: bigint
  /** Charged to the taker, in basis points of the taken amount. */
  readonly takerFeeBps: number
  enabled: boolean
  delisted: boolean
}

export interface Offer {
  readonly id: number
  readonly symbol: string
  readonly rateBps: number
  readonly tenorDays: number
  readonly qty: bigint
  readonly minQty: bigint
  remaining: bigint
  readonly createdAt: number
  readonly expiryAt: number
}

export type SwapEnd = "PAID" | "FINAL_SETTLEMENT"

export interface Payment {
  readonly id: number
  readonly amount: bigint
  readonly at: number
}

/** A correction to another taker fee. */
export interface FeeCorrection {
  readonly id: number
  readonly fee: bigint
  readonly at: number
}

export interface Swap {
  readonly id: number
  readonly tradeId: number
  readonly ref: string
  readonly accountId: number
  readonly symbol: string
  readonly offerId: number
  readonly notional: bigint
  readonly rateBps: number
  readonly tenorDays: number
  readonly reward: bigint
  readonly openedAt: number
  readonly maturityAt: number
  fee: bigint
  readonly corrections: Array<FeeCorrection>
  readonly payments: Array<Payment>
  /** True once the writer has reported at maturity that it can't pay all. */
  short: boolean
  end: SwapEnd | null
}

/** A taker's request, under its own reference. */
interface Take {
  readonly ref: string
  readonly accountId: number
  readonly offerId: number
  readonly qty: bigint
  readonly now: number
}

export type TakeRefusal =
  | "unknown offer"
  | "offer expired"
  | "market disabled"
  | "quantity off the grid"
  | "quantity too large"
  | "quantity not left"

const dayMillis = 86_400_000

/** The reward in minor units: floor(notional x rateBps x tenorDays / 3,650,000). */
export const rewardOf = (notional: bigint, rateBps: number, tenorDays: number): bigint =>
  (notional * BigInt(rateBps) * BigInt(tenorDays)) / 3_650_000n

/** The taker fee in minor units: ceil(notional x takerFeeBps / 10,000). */
export const feeOf = (notional: bigint, takerFeeBps: number): bigint =>
  (notional * BigInt(takerFeeBps) + 9_999n) / 10_000n

export const paidOf = ({ payments }: Swap): bigint => payments.reduce((sum, { amount }) => sum + amount, 0n)

export const owedOf = (swap: Swap): bigint => {
  const owed = swap.notional + swap.reward - paidOf(swap)
  return owed > 0n ? owed : 0n
}

export class Staking {
  readonly markets = new Map<string, StakingMarket>()
  readonly offers = new Map<number, Offer>()
  readonly swaps = new Map<number, Swap>()
  /** Open swaps in order of the takes. */
  readonly open = new Set<Swap>()
  /** Ended swaps, in order of their end; over the limit the oldest are dropped. */
  private readonly ended = new Line<Swap>()
  private readonly kept: number
  private readonly emit: (swap: Swap, payment: Payment | null) => void
  private readonly nextTradeId: () => number
  /** The last id that was assigned to each kind. */
  readonly ids = { offer: 0, swap: 0, payment: 0, correction: 0 }

  /** `emit` gets every changed swap, with the payment that changed it. */
  constructor(
    markets: ReadonlyArray<StakingMarket>,
    nextTradeId: () => number,
    emit: (swap: Swap, payment: Payment | null) => void,
    kept = Number.POSITIVE_INFINITY
  ) {
    this.kept = kept
    for (const market of markets) this.markets.set(market.symbol, market)
    this.nextTradeId = nextTradeId
    this.emit = emit
  }

  /** Puts an offer on the board. */
  offer(offer: Omit<Offer, "id" | "remaining">): Offer {
    const put: Offer = { ...offer, id: ++this.ids.offer, remaining: offer.qty }
    this.offers.set(put.id, put)
    return put
  }

  /** Takes over a swap of a stored state. */
  adopt(swap: Swap): void {
    this.swaps.set(swap.id, swap)
    if (swap.end === null) this.open.add(swap)
    else this.ended.push(swap)
  }

  /** Removes an offer from the board; null if it is gone. */
  remove(offerId: number): Offer | null {
    const offer = this.offers.get(offerId)
    if (offer === undefined) return null
    this.offers.delete(offerId)
    return offer
  }

  /** Takes a part of an offer. Returns the new swap, or the reason to refuse the take. */
  take(request: Take): Swap | TakeRefusal {
    const swap = this.judge(request)
    if (typeof swap !== "string") this.emit(swap, null)
    return swap
  }

  /** The writer pays an amount; the swap ends when all is paid. */
  pay(swap: Swap, amount: bigint, at: number): void {
    const payment: Payment = { id: ++this.ids.payment, amount, at }
    swap.payments.push(payment)
    if (owedOf(swap) === 0n) this.end(swap, "PAID")
    this.emit(swap, payment)
  }

  /** The writer reports at or after maturity that it does not pay the remaining amount now. */
  fallShort(swap: Swap): void {
    swap.short = true
    this.emit(swap, null)
  }

  correctFee(swap: Swap, fee: bigint, at: number): void {
    swap.fee = fee
    swap.corrections.push({ id: ++this.ids.correction, fee, at })
    this.emit(swap, null)
  }

  /** Ends a market: removes its offers, and pays its swaps `share` basis points of their claims. */
  delist(symbol: string, share: number, at: number): void {
    const market = this.markets.get(symbol)
    if (market === undefined) return
    market.delisted = true
    for (const offer of this.offers.values()) if (offer.symbol === symbol) this.offers.delete(offer.id)
    for (const swap of this.open) {
      if (swap.symbol !== symbol) continue
      const amount = (owedOf(swap) * BigInt(share)) / 10_000n
      this.end(swap, "FINAL_SETTLEMENT")
      this.pay(swap, amount, at)
    }
  }

  private end(swap: Swap, end: SwapEnd): void {
    if (swap.end !== null) return
    swap.end = end
    this.open.delete(swap)
    this.ended.push(swap)
    const oldest = this.ended.size > this.kept ? this.ended.shift() : undefined
    if (oldest !== undefined) this.swaps.delete(oldest.id)
  }

  /** All swaps: the open ones, then the ended ones, each in order. */
  all(): ReadonlyArray<Swap> {
    return [...this.open, ...this.ended.all()]
  }

  private judge({ ref, accountId, offerId, qty, now }: Take): Swap | TakeRefusal {
    const offer = this.offers.get(offerId)
    const market = offer === undefined ? undefined : this.markets.get(offer.symbol)
    if (offer === undefined || market === undefined) return "unknown offer"
    if (offer.expiryAt <= now) return "offer expired"
    if (!market.enabled || market.delisted) return "market disabled"
    if (qty <= 0n || qty % market.qtyStep !== 0n) return "quantity off the grid"
    if (qty > market.maxQty) return "quantity too large"
    if (qty > offer.remaining || qty < offer.minQty) return "quantity not left"
    offer.remaining -= qty
    const swap: Swap = {
      id: ++this.ids.swap,
      tradeId: this.nextTradeId(),
      ref,
      accountId,
      symbol: offer.symbol,
      offerId,
      notional: qty,
      rateBps: offer.rateBps,
      tenorDays: offer.tenorDays,
      reward: rewardOf(qty, offer.rateBps, offer.tenorDays),
      openedAt: now,
      maturityAt: now + offer.tenorDays * dayMillis,
      fee: feeOf(qty, market.takerFeeBps),
      corrections: [],
      payments: [],
      short: false,
      end: null
    }
    this.swaps.set(swap.id, swap)
    this.open.add(swap)
    return swap
  }
}
