/** The partners' view of requests for quotes (doc 2, RFQ; A2-22, A2-23, A2-112, D4). */
import { closePnl, figuresAt } from "../../../../machines/contract/contractFigures.ts"
import { requestRef } from "../../../../machines/rfq/Rfq.ts"
import type { AcceptWire, QuoteState, QuoteWire, RfqState, RfqWire } from "../../../../machines/rfq/RfqWire.ts"
import { decimalText, formatAmount, MoneyDecimal } from "../../../../machines/shared/Money.ts"
import type { VenueQuote } from "../../../../machines/venue/venueObjects.ts"
import type { ContractRow } from "../../../tables/contract.ts"
import type { RfqRow } from "../../../tables/rfq.ts"
import type { ContractMarkets } from "./contractMarkets.ts"
import type { Board } from "./QuoteBoard.ts"
import { isOpen } from "./rfqDecisions.ts"
import { type ClientNow, type QuoteJudge, quoteJudge, sentenceOf, standsAgainst } from "./rfqFacts.ts"

const usdc = (minor: bigint): string => formatAmount(minor, "USDC")
const onGrid = (value: string, decimals: number): string => decimalText(new MoneyDecimal(value), decimals)

export interface ViewParts {
  readonly at: ClientNow
  readonly board: Board
  readonly markets: ContractMarkets
}

export const directionOf = (side: "BUY" | "SELL") => (side === "BUY" ? ("LONG" as const) : ("SHORT" as const))

/** One request with its quotes, newest first. */
export const rfqWire = (row: RfqRow, { at, board, markets }: ViewParts): RfqWire => {
  const { context } = row
  const { side } = context
  const open = isOpen(row)
  const received = board.of(row.id).map(({ quote }) => quote)
  const quotes = open || context.quotes.length === 0 ? received : context.quotes
  const judge = quoteJudge(at, row, markets)
  return {
    rfqId: row.id,
    clientId: row.clientId,
    clientUid: context.account,
    venueRfqId: context.venueRfqId,
    clOrdId: requestRef(row.id),
    symbol: context.symbol,
    side,
    direction: directionOf(side),
    qty: context.qty,
    barrierLevel: context.barrierLevel,
    takeProfit: context.takeProfit,
    expiryTs: context.expiryTs,
    expiryDefaulted: context.expiryDefaulted,
    expiresAt: context.windowEndsAt,
    expiresInMs: Math.max(0, context.windowEndsAt - at.now),
    state: shownState(row),
    createdAt: context.createdAt,
    updatedAt: context.updatedAt,
    rejectReason: context.rejectReason,
    accepting: context.accepting !== null,
    autoAccept: context.autoAccept,
    autoAcceptNote: board.note(row.id) ?? context.autoAcceptNote,
    closeContractId: row.closeContractId,
    contractEntry: context.closes?.entry ?? null,
    acceptedQuoteId: context.acceptedQuoteId,
    contractId: context.contractId,
    entryPrice: context.entryPrice === null ? null : onGrid(context.entryPrice, context.priceDecimals),
    commission: context.commission,
    maxLossAtRequest: context.maxLossAtRequest,
    premium: row.state === "ACCEPTED" ? context.premium : context.premiumBudget,
    markAtRequest: context.markAtRequest,
    impliedLeverage: context.impliedLeverage,
    potentialProfit: context.potentialProfit,
    strictTakeProfit: context.strict,
    premiumBps: context.premiumBps,
    quotes: quotes.toReversed().map((quote) => quoteWire(row, quote, judge, at)),
    currency: "USDC"
  }
}

/** The state that partners see: a request without an answer from the venue shows as open. */
export const shownState = ({ state }: RfqRow): RfqState => (state === "CREATING" ? "OPEN" : state) as RfqState

const quoteWire = (row: RfqRow, quote: VenueQuote, judge: QuoteJudge, { now }: ClientNow): QuoteWire => {
  const { context } = row
  const stands = standsAgainst(row)
  const refusal = stands === null ? judge.refusal(quote) : null
  const reason = stands ?? (refusal === null ? null : sentenceOf(refusal))
  const closing = judge.closing(quote)
  const figures =
    row.closeContractId === null ? figuresAt({ ...context, barrier: context.barrierLevel, price: quote.price }) : null
  return {
    quoteId: quote.id,
    price: onGrid(quote.price, context.priceDecimals),
    qty: onGrid(quote.qty, context.qtyDecimals),
    validUntil: quote.validUntil,
    validForMs: Math.max(0, quote.validUntil - now),
    impliedMaxLoss: figures === null ? null : usdc(figures.premium),
    impliedPremium: figures === null ? null : usdc(figures.premium),
    impliedLeverage: figures?.leverage ?? null,
    impliedPotentialProfit: figures?.potentialProfit == null ? null : usdc(figures.potentialProfit),
    impliedPnl: closing === null ? null : usdc(closePnl(closing.contract, quote.price)),
    state: quoteState(row, quote, now),
    acceptable: reason === null,
    notAcceptableReason: reason
  }
}

/**
 * The state of a quote that partners see. An ended request has no live quotes: after an accept the other quotes are
 * SUPERSEDED, else all are EXPIRED.
 */
const quoteState = (row: RfqRow, { id, state, validUntil }: VenueQuote, now: number): QuoteState => {
  if (id === row.context.acceptedQuoteId) return "ACCEPTED"
  if (state !== "LIVE") return state
  if (!isOpen(row)) return row.state === "ACCEPTED" ? "SUPERSEDED" : "EXPIRED"
  return validUntil > now ? "LIVE" : "EXPIRED"
}

/** The response to an accept: the opened contract, or the result of closing it. */
export const acceptWire = (row: RfqRow, { id: contractId, context }: ContractRow): AcceptWire => {
  const accepted = {
    rfqId: row.id,
    venueRfqId: row.context.venueRfqId ?? context.venueRfqId,
    quoteId: row.context.acceptedQuoteId ?? context.quoteId,
    contractId,
    tradeId: context.tradeId,
    symbol: context.symbol,
    side: context.side,
    direction: directionOf(context.side),
    qty: context.qty,
    entry: context.entry,
    barrierLevel: context.barrier,
    takeProfit: context.takeProfit,
    expiryTs: context.expiryTs
  }
  const { strict: strictTakeProfit, premiumBps } = context
  if (row.closeContractId !== null) {
    return {
      ...accepted,
      settlePrice: context.settlePrice ?? context.entry,
      realizedPnl: context.pnl ?? usdc(0n),
      commission: usdc(0n),
      strictTakeProfit,
      premiumBps,
      ts: context.closedAt ?? row.context.updatedAt,
      currency: "USDC"
    }
  }
  return {
    ...accepted,
    maxLoss: context.premium,
    premium: context.premium,
    leverage: context.leverage,
    potentialProfit: context.potentialProfit,
    commission: context.commission,
    strictTakeProfit,
    premiumBps,
    ts: context.openedAt,
    currency: "USDC"
  }
}
