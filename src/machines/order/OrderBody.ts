/**
 * The body of POST .../orders, checked as far as possible without its market: its fields, and their combinations (doc 2, Place
 * order request; A2-35, A2-36, A2-93, A2-40).
 */
import { Schema } from "effect"
import * as Fields from "../shared/Fields.ts"
import { type BodyFaults, judgeBody } from "../shared/RequestBody.ts"
import { trimText } from "../shared/Text.ts"
import { leverageField, leverageLabel } from "./leverageField.ts"
import {
  isConditional,
  isLimited,
  isOrderType,
  type OrderSide,
  type OrderType,
  orderSides,
  orderTypes,
  type TimeInForce,
  timesInForce,
  triggerDirectionOf,
  type TriggerDirection,
  triggerDirections,
  type TriggerSource,
  triggerSources
} from "./orderTokens.ts"

/** Labels in the documented order of the fields. */
const labels = {
  symbol: "The market symbol",
  side: "The side",
  type: "The order type",
  qty: "The quantity",
  price: "The price",
  tif: "The time in force",
  reduceOnly: "Reduce-only",
  trigger: "The trigger",
  "trigger.source": "The trigger source",
  "trigger.price": "The trigger price",
  "trigger.direction": "The trigger direction",
  "trigger.limitPrice": "The limit price",
  attach: "The attached levels",
  "attach.takeProfit": "The take profit",
  "attach.takeProfit.price": "The take profit price",
  "attach.takeProfit.limitPrice": "The limit price of the take profit",
  "attach.stopLoss": "The stop loss",
  "attach.stopLoss.price": "The stop loss price",
  "attach.stopLoss.limitPrice": "The limit price of the stop loss",
  ocoGroup: "The OCO group",
  leverage: leverageLabel
} as const

/** Prefix of the group names of attached legs; partners may not use it. */
const ownGroups = "att:"
const groupSentence = `${labels.ocoGroup} must be 1 to 40 letters, digits, colons, underscores or hyphens.`

const leg = (name: "takeProfit" | "stopLoss") =>
  Fields.objectOf(
    {
      price: Fields.positiveDecimal(labels[`attach.${name}.price`]),
      limitPrice: Schema.optionalKey(Fields.positiveDecimal(labels[`attach.${name}.limitPrice`]))
    },
    labels[`attach.${name}`]
  )

/** The members of an order in every body: to place, to preview, to explain. */
export const orderFields = {
  symbol: Fields.text(labels.symbol, 40),
  side: Fields.token(labels.side, orderSides),
  type: Fields.token(labels.type, orderTypes),
  qty: Fields.positiveDecimal(labels.qty),
  price: Schema.optionalKey(
    Fields.positiveDecimal(labels.price).annotate({ description: "Positive decimal string; of a LIMIT order alone" })
  ),
  tif: Schema.optionalKey(
    Fields.token(labels.tif, timesInForce).annotate({
      description:
        "GTC when not sent; POST_ONLY with LIMIT alone; at the market GTC means IOC; of conditional types it applies after the trigger"
    })
  ),
  reduceOnly: Schema.optionalKey(
    Fields.flag(labels.reduceOnly).annotate({
      description:
        "The order may only make the position smaller; false when not sent, never on a SPOT market. An order that needs no margin because it only closes is placed as reduce-only: to turn a position, send one order that is larger than it."
    })
  ),
  trigger: Schema.optionalKey(
    Fields.objectOf(
      {
        source: Fields.token(labels["trigger.source"], triggerSources),
        price: Fields.positiveDecimal(labels["trigger.price"]),
        direction: Fields.token(labels["trigger.direction"], triggerDirections),
        limitPrice: Schema.optionalKey(Fields.positiveDecimal(labels["trigger.limitPrice"]))
      },
      labels.trigger
    ).annotate({ description: "Of conditional types alone; limitPrice of STOP_LIMIT and TAKE_PROFIT_LIMIT" })
  ),
  leverage: Schema.optionalKey(leverageField),
  attach: Schema.optionalKey(
    Fields.objectOf(
      { takeProfit: Schema.optionalKey(leg("takeProfit")), stopLoss: Schema.optionalKey(leg("stopLoss")) },
      labels.attach
    ).annotate({
      description: "Reduce-only orders that are placed once this one fills; at least one, of LIMIT and MARKET alone"
    })
  )
} as const

