/**
 * Staking swaps at the simulated venue: offers of writers with what is left of them, takes under the caller's own reference
 * (executed once), payments of the writers, corrections of fees (F22, C1). Amounts are minor units of the asset.
 */

export interface StakingMarket {
  /** Such as BTC-SWAP. */
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
  /** Charged to the taker, in basis points of what is taken. */
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
  readonly payments: Array<Payment>
  /** The writer has said at maturity that it can't pay all. */
  short: boolean
  end: SwapEnd | null
}

/** What a taker asks for, under its own reference. */
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
  | "quantity not left"

export type Taken =
  | { readonly outcome: "EXECUTED"; readonly swap: Swap }
  | { readonly outcome: "REFUSED"; readonly reason: TakeRefusal }
  | { readonly outcome: "VOID" }

const dayMillis = 86_400_000

/** floor(notional x rateBps x tenorDays / 3,650,000). */
export const rewardOf = (notional: bigint, rateBps: number, tenorDays: number): bigint =>
  (notional * BigInt(rateBps) * BigInt(tenorDays)) / 3_650_000n

/** ceil(notional x takerFeeBps / 10,000). */
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
  private readonly takes = new Map<string, Taken>()
  private readonly emit: (swap: Swap, payment: Payment | null) => void
  private readonly nextTradeId: () => number
  private offerIds = 0
  private swapIds = 0
  private paymentIds = 0

  /** `emit` gets every swap that changed, with the payment that changed it. */
  constructor(
    markets: ReadonlyArray<StakingMarket>,
    nextTradeId: () => number,
    emit: (swap: Swap, payment: Payment | null) => void
  ) {
    for (const market of markets) this.markets.set(market.symbol, market)
    this.nextTradeId = nextTradeId
    this.emit = emit
  }

  /** Puts an offer on the board. */
  offer(offer: Omit<Offer, "id" | "remaining">): Offer {
    const put: Offer = { ...offer, id: ++this.offerIds, remaining: offer.qty }
    this.offers.set(put.id, put)
    return put
  }

  /** Lets time come: offers that have expired or are used up leave the board. Answers the swaps that mature now. */
  pass(now: number): ReadonlyArray<Swap> {
    for (const offer of this.offers.values()) {
      if (offer.expiryAt <= now || offer.remaining === 0n) this.offers.delete(offer.id)
    }
    return [...this.swaps.values()].filter(({ end, short, maturityAt }) => end === null && !short && maturityAt <= now)
  }

  /** Takes a part of an offer under the caller's reference, once. */
  take(asked: Take): Taken {
    const known = this.takes.get(asked.ref)
    if (known !== undefined) return known
    const answer = this.judge(asked)
    this.takes.set(asked.ref, answer)
    if (answer.outcome === "EXECUTED") this.emit(answer.swap, null)
    return answer
  }

  /** What became of a reference; null: it never came. */
  takeOf(ref: string): Taken | null {
    return this.takes.get(ref) ?? null
  }

  /** Makes sure that a reference which has not come is never executed; answers what became of it. */
  voidTake(ref: string): Taken {
    const known = this.takes.get(ref)
    if (known !== undefined) return known
    const nothing: Taken = { outcome: "VOID" }
    this.takes.set(ref, nothing)
    return nothing
  }

  /** The writer pays an amount; the swap ends when all has been paid. */
  pay(swap: Swap, amount: bigint, at: number): void {
    const payment: Payment = { id: ++this.paymentIds, amount, at }
    swap.payments.push(payment)
    if (owedOf(swap) === 0n && swap.end === null) swap.end = "PAID"
    this.emit(swap, payment)
  }

  /** The writer says at or after maturity that the rest won't come now. */
  fallShort(swap: Swap): void {
    swap.short = true
    this.emit(swap, null)
  }

  correctFee(swap: Swap, fee: bigint): void {
    swap.fee = fee
    this.emit(swap, null)
  }

  /** Ends a market: its offers go, what its swaps are owed is paid as far as `share` basis points of it. */
  delist(symbol: string, share: number, at: number): void {
    const market = this.markets.get(symbol)
    if (market === undefined) return
    market.delisted = true
    for (const offer of this.offers.values()) if (offer.symbol === symbol) this.offers.delete(offer.id)
    for (const swap of this.swaps.values()) {
      if (swap.symbol !== symbol || swap.end !== null) continue
      const amount = (owedOf(swap) * BigInt(share)) / 10_000n
      swap.end = "FINAL_SETTLEMENT"
      this.pay(swap, amount, at)
    }
  }

  private judge({ ref, accountId, offerId, qty, now }: Take): Taken {
    const offer = this.offers.get(offerId)
    const market = offer === undefined ? undefined : this.markets.get(offer.symbol)
    const refused = (reason: TakeRefusal): Taken => ({ outcome: "REFUSED", reason })
    if (offer === undefined || market === undefined) return refused("unknown offer")
    if (offer.expiryAt <= now) return refused("offer expired")
    if (!market.enabled || market.delisted) return refused("market disabled")
    if (qty <= 0n || qty % market.qtyStep !== 0n) return refused("quantity off the grid")
    if (qty > offer.remaining || qty < offer.minQty) return refused("quantity not left")
    offer.remaining -= qty
    const swap: Swap = {
      id: ++this.swapIds,
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
      payments: [],
      short: false,
      end: null
    }
    this.swaps.set(swap.id, swap)
    return { outcome: "EXECUTED", swap }
  }
}
