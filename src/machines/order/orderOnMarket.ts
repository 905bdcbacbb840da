/**
 * Combines an order with its market: whether the market takes it, the limits of SPOT, and the final form of the order, which
 * is checked, stored and sent (doc 2, Place order request; A2-50, A2-91, A2-93, A2-35).
 */
import { gridsOf, type OnGrid, priceOn, quantityOn } from "../market/marketGrid.ts"
import type { AssetClass } from "../market/marketTerms.ts"
import { type Currency, isCurrency } from "../shared/Currency.ts"
import type { AddError, FieldErrors } from "../shared/Fields.ts"
import { accept, notOffered, type Refusal, refuse, type Verdict } from "../shared/Refusal.ts"
import { type BodyFaults, invalidBody } from "../shared/RequestBody.ts"
import type { VenueMarket } from "../venue/VenueMarket.ts"
import type { Attached, AttachedLeg, OrderBody, Trigger } from "./OrderBody.ts"
import { isConditional, isLimited, type TimeInForce, venueTifOf } from "./orderTokens.ts"

export type OrderFamily = "PERP" | "SPOT"

/** The venue's listing, by symbol. */
export interface Listed {
  readonly market: (symbol: string) => VenueMarket | null
  readonly isStaking: (symbol: string) => boolean
}

export interface OrderMarket {
  readonly market: VenueMarket
  readonly family: OrderFamily
  /** On SPOT always a currency that clients can hold. */
  readonly base: string
  readonly quote: Currency
}

const wrongFamily = "The market symbol must be of a PERP or SPOT market."

/** The market of an order. Refuses an unknown market with 404, and a market that takes no orders with 400. */
export const orderMarket = (symbol: string, listed: Listed): Verdict<OrderMarket> => {
  const market = listed.market(symbol)
  if (market?.family === "BARRIER" || (market === null && listed.isStaking(symbol))) {
    return refuse(invalidBody({ sentence: wrongFamily, errors: { symbol: wrongFamily } }))
  }
  return market === null ? refuse(notOffered) : tradedIn(market)
}

/** The market whose leverage is read or chosen: only PERP has leverage. */
export const leverageMarket = (symbol: string, listed: Listed): Verdict<OrderMarket> => {
  const market = listed.market(symbol)
  return market?.family === "PERP" ? tradedIn(market) : refuse(notOffered)
}

/** Perpetuals settle in USDC. On SPOT, clients must be able to hold both currencies. */
const tradedIn = (market: VenueMarket): Verdict<OrderMarket> => {
  const { family, base, symbol } = market
  const quote = symbol.split("-")[1]
  if (family === "BARRIER" || !isCurrency(quote)) return refuse(notOffered)
  const held = family === "PERP" ? quote === "USDC" : isCurrency(base)
  return held ? accept({ market, family, base, quote }) : refuse(notOffered)
}

/**
 * An order on its market. Prices and the quantity are written in the form of the market's grids; a value off its grid stays
 * as sent.
 */
export interface RequestedOrder extends Omit<OrderBody, "leverage"> {
  readonly family: OrderFamily
  readonly base: string
  readonly quote: Currency
  readonly assetClass: AssetClass
  /** The time in force sent to the venue. */
  readonly venueTif: TimeInForce
  /** The leverage that was sent, if any. */
  readonly leverage: number | null
  readonly priceDecimals: number
  readonly qtyDecimals: number
}

export type OrderOnMarket =
  | {
      readonly ok: true
      readonly order: RequestedOrder
      /** The refusal by tick, lot, minimum or maximum quantity, or null. It applies after the gates of the account. */
      readonly grid: Refusal | null
    }
  | BodyFaults

