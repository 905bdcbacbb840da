/**
 * The objects of an account at the venue: orders and fills, requests and quotes, contracts, and those of further nouns
 * (venueNouns.ts). Each client has one account, named by its uid (A2-95, A2-97, F12).
 */
import { Effect, Schema } from "effect"
import { nounLists, nounsListed } from "./venueNouns.ts"
import { DecimalText, Millis, Ref, Side, SignedText, Symbol, VenueId, VenueText } from "./values.ts"

export const VenueTrigger = Schema.Struct({
  source: Schema.Literals(["LAST", "MARK", "INDEX"]),
  price: DecimalText,
  direction: Schema.Literals(["AT_OR_ABOVE", "AT_OR_BELOW"])
})

/** States of an order: WAITING for its trigger, WORKING in the book, or ended in one of three ways. */
export const venueOrderStates = ["WAITING", "WORKING", "FILLED", "CANCELLED", "REJECTED"] as const

export const VenueOrder = Schema.Struct({
  id: VenueId,
  /** The ref of the service's call; null for an order of the venue itself, such as a deleveraging. */
  ref: Schema.NullOr(Ref),
  account: Ref,
  symbol: Symbol,
  side: Side,
  /** The limit price; null for none. An order with a bound gets its limit price when it triggers. */
  price: Schema.NullOr(DecimalText),
  qty: DecimalText,
  filledQty: DecimalText,
  tif: Schema.Literals(["GTC", "IOC", "FOK", "POST_ONLY"]),
  reduceOnly: Schema.Boolean,
  trigger: Schema.NullOr(VenueTrigger),
  group: Schema.NullOr(Schema.String),
  state: Schema.Literals(venueOrderStates),
  reason: Schema.NullOr(VenueText),
  triggeredAt: Schema.NullOr(Millis)
})
export type VenueOrder = typeof VenueOrder.Type

/** A fill. Its identity is (order, trade), because the two orders of a trade share the trade's id. */
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
  /** The reason of a trade that the venue started itself; null for any other trade. */
  reason: Schema.NullOr(Schema.Literals(["deleverage", "liquidation", "delisting"])),
  at: Millis
})
export type VenueFill = typeof VenueFill.Type
/** Limit of one order's fills in a response; the newest fills are returned. */
export const fillLimit = 10_000
export const OrderFills = Schema.Struct({ fills: Schema.Array(VenueFill).check(Schema.isMaxLength(fillLimit)) })

export const VenueQuote = Schema.Struct({
  id: VenueId,
  dealer: VenueText,
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
  /** The id of the contract to close; null for a request to open one. */
  closes: Schema.NullOr(VenueId),
  state: Schema.Literals(["OPEN", "ACCEPTED", "CANCELLED", "EXPIRED", "REJECTED"]),
  reason: Schema.NullOr(VenueText),
  /** The quotes of the request, newest last; the venue reports at most 100. */
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
  /** The ref of the accept that opened this contract. */
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

export const VenuePosition = Schema.Struct({ symbol: Symbol, netQty: SignedText })
export type VenuePosition = typeof VenuePosition.Type

/**
 * The kinds of money in the venue's books: trades with their full value, results of contracts, funding payments, costs and
 * payments of each further noun, and the venue's charges for trades, which clients never see.
 */
export const venueMoneyKinds = ["trades", "contracts", "funding", ...nounLists, "fees"] as const
export type VenueMoneyKind = (typeof venueMoneyKinds)[number]

/**
 * The amount of one kind and asset received less paid since the account was opened. A trade on a perpetual counts with its
 * full value too.
 */
export const VenueMoney = Schema.Struct({
  kind: Schema.Literals(venueMoneyKinds),
  asset: Schema.String.check(Schema.isPattern(/^[A-Z0-9]{1,12}$/)),
  amount: SignedText
})
export type VenueMoney = typeof VenueMoney.Type

/** An account in the venue's own books at this moment, for the reconciliation. `sequence` is that of the account's last event. */
export const VenueAccount = Schema.Struct({
  account: Ref,
  sequence: Schema.Int,
  positions: Schema.Array(VenuePosition),
  orders: Schema.Array(VenueOrder),
  contracts: Schema.Array(VenueContract),
  ...nounsListed,
  /** Null: the venue has not kept the whole history. A venue that omits the member keeps none. */
  money: Schema.NullOr(Schema.Array(VenueMoney)).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
})
export type VenueAccount = typeof VenueAccount.Type
