/**
 * Orders, positions, trades and leverage on the wire, declared once for the contract and for the services. Prices and
 * quantities are decimal strings on the market's grid; a member that does not apply is null (doc 2, Order, Margin picture;
 * A2-43, A2-44, A2-92, A2-99, A2-100, A2-106, F31, A2-97, F20, A2-32, A2-50, F13, A2-49).
 */
import { Schema } from "effect"
import { Id } from "../shared/Ids.ts"
import { pageEnd } from "../shared/Page.ts"
import { orderSides, orderTypes, timesInForce, triggerDirections, triggerSources } from "./orderTokens.ts"

export const orderStates = [
  "CHECKED",
  "SENT",
  "ACKED",
  "PARTIAL",
  "PENDING_TRIGGER",
  "PENDING_CANCEL",
  "FILLED",
  "CANCELLED",
  "REJECTED"
] as const
export type OrderState = (typeof orderStates)[number]

/** The origin of an order: the partner, a close-out or the venue itself, or a leg of another order. */
export const orderOrigins = ["CLIENT", "CLOSE_OUT", "ATTACHED"] as const
export type OrderOrigin = (typeof orderOrigins)[number]

const price = Schema.String.annotate({ description: "Decimal string on the market's price grid." })
const qty = Schema.String.annotate({ description: "Decimal string on the market's quantity grid." })
const usdc = Schema.String.annotate({ description: "USDC, decimal string with six places; may be negative." })
const money = Schema.String.annotate({ description: "Decimal string in the quote currency's scale." })
const millis = Schema.Int.annotate({ description: "Unix ms." })
const family = Schema.Literals(["PERP", "SPOT"])
const clOrdId = Schema.String.annotate({ description: "The order's name at the venue, <prefix>-<orderId>." })
const named = { orderId: Id, clOrdId } as const
const state = Schema.Literals(orderStates)
const or = <S extends Schema.Top>(schema: S, description: string) => Schema.NullOr(schema).annotate({ description })

const TriggerWire = Schema.Struct({
  source: Schema.Literals(triggerSources),
  price,
  direction: Schema.Literals(triggerDirections),
  limitPrice: or(price, "Of STOP_LIMIT and TAKE_PROFIT_LIMIT.")
})

const LegWire = Schema.Struct({ price, limitPrice: or(price, "Null: the leg takes the market.") })

/** The reserve of a spot order. */
export const ReservationWire = Schema.Struct({
  currency: Schema.String,
  amount: Schema.String.annotate({ description: "What was held at first, decimal string in the currency's scale." }),
  consumed: Schema.String.annotate({ description: "What fills have taken of it." }),
  released: Schema.String.annotate({ description: "What was given back." })
}).annotate({ identifier: "Reservation" })

export const OrderWire = Schema.Struct({
  ...named,
  symbol: Schema.String,
  family,
  side: Schema.Literals(orderSides),
  type: Schema.Literals(orderTypes),
  qty,
  price: or(price, "Of LIMIT; conditional orders have theirs in the trigger."),
  state,
  reject: or(Schema.String, "Why it was rejected, if it was."),
  filledQty: qty,
  createdAt: millis,
  reduceOnly: Schema.Boolean.annotate({
    description:
      "Whether it may only make the position smaller: as the partner sent it, or because the order needed no margin. Such an order never turns the position."
  }),
  tif: Schema.Literals(timesInForce),
  trigger: or(TriggerWire, "Of conditional orders."),
  updatedAt: millis,
  attach: or(
    Schema.Struct({
      takeProfit: Schema.NullOr(LegWire),
      stopLoss: Schema.NullOr(LegWire),
      legs: Schema.Array(Id).annotate({ description: "Ids of the orders that were placed as its legs." })
    }),
    "Of an order with attached levels."
  ),
  ocoGroup: or(Schema.String, "Null: it is in none. Attached legs are in att:<id of their parent>."),
  parentOrderId: or(Id, "Of an attached leg."),
  parentClOrdId: or(Schema.String, "Of an attached leg."),
  origin: Schema.Literals(orderOrigins).annotate({
    description: "CLOSE_OUT of what the margin engine or the venue did, ATTACHED of a leg."
  }),
  note: or(Schema.String, "What else is to be known of it, in words."),
  replacedBy: or(Id, "The order that stands in its place."),
  replaces: or(Id, "The order in whose place it stands."),
  reservation: or(ReservationWire, "Of an order on a SPOT market.")
}).annotate({ identifier: "Order" })
export type OrderWire = typeof OrderWire.Type

/** The bare answer to POST .../orders. */
export const PlacedWire = Schema.Struct({ ...named, state })
export type PlacedWire = typeof PlacedWire.Type

/** The members of a refused POST .../orders beside its sentence: all null when no order was stored. */
export const notPlaced = {
  orderId: Schema.NullOr(Id),
  clOrdId: Schema.NullOr(clOrdId),
  state: Schema.NullOr(state)
} as const

/** The bare answer to DELETE .../orders/{orderId}. */
export const CancelWire = Schema.Struct(named)
export type CancelWire = typeof CancelWire.Type

/** The bare answer to GET .../orders. */
export const OrdersWire = Schema.Struct({
  orders: Schema.Array(OrderWire).annotate({ description: "Newest first." }),
  ...pageEnd
})
export type OrdersWire = typeof OrdersWire.Type

