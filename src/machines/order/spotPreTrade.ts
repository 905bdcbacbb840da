/**
 * The check of a spot order before anything is stored: its reservation, and whether the client can cover it (F13, F20, A1-12).
 */
import { type AccountRisk, type CashOf, marginLevelOf, type RiskState } from "../margin/accountRisk.ts"
import type { Mark } from "../market/Facts.ts"
import type { Grid } from "../market/Grid.ts"
import { type Exact, scaled } from "../shared/Exact.ts"
import { ceilToMinor, floorToMinor, formatAmount, MoneyDecimal } from "../shared/Money.ts"
import { freeMoneyRefusal, moneyOutSentences } from "../withdrawal/moneyOut.ts"
import { commissionOf } from "./positionRules.ts"
import { type PreTrade, type PreTradeOrder, preTradeSentences, refPriceOf, slippageOf, unbounded } from "./preTrade.ts"
import { reservationOf, type SpotOrder, type SpotReservation } from "./spotRules.ts"

export interface SpotPreTrade {
  readonly order: PreTradeOrder
  /** The asset of the market, and the currency in which it is paid. */
  readonly base: SpotOrder["base"]
  readonly quote: SpotOrder["quote"]
  readonly cashOf: CashOf
  readonly risk: AccountRisk
  readonly recorded: RiskState
  readonly mark: Mark | null
  readonly bestBid: Exact | null
  readonly bestAsk: Exact | null
  readonly commissionBps: number
  readonly slippageBps: number
  /** The largest distance of any limit from the mark, basis points. */
  readonly bandBps: number
  readonly tick: Grid
}

/**
 * The effect of a SPOT order on the account: its reservation and the refusal, if any. It needs no margin and reduces no
 * position.
 */
export const spotPreTrade = (input: SpotPreTrade): PreTrade => {
  const { order, quote, risk, mark, bandBps } = input
  // The venue checks a conditional order against its band when it triggers, not now.
  const band = mark === null || order.trigger !== null ? null : { mark, bandBps }
  const reservation = reservationOf(spotOrderOf(input), input.bestAsk, input.tick, band)
  const price = refPriceOf(order, order.side === "BUY" ? input.bestAsk : input.bestBid, input.mark)
  const value = price === null ? null : new MoneyDecimal(price).mul(order.qty)
  const estimatedCommission = value === null ? null : commissionOf(value, "1", input.commissionBps, quote)
  const slippageAllowance = value === null ? null : slippageOf(order, scaled(value), input.slippageBps, quote)
  return {
    refPrice: price === null ? null : price.toString(),
    currency: quote,
    reservationCurrency: order.side === "BUY" ? quote : input.base,
    reservation: reservation?.amount ?? null,
    reservationPrice: reservation?.price ?? null,
    orderValue: value === null ? null : floorToMinor(value, quote),
    marginRequired: 0n,
    leverage: null,
    freeMarginBefore: risk.freeMargin,
    freeMarginAfter: freeMarginAfter(input, reservation),
    marginLevelAfter:
      value === null || estimatedCommission === null ? null : marginLevelAfter(input, value, estimatedCommission),
    estLiquidationPrice: null,
    equityBefore: risk.equity,
    initialMarginBefore: risk.initialMargin,
    initialMarginAfter: risk.initialMargin,
    estimatedCommission,
    slippageAllowance,
    estimatedCosts:
      estimatedCommission === null || slippageAllowance === null ? null : estimatedCommission + slippageAllowance,
    openLoss: 0n,
    onlyReduces: false,
    // A sale at the market has no bound. It pays with an asset that is no margin and earns cash, so even a bad price leaves
    // no debt.
    bound: { ...unbounded, limit: reservation?.price ?? spotOrderOf(input).price },
    ...judged(input, reservation)
  }
}

const spotOrderOf = ({ order, base, quote, commissionBps }: SpotPreTrade): SpotOrder => ({
  side: order.side,
  base,
  quote,
  qty: order.qty,
  price: order.trigger === null ? order.price : order.trigger.limitPrice,
  commissionBps
})

/**
 * Free margin while the order works: a buy in USDC takes its reservation out of the margin. Null without a known
 * reservation.
 */
const freeMarginAfter = ({ risk }: SpotPreTrade, reservation: SpotReservation | null): bigint | null => {
  if (reservation === null) return null
  return reservation.currency === "USDC" ? risk.freeMargin - reservation.amount : risk.freeMargin
}

/** The margin level after a fill at the order's price. Only USDC that the fill pays or receives changes it. */
const marginLevelAfter = (
  { order, quote, risk }: SpotPreTrade,
  value: MoneyDecimal,
  commission: bigint
): string | null => {
  const paid = order.side === "BUY" ? -ceilToMinor(value, quote) : floorToMinor(value, quote)
  const equity = quote === "USDC" ? risk.closeOutEquity + paid - commission : risk.closeOutEquity
  return marginLevelOf(equity, risk.marginBase)
}

/**
 * The refusal by balance or margin. USDC is margin: a buy in USDC needs free margin, state NORMAL and fresh marks everywhere,
 * like a withdrawal. Any other payment currency, and the asset of a SELL, must only be available.
 */
const judged = (
  { cashOf, risk, recorded }: SpotPreTrade,
  reservation: SpotReservation | null
): Pick<PreTrade, "compared" | "sentence"> => {
  if (reservation === null) return { compared: null, sentence: preTradeSentences.unpriced }
  const { currency, amount } = reservation
  const cash = cashOf(currency)
  const isMargin = currency === "USDC"
  const limit = isMargin && risk.free < cash ? risk.free : cash
  return {
    compared: { figure: formatAmount(amount, currency), limit: formatAmount(limit, currency) },
    sentence: isMargin
      ? (freeMoneyRefusal({ currency, cash, risk, recorded }, amount) ??
        (risk.marksFresh ? null : moneyOutSentences.stale))
      : cash < amount
        ? moneyOutSentences.insufficient
        : null
  }
}