/** Checks an order against its market; refuses like `decodeOrder`, with the same paths. */
export const orderOnMarket = (body: OrderBody, { market, family, base, quote }: OrderMarket): OrderOnMarket => {
  const unfit = family === "SPOT" ? spotFaults(body) : null
  if (unfit !== null) return unfit
  const { price, qty } = gridsOf(market)
  const { errors, add } = collecting()
  const order: RequestedOrder = {
    ...body,
    ...writtenOn(body, market, add),
    family,
    base,
    quote,
    assetClass: market.assetClass,
    venueTif: venueTifOf(body.type, body.tif),
    priceDecimals: price?.decimals ?? 0,
    qtyDecimals: qty?.decimals ?? 0
  }
  const offGrid = faultsOf(errors)
  return { ok: true, order, grid: offGrid === null ? null : invalidBody(offGrid) }
}

/** Collects faults by path; only the first fault of a path counts. */
const collecting = (): { readonly errors: FieldErrors; readonly add: AddError } => {
  const errors: FieldErrors = {}
  return { errors, add: (path, sentence) => void (errors[path] ??= sentence) }
}

const faultsOf = (errors: FieldErrors): BodyFaults | null => {
  const [sentence] = Object.values(errors)
  return sentence === undefined ? null : { ok: false, sentence, errors }
}

const spotFaults = (body: OrderBody): BodyFaults | null => {
  const { errors, add } = collecting()
  checkSpot(body, add)
  return faultsOf(errors)
}

const onSpot = "not taken on a SPOT market"

/**
 * Checks an order on a SPOT market. The market is prefunded: it allows no reduce-only, no leverage, and no buy without a price
 * bound.
 */
const checkSpot = ({ type, side, reduceOnly, attach, ocoGroup, leverage }: OrderBody, add: AddError): void => {
  if (side === "BUY" && isConditional(type) && !isLimited(type)) add("type", `${type} with the side BUY is ${onSpot}.`)
  if (reduceOnly) add("reduceOnly", `A reduce-only order is ${onSpot}.`)
  if (attach !== null) add("attach", `Attached levels are ${onSpot}.`)
  if (ocoGroup !== null) add("ocoGroup", `An OCO group is ${onSpot}.`)
  if (leverage !== null) add("leverage", `A leverage is ${onSpot}.`)
}

type Written = Pick<RequestedOrder, "qty" | "price" | "trigger" | "attach">

const writtenOn = (body: OrderBody, market: VenueMarket, add: AddError): Written => {
  const price = (text: string, path: string, label: string): string =>
    textOf(priceOn(text, path, label, market, add), text)
  const orNull = (text: string | null, path: string, label: string): string | null =>
    text === null ? null : price(text, path, label)
  return {
    qty: textOf(quantityOn(body.qty, market, add), body.qty),
    price: orNull(body.price, "price", "The price"),
    trigger: body.trigger === null ? null : triggerOn(body.trigger, price, orNull),
    attach: body.attach === null ? null : attachedOn(body.attach, price, orNull)
  }
}

const textOf = (value: OnGrid | undefined, sent: string): string => value?.text ?? sent

type Priced = (text: string, path: string, label: string) => string
type MaybePriced = (text: string | null, path: string, label: string) => string | null

const triggerOn = (trigger: Trigger, price: Priced, orNull: MaybePriced): Trigger => ({
  ...trigger,
  price: price(trigger.price, "trigger.price", "The trigger price"),
  limitPrice: orNull(trigger.limitPrice, "trigger.limitPrice", "The limit price")
})

const attachedOn = ({ takeProfit, stopLoss }: Attached, price: Priced, orNull: MaybePriced): Attached => {
  const legOn = (leg: AttachedLeg | null, path: string, label: string): AttachedLeg | null =>
    leg === null
      ? null
      : {
          price: price(leg.price, `${path}.price`, `${label} price`),
          limitPrice: orNull(leg.limitPrice, `${path}.limitPrice`, `The limit price of ${label.toLowerCase()}`)
        }
  return {
    takeProfit: legOn(takeProfit, "attach.takeProfit", "The take profit"),
    stopLoss: legOn(stopLoss, "attach.stopLoss", "The stop loss")
  }
}
