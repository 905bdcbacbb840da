/**
 * Requests for quotes on knock-out contracts on the wire, declared once for the contract and for the services. Prices and
 * quantities are decimal strings on the market's grid, money has six places, percentages and leverage two (doc 2, RFQ; A2-111,
 * A2-112, F15, F19).
 */
import { contractFields } from "../contract/ContractWire.ts"
import { Schema } from "effect"
import { Id } from "../shared/Ids.ts"
import { contractLimits } from "../shared/Limits.ts"

export const rfqStates = ["OPEN", "ACCEPTED", "CANCELLED", "EXPIRED", "REJECTED"] as const
export type RfqState = (typeof rfqStates)[number]

export const quoteStates = ["LIVE", "EXPIRED", "WITHDRAWN", "ACCEPTED", "SUPERSEDED"] as const
export type QuoteState = (typeof quoteStates)[number]

const price = Schema.String.annotate({ description: "Decimal string on the market's price grid." })
const usdc = Schema.String.annotate({ description: "USDC, decimal string with six places." })
const millis = Schema.Int.annotate({ description: "Unix ms." })
const leverage = Schema.String.annotate({ description: "Notional over premium, decimal string with two places." })
const toOpen = <S extends Schema.Top>(schema: S, description = "Null on a request to close.") =>
  Schema.NullOr(schema).annotate({ description })

/** LONG for a BUY, SHORT for a SELL. */
const direction = Schema.Literals(["LONG", "SHORT"]).annotate({ description: "LONG of a BUY, SHORT of a SELL." })
const currency = Schema.Literal("USDC")

export const QuoteWire = Schema.Struct({
  quoteId: Id.annotate({ description: "The venue's id." }),
  price,
  qty: contractFields.qty,
  validUntil: millis,
  validForMs: Schema.Int.annotate({ description: "Milliseconds left, at least 0." }),
  impliedMaxLoss: toOpen(usdc),
  impliedPremium: toOpen(usdc),
  impliedLeverage: toOpen(leverage),
  impliedPotentialProfit: toOpen(usdc, "Null without a take profit, and on a request to close."),
  impliedPnl: Schema.NullOr(usdc).annotate({
    description: "What closing at the price would pay; null on a request to open."
  }),
  state: Schema.Literals(quoteStates),
  acceptable: Schema.Boolean.annotate({ description: "Whether an accept would be taken now." }),
  notAcceptableReason: Schema.NullOr(Schema.String).annotate({ description: "Null while it is acceptable." })
}).annotate({ identifier: "Quote" })
export type QuoteWire = typeof QuoteWire.Type

const { symbol, side, qty, barrierLevel, takeProfit, expiryTs, strictTakeProfit, premiumBps } = contractFields

export const RfqWire = Schema.Struct({
  rfqId: Id,
  clientId: Id,
  clientUid: Schema.String,
  venueRfqId: Schema.NullOr(Id).annotate({ description: "Null until the venue has confirmed the request." }),
  clOrdId: Schema.String.annotate({ description: "The request's name at the venue." }),
  symbol,
  side,
  direction,
  qty,
  barrierLevel,
  takeProfit,
  expiryTs,
  expiryDefaulted: Schema.Boolean.annotate({ description: "True when no expiryTs was sent." }),
  expiresAt: millis.annotate({ description: "When the quoting window elapses, Unix ms." }),
  expiresInMs: Schema.Int.annotate({ description: "Milliseconds left of the quoting window, at least 0." }),
  state: Schema.Literals(rfqStates),
  createdAt: millis,
  updatedAt: millis,
  rejectReason: Schema.NullOr(Schema.String).annotate({ description: "Why it was rejected or cancelled, if it was." }),
  accepting: Schema.Boolean.annotate({ description: "An accept is in flight: its outcome is not known yet." }),
  autoAccept: Schema.Boolean,
  autoAcceptNote: Schema.NullOr(Schema.String).annotate({
    description: "Why the router has not accepted a quote, in words."
  }),
  closeContractId: Schema.NullOr(Id).annotate({ description: "The contract that it is to close." }),
  contractEntry: Schema.NullOr(price).annotate({ description: "Entry price of the contract that it is to close." }),
  acceptedQuoteId: Schema.NullOr(Id),
  contractId: Schema.NullOr(Id).annotate({ description: "The contract that the accept opened or closed." }),
  entryPrice: Schema.NullOr(price).annotate({ description: "The accepted price; null until ACCEPTED." }),
  commission: toOpen(usdc, "Estimated until ACCEPTED, then what was charged; null on a request to close."),
  maxLossAtRequest: toOpen(usdc),
  premium: toOpen(usdc, "The budget that was sent or null; once ACCEPTED the premium. Null on a request to close."),
  markAtRequest: Schema.NullOr(price),
  impliedLeverage: toOpen(leverage),
  potentialProfit: toOpen(usdc, "Null without a take profit, and on a request to close."),
  strictTakeProfit,
  premiumBps,
  quotes: Schema.Array(QuoteWire).annotate({
    description: `Newest first: at most ${contractLimits.quotes} while it is OPEN, then the accepted one and the newest ${contractLimits.quotesKept}.`
  }),
  currency
}).annotate({ identifier: "Rfq" })
export type RfqWire = typeof RfqWire.Type

/** The data of the answer to GET .../rfq. The answer contains open requests only. */
export const RfqsWire = Schema.Struct({
  rfqs: Schema.Array(RfqWire).annotate({ description: `Newest first, at most ${contractLimits.openRequests}.` })
})
export type RfqsWire = typeof RfqsWire.Type

const acceptedFields = {
  rfqId: Id,
  venueRfqId: Id,
  quoteId: Id,
  contractId: Id,
  tradeId: Id.annotate({ description: "The venue's trade that opened the contract." }),
  symbol,
  side,
  direction,
  qty,
  entry: price,
  barrierLevel,
  takeProfit,
  expiryTs
} as const
const acceptedEnd = {
  commission: usdc.annotate({ description: "What was charged; nothing for closing." }),
  strictTakeProfit,
  premiumBps,
  ts: millis.annotate({ description: "When the venue executed it, Unix ms." }),
  currency
} as const

/** The data of the answer to POST .../rfq/{rfqId}/accept for a request to open: the contract that was opened. */
export const OpenedWire = Schema.Struct({
  ...acceptedFields,
  maxLoss: usdc,
  premium: usdc,
  leverage,
  potentialProfit: Schema.NullOr(usdc).annotate({ description: "Null without a take profit." }),
  ...acceptedEnd
}).annotate({ identifier: "ContractOpened" })
export type OpenedWire = typeof OpenedWire.Type

/** The answer to an accept of a request to close: the contract's result replaces the figures of the premium. */
export const ClosedWire = Schema.Struct({
  ...acceptedFields,
  settlePrice: price,
  realizedPnl: usdc.annotate({ description: "Signed from the client's view." }),
  ...acceptedEnd
}).annotate({ identifier: "ContractClosed" })
export type ClosedWire = typeof ClosedWire.Type

export const AcceptWire = Schema.Union([OpenedWire, ClosedWire])
export type AcceptWire = typeof AcceptWire.Type

/** The data of the answer to POST .../rfq/{rfqId}/cancel. */
export const RfqCancelledWire = Schema.Struct({ rfqId: Id, state: Schema.Literal("CANCELLED") })
export type RfqCancelledWire = typeof RfqCancelledWire.Type