export const OrderBody = Fields.objectOf(
  {
    ...orderFields,
    ocoGroup: Schema.optionalKey(
      Fields.shaped(labels.ocoGroup, /^[A-Za-z0-9:_-]{1,40}$/, groupSentence).annotate({
        description: "Of conditional reduce-only orders: when one of a group fills, the others are cancelled"
      })
    )
  },
  "The request body"
)

export interface Trigger {
  readonly source: TriggerSource
  readonly price: string
  readonly direction: TriggerDirection
  /** The limit price; null unless the type ends in LIMIT. */
  readonly limitPrice: string | null
}

/** A leg that is placed when its parent fills. */
export interface AttachedLeg {
  readonly price: string
  readonly limitPrice: string | null
}

export interface Attached {
  readonly takeProfit: AttachedLeg | null
  readonly stopLoss: AttachedLeg | null
}

/** An order whose fields are valid by themselves and together. Prices and the quantity are decimal texts as sent, trimmed. */
export interface OrderBody {
  readonly symbol: string
  readonly side: OrderSide
  readonly type: OrderType
  readonly qty: string
  /** The limit price; null unless the type is LIMIT. */
  readonly price: string | null
  readonly tif: TimeInForce
  readonly reduceOnly: boolean
  /** The trigger; null unless the type is conditional. */
  readonly trigger: Trigger | null
  /** The legs to place when the order fills; null without a leg. */
  readonly attach: Attached | null
  readonly ocoGroup: string | null
  /** The leverage that the partner expects to be in force. */
  readonly leverage: number | null
}

export type DecodedOrder = { readonly ok: true; readonly body: OrderBody } | BodyFaults

/**
 * Checks an order. On refusal, `sentence` belongs to the first failing field in the documented order, and `errors` names all
 * failing fields by dotted path (400 code 4000).
 */
export const decodeOrder = (body: unknown): DecodedOrder => judgeOrder(body, decodeWhole)

const decodeWhole = Fields.decoderOf(OrderBody)

type Sent = Partial<typeof OrderBody.Type> & Omit<typeof OrderBody.Type, "ocoGroup">

/** Like `decodeOrder`, with a decoder for bodies that may have fewer fields. */
export const judgeOrder = (
  body: unknown,
  decode: (value: unknown, add: Fields.AddError) => Sent | undefined
): DecodedOrder =>
  judgeBody(body, labels, (raw, add) => {
    const sent = {
      ...raw,
      ...(raw["trigger"] === undefined ? {} : { trigger: Fields.withoutNulls(raw["trigger"], 0) }),
      ...(raw["attach"] === undefined ? {} : { attach: Fields.withoutNulls(raw["attach"], 1) })
    }
    checkPairs(sent, add)
    const decoded = decode(sent, add)
    return decoded === undefined ? undefined : { ok: true, body: bodyOf(decoded) }
  })

const bodyOf = ({ trigger, attach, ...sent }: Sent): OrderBody => ({
  symbol: trimText(sent.symbol),
  side: sent.side,
  type: sent.type,
  qty: trimText(sent.qty),
  price: trimmed(sent.price),
  tif: sent.tif ?? "GTC",
  reduceOnly: sent.reduceOnly ?? false,
  trigger:
    trigger === undefined
      ? null
      : { ...trigger, price: trimText(trigger.price), limitPrice: trimmed(trigger.limitPrice) },
  attach: attach === undefined ? null : { takeProfit: legOf(attach.takeProfit), stopLoss: legOf(attach.stopLoss) },
  ocoGroup: trimmed(sent.ocoGroup),
  leverage: sent.leverage ?? null
})