export const PositionWire = Schema.Struct({
  symbol: Schema.String,
  netQty: Schema.String.annotate({ description: "Signed decimal string on the market's quantity grid, never zero." }),
  avgEntryPrice: Schema.String.annotate({ description: "Decimal string." }),
  netCost: usdc.annotate({ description: "What the position cost, USDC, signed as it is." }),
  realizedPnl: usdc.annotate({ description: "Of all that was ever reduced in this market, without commission." }),
  updatedAt: millis
}).annotate({ identifier: "Position" })
export type PositionWire = typeof PositionWire.Type

/** The bare answer to GET .../positions. */
export const PositionsWire = Schema.Struct({ positions: Schema.Array(PositionWire) })
export type PositionsWire = typeof PositionsWire.Type

export const TradeWire = Schema.Struct({
  id: Id,
  venueTradeId: Id.annotate({ description: "The venue's; both sides of a trade have it." }),
  ...named,
  symbol: Schema.String,
  family,
  side: Schema.Literals(orderSides),
  price,
  qty,
  commission: money.annotate({ description: "Positive when charged, in the quote currency's scale." }),
  ts: millis.annotate({ description: "When the venue executed it, Unix ms." }),
  realizedPnl: money.annotate({ description: "Without commission; zero of what opens and of a spot buy." }),
  notional: money,
  asset: or(Schema.String, "The base currency, on SPOT alone.")
}).annotate({ identifier: "Trade" })
export type TradeWire = typeof TradeWire.Type

/** The bare answer to GET .../trades. */
export const TradesWire = Schema.Struct({
  trades: Schema.Array(TradeWire).annotate({ description: "Newest first." }),
  ...pageEnd
})
export type TradesWire = typeof TradesWire.Type

/** One fill that reduced a perpetual position. When a fill turned the position, only the closed part counts. */
export const PositionHistoryItem = Schema.Struct({
  id: Id,
  ...named,
  symbol: Schema.String,
  side: Schema.Literals(orderSides).annotate({ description: "The fill's." }),
  qty: qty.annotate({ description: "What of the position was closed." }),
  price,
  realizedPnl: usdc,
  ts: millis
}).annotate({ identifier: "PositionHistoryItem" })
export type PositionHistoryItem = typeof PositionHistoryItem.Type

/** The bare answer to GET .../position-history. */
export const PositionHistoryWire = Schema.Struct({
  items: Schema.Array(PositionHistoryItem).annotate({ description: "Newest first." }),
  ...pageEnd
})
export type PositionHistoryWire = typeof PositionHistoryWire.Type

/** The bare answer to GET, PUT and POST .../leverage. */
export const LeverageWire = Schema.Struct({
  symbol: Schema.String,
  leverage: Schema.Int.annotate({ description: "In force: the choice, else the cap." }),
  cap: Schema.Int.annotate({ description: "The most that the client may choose in this market." }),
  categorization: Schema.Literals(["RETAIL", "PROFESSIONAL"]),
  chosen: or(Schema.Int, "Null until one was chosen.")
}).annotate({ identifier: "Leverage" })
export type LeverageWire = typeof LeverageWire.Type

const figure = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.NullOr(schema).annotate({ description: `${description} Null where it could not be worked out.` })
const amount = Schema.String

/** The figures of a margin preview. Money is USDC with six places unless a member names another currency. */
export const previewFigures = {
  reservation: figure(
    amount,
    "What the order would tie up: on PERP margin and commission, on SPOT the quote currency of a BUY or the asset of a SELL."
  ),
  orderValue: figure(amount, "Quantity times the price it is judged at, in the quote currency."),
  marginRequired: figure(amount, "By how much the initial margin would grow."),
  leverage: figure(Schema.Int, "That the figures are worked out with; on PERP alone."),
  freeMarginBefore: figure(amount, "USDC."),
  freeMarginAfter: figure(amount, "Less margin and commission."),
  marginLevelAfter: figure(
    amount,
    "Percent, two places, once the order is filled; also null while nothing is tied up."
  ),
  estLiquidationPrice: figure(price, "Of the position once the order is filled; also null without one."),
  equityBefore: figure(amount, "USDC."),
  initialMarginBefore: figure(amount, "USDC."),
  initialMarginAfter: figure(amount, "Once the order is filled."),
  estimatedCommission: figure(amount, "In the quote currency."),
  slippageAllowance: figure(amount, "Set aside for what takes the market."),
  estimatedCosts: figure(amount, "Commission and slippage allowance.")
} as const

const verdict = {
  accepted: Schema.Boolean.annotate({ description: "Whether the order would be taken now." }),
  reason: Schema.NullOr(Schema.String).annotate({ description: "The sentence that would refuse it." })
} as const

/** The bare answer to POST .../margin/preview. */
export const MarginPreviewWire = Schema.Struct({ ...verdict, ...previewFigures }).annotate({
  identifier: "MarginPreview"
})
export type MarginPreviewWire = typeof MarginPreviewWire.Type
export type PreviewFigures = Omit<MarginPreviewWire, keyof typeof verdict>

/** The members of a refused preview beside its sentence: the same as those of an accepted one. */
export const previewMembers = { ...verdict, ...previewFigures } as const
