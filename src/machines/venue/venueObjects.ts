/**
 * The objects of an account at the venue: orders and fills, requests and quotes, contracts, swaps. Each client has one account,
 * named by its uid (A2-95, A2-97, F12).
 */
import { Effect, Schema } from "effect"
import { DecimalText, Millis, Ref, Side, SignedText, Symbol, VenueId, Words } from "./values.ts"

export const VenueTrigger = Schema.Struct({
  source: Schema.Literals(["LAST", "MARK", "INDEX"]),
  price: DecimalText,
  direction: Schema.Literals(["AT_OR_ABOVE", "AT_OR_BELOW"])
})

/** WAITING for its trigger, WORKING in the book, or ended. */
export const venueOrderStates = ["WAITING", "WORKING", "FILLED", "CANCELLED", "REJECTED"] as const

export const VenueOrder = Schema.Struct({
  id: VenueId,
  /** Null: an order of the venue itself, such as a deleveraging. */
  ref: Schema.NullOr(Ref),
  account: Ref,
  symbol: Symbol,
  side: Side,
  /** For an order with a bound: the resulting price, once it has fired. */
  price: Schema.NullOr(DecimalText),
  qty: DecimalText,
  filledQty: DecimalText,
  tif: Schema.Literals(["GTC", "IOC", "FOK", "POST_ONLY"]),
  reduceOnly: Schema.Boolean,
  trigger: Schema.NullOr(VenueTrigger),
  group: Schema.NullOr(Schema.String),
  state: Schema.Literals(venueOrderStates),
  reason: Schema.NullOr(Words),
  triggeredAt: Schema.NullOr(Millis)
})
export type VenueOrder = typeof VenueOrder.Type

/** The identity of a fill is (order, trade): both sides of a trade have its id. */
export const VenueFill = Schema.Struct({
  tradeId: VenueId,
  orderId: VenueId,
  ref: Schema.NullOr(Ref),
  account: Ref,
  symbol: Symbol,
  side: Side,
  price: DecimalText,
  qty: DecimalText,
  liquidity: Schema.Literals(["MAKER", "TAKER"]),
  /** Set on trades that the venue started itself. */
  reason: Schema.NullOr(Schema.Literals(["deleverage", "liquidation", "delisting"])),
  at: Millis
})
export type VenueFill = typeof VenueFill.Type
/** The most fills of one order in a response: the newest. */
export const fillLimit = 10_000
export const OrderFills = Schema.Struct({ fills: Schema.Array(VenueFill).check(Schema.isMaxLength(fillLimit)) })

export const VenueQuote = Schema.Struct({
  id: VenueId,
  dealer: Words,
  price: DecimalText,
  qty: DecimalText,
  at: Millis,
  validUntil: Millis,
  state: Schema.Literals(["LIVE", "EXPIRED", "WITHDRAWN", "ACCEPTED", "SUPERSEDED"])
})
export type VenueQuote = typeof VenueQuote.Type

export const VenueRfq = Schema.Struct({
  id: VenueId,
  ref: Ref,
  account: Ref,
  symbol: Symbol,
  side: Side,
  qty: DecimalText,
  barrier: DecimalText,
  takeProfit: Schema.NullOr(DecimalText),
  expiryAt: Millis,
  strict: Schema.Boolean,
  windowEndsAt: Millis,
  /** The contract to close, or null. */
  closes: Schema.NullOr(VenueId),
  state: Schema.Literals(["OPEN", "ACCEPTED", "CANCELLED", "EXPIRED", "REJECTED"]),
  reason: Schema.NullOr(Words),
  /** Newest last, at most 100. */
  quotes: Schema.Array(VenueQuote)
})
export type VenueRfq = typeof VenueRfq.Type

export const venueContractStates = [
  "OPEN",
  "KNOCKED_OUT",
  "TAKE_PROFIT",
  "EXPIRED",
  "EARLY_CLOSE",
  "TORN_UP",
  "CLOSED"
] as const

export const VenueContract = Schema.Struct({
  id: VenueId,
  /** The ref of the accept that opened it. */
  ref: Ref,
  account: Ref,
  symbol: Symbol,
  side: Side,
  qty: DecimalText,
  entry: DecimalText,
  barrier: DecimalText,
  takeProfit: Schema.NullOr(DecimalText),
  expiryAt: Millis,
  strict: Schema.Boolean,
  premiumBps: Schema.Int,
  tradeId: VenueId,
  openedAt: Millis,
  state: Schema.Literals(venueContractStates),
  settlePrice: Schema.NullOr(DecimalText),
  endedAt: Schema.NullOr(Millis)
})
export type VenueContract = typeof VenueContract.Type

export const VenuePayment = Schema.Struct({ id: VenueId, amount: DecimalText, at: Millis })

/** Another taker fee from then on; each correction has its own id. */
export const VenueFeeCorrection = Schema.Struct({ id: VenueId, fee: DecimalText, at: Millis })

/** Amounts are decimal strings in the market's asset. */
/** Most payments, and most corrections, of one swap. */
const swapPartsAtMost = 1_000

export const VenueSwap = Schema.Struct({
  id: VenueId,
  ref: Ref,
  account: Ref,
  symbol: Symbol,
  offerId: VenueId,
  tradeId: VenueId,
  notional: DecimalText,
  rateBps: Schema.Int,
  tenorDays: Schema.Int,
  reward: DecimalText,
  fee: DecimalText,
  openedAt: Millis,
  maturityAt: Millis,
  /** In order of creation. Empty when the venue reports none. */
  corrections: Schema.Array(VenueFeeCorrection)
    .check(Schema.isMaxLength(swapPartsAtMost))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  payments: Schema.Array(VenuePayment).check(Schema.isMaxLength(swapPartsAtMost)),
  /** The writer has reported at maturity that it can't pay everything. */
  short: Schema.Boolean,
  end: Schema.NullOr(Schema.Literals(["PAID", "FINAL_SETTLEMENT"]))
})
export type VenueSwap = typeof VenueSwap.Type

export const VenuePosition = Schema.Struct({ symbol: Symbol, netQty: SignedText })
export type VenuePosition = typeof VenuePosition.Type

/**
 * The kinds of money: trades with their full value, results of contracts, funding payments, swaps with their taker fee, and the
 * venue's charges for trades, which clients never see.
 */
export const venueMoneyKinds = ["trades", "contracts", "funding", "swaps", "fees"] as const
export type VenueMoneyKind = (typeof venueMoneyKinds)[number]

/** Received less paid since the account was opened, in one asset; a trade on a perpetual counts with its full value too. */
export const VenueMoney = Schema.Struct({
  kind: Schema.Literals(venueMoneyKinds),
  asset: Schema.String.check(Schema.isPattern(/^[A-Z0-9]{1,12}$/)),
  amount: SignedText
})
export type VenueMoney = typeof VenueMoney.Type

/** An account in the venue's own books at this moment, for a comparison. `sequence` is that of its last event. */
export const VenueAccount = Schema.Struct({
  account: Ref,
  sequence: Schema.Int,
  positions: Schema.Array(VenuePosition),
  orders: Schema.Array(VenueOrder),
  contracts: Schema.Array(VenueContract),
  swaps: Schema.Array(VenueSwap),
  /** Null: the venue has not kept the whole history. A venue that omits the member keeps none. */
  money: Schema.NullOr(Schema.Array(VenueMoney)).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
})
export type VenueAccount = typeof VenueAccount.Type
