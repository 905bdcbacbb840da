/** The tokens of orders on the wire, and the meaning of each order type (doc 2, Order; A2-35, A2-36). */

export const orderSides = ["BUY", "SELL"] as const
export type OrderSide = (typeof orderSides)[number]

export const orderTypes = [
  "LIMIT",
  "MARKET",
  "STOP_MARKET",
  "STOP_LIMIT",
  "TAKE_PROFIT_MARKET",
  "TAKE_PROFIT_LIMIT"
] as const
export type OrderType = (typeof orderTypes)[number]
export type ConditionalType = Exclude<OrderType, "LIMIT" | "MARKET">

export const timesInForce = ["GTC", "IOC", "FOK", "POST_ONLY"] as const
export type TimeInForce = (typeof timesInForce)[number]

export const triggerSources = ["LAST", "MARK", "INDEX"] as const
export type TriggerSource = (typeof triggerSources)[number]

export const triggerDirections = ["AT_OR_ABOVE", "AT_OR_BELOW"] as const
export type TriggerDirection = (typeof triggerDirections)[number]

const types: ReadonlySet<unknown> = new Set(orderTypes)
export const isOrderType = (token: unknown): token is OrderType => types.has(token)

/** Whether an order waits for a trigger. */
export const isConditional = (type: OrderType): type is ConditionalType => type !== "LIMIT" && type !== "MARKET"

/** Whether a conditional order rests at a limit price once it is triggered. */
export const isLimited = (type: ConditionalType): boolean => type === "STOP_LIMIT" || type === "TAKE_PROFIT_LIMIT"

/**
 * The direction in which a conditional order triggers. A stop of a buy triggers at or above its price, a take profit of a buy
 * at or below; sells have the opposite.
 */
export const triggerDirectionOf = (type: ConditionalType, side: OrderSide): TriggerDirection => {
  const stop = type === "STOP_MARKET" || type === "STOP_LIMIT"
  return stop === (side === "BUY") ? "AT_OR_ABOVE" : "AT_OR_BELOW"
}

/** The time in force sent to the venue. Orders that trade at the market never rest in the book. */
export const venueTifOf = (type: OrderType, tif: TimeInForce): TimeInForce => {
  const isAtMarket = type === "MARKET" || (isConditional(type) && !isLimited(type))
  return isAtMarket && tif === "GTC" ? "IOC" : tif
}