const trimmed = (text: string | undefined): string | null => (text === undefined ? null : trimText(text))

const legOf = (sent: { readonly price: string; readonly limitPrice?: string } | undefined): AttachedLeg | null =>
  sent === undefined ? null : { price: trimText(sent.price), limitPrice: trimmed(sent.limitPrice) }

/** Checks the rules between fields. A field that is invalid by itself has its own sentence already. */
const checkPairs = (sent: Fields.JsonRecord, add: Fields.AddError): void => {
  const { type } = sent
  if (isOrderType(type)) {
    checkPrice(type, sent, add)
    checkTif(type, sent, add)
    checkTrigger(type, sent, add)
  }
  checkAttach(sent, add)
  checkGroup(sent, add)
}

const checkPrice = (type: OrderType, { price }: Fields.JsonRecord, add: Fields.AddError): void => {
  if (type === "LIMIT" && price === undefined) add("price", `${labels.price} is required with the type LIMIT.`)
  if (type === "MARKET" && price !== undefined) add("price", "A MARKET order takes no price.")
  if (isConditional(type) && price !== undefined) add("price", "A conditional order takes its prices by the trigger.")
}

const checkTif = (type: OrderType, { tif }: Fields.JsonRecord, add: Fields.AddError): void => {
  if (tif === "POST_ONLY" && type !== "LIMIT") add("tif", "POST_ONLY is taken with the type LIMIT alone.")
}

const checkTrigger = (type: OrderType, { trigger, side }: Fields.JsonRecord, add: Fields.AddError): void => {
  if (!isConditional(type)) {
    if (trigger !== undefined) add("trigger", "A trigger is taken with conditional types alone.")
    return
  }
  if (trigger === undefined) add("trigger", `${labels.trigger} is required with the type ${type}.`)
  if (!Fields.isRecord(trigger)) return
  const { direction, limitPrice } = trigger
  if (isLimited(type) && limitPrice === undefined) {
    add("trigger.limitPrice", `${labels["trigger.limitPrice"]} is required with the type ${type}.`)
  }
  if (!isLimited(type) && limitPrice !== undefined) {
    add("trigger.limitPrice", `${labels["trigger.limitPrice"]} is not taken with the type ${type}.`)
  }
  if (side !== "BUY" && side !== "SELL") return
  const wanted = triggerDirectionOf(type, side)
  if (triggerDirections.some((known) => known === direction) && direction !== wanted) {
    add("trigger.direction", `${labels["trigger.direction"]} of ${type} with the side ${side} must be ${wanted}.`)
  }
}

const checkAttach = ({ attach, type, reduceOnly }: Fields.JsonRecord, add: Fields.AddError): void => {
  if (attach === undefined) return
  if (isOrderType(type) && isConditional(type)) {
    add("attach", `${labels.attach} are taken with the types LIMIT and MARKET alone.`)
  } else if (reduceOnly === true) add("attach", `${labels.attach} are not taken with a reduce-only order.`)
  else if (Fields.isRecord(attach) && attach["takeProfit"] === undefined && attach["stopLoss"] === undefined) {
    add("attach", `${labels.attach} must have a take profit or a stop loss.`)
  }
}

const checkGroup = ({ ocoGroup, type, reduceOnly }: Fields.JsonRecord, add: Fields.AddError): void => {
  if (ocoGroup === undefined) return
  const plain = reduceOnly === undefined || reduceOnly === false
  if (plain || (isOrderType(type) && !isConditional(type))) {
    add("ocoGroup", `${labels.ocoGroup} is taken with conditional reduce-only orders alone.`)
  } else if (typeof ocoGroup === "string" && trimText(ocoGroup).startsWith(ownGroups)) {
    add("ocoGroup", `${labels.ocoGroup} must not begin with ${ownGroups}, as the groups of attached levels do.`)
  }
}
