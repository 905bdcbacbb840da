/**
 * The gates of an order, run in a fixed order after the checks of its fields and its market. Placing, previewing and
 * explaining run the same gates, so a preview predicts the outcome. Orders that close skip the gates of new risk (doc 2,
 * Orders, margin, leverage, positions, rule 2; A2-91, A2-90, A2-51, F3, F20, A2-94, F9, A2-49).
 */
import {
  account,
  freshMark,
  halt,
  type OpeningClient,
  partner,
  previewed,
  type PreviewedGate,
  type PreviewedGates,
  restriction,
  ruled,
  venue
} from "../client/openingGates.ts"
import type { RiskState } from "../margin/accountRisk.ts"
import type { Mark } from "../market/Facts.ts"
import type { PartnerStatus } from "../partner/Partner.ts"
import type { Compared, Rule } from "../shared/Gates.ts"
import { orderLimits } from "../shared/Limits.ts"
import type { Refusal } from "../shared/Refusal.ts"
import { spotSaleGate, verificationGate } from "../verification/requirements.ts"
import { capSentence } from "./LeverageBody.ts"
import type { RequestedOrder } from "./orderOnMarket.ts"
import {
  attachRules,
  bandRule,
  boundRule,
  type JudgedOrder,
  notionalRules,
  reduceOnlyRule,
  triggerRule
} from "./orderRules.ts"
import { preTradeReasons, type PreTradeSentence } from "./preTrade.ts"

/** The facts of a client at one moment that decide about an order. */
export interface OrderFacts extends JudgedOrder {
  readonly now: number
  readonly client: OpeningClient
  readonly partnerState: PartnerStatus
  /**
   * Leverage figures; null on SPOT. `sent`: the leverage in the order, if any; `inForce`: the client's choice, or else the
   * cap.
   */
  readonly leverage: { readonly sent: number | null; readonly inForce: number; readonly cap: number } | null
  /** The risk state that live marks imply, and the recorded one. */
  readonly risk: { readonly riskState: RiskState; readonly recorded: RiskState }
  readonly venueConnected: boolean
  /** The message of a trading halt, by the broker or the venue, that covers the market; null while the market trades. */
  readonly halt: string | null
  readonly marks: {
    /** The last known mark of the market, or null. */
    readonly market: Mark | null
    /** Whether every mark that the account's figures use is fresh. */
    readonly allUsedFresh: boolean
  }
  /** The refusal of a price or quantity that is off the market's grid (`orderOnMarket`); null when all are on it. */
  readonly grid: Refusal | null
  /** The other orders of the OCO group that this order names, within the same client and market. Null when no group is named. */
  readonly group: { readonly members: number; readonly fired: boolean } | null
  /** Working orders of the client, in all markets. */
  readonly workingOrders: number
}

export type OrderGates<Facts> = PreviewedGates<Facts>
type OrderGate = PreviewedGate<OrderFacts>

/** True for an order that closes exposure instead of opening risk: a reduce-only order, or the sale of an asset. */
export const closes = ({ reduceOnly, family, side }: Pick<RequestedOrder, "reduceOnly" | "family" | "side">): boolean =>
  reduceOnly || (family === "SPOT" && side === "SELL")

/** Makes a gate of new risk out of a gate: orders that close skip it. */
const ofOpening = (gate: OrderGate): OrderGate => ({
  ...gate,
  refusal: (facts) => (closes(facts.order) ? null : gate.refusal(facts)),
  compared: (facts) => (closes(facts.order) ? null : gate.compared(facts))
})

/**
 * Reducing a position needs no verification. Selling an asset needs the verification level, but blocks may have expired
 * since.
 */
const verification: OrderGate = previewed({
  gate: "verification",
  refusal: ({ order, client: { blocks, level } }) => {
    if (order.reduceOnly) return null
    const refused = closes(order)
      ? spotSaleGate(blocks, level)
      : verificationGate(`TRADE:${order.family}`, blocks, level, false)
    return refused === null ? null : { _tag: "Unverified", ...refused }
  },
  compared: ({ order, client: { level } }) =>
    order.reduceOnly ? null : { figure: level, limit: order.family === "SPOT" ? "MICA" : "MICA_MIFID" }
})

const comparedLeverage = ({ leverage }: OrderFacts, limit: "inForce" | "cap"): Compared | null =>
  leverage === null || leverage.sent === null
    ? null
    : { figure: String(leverage.sent), limit: limit === "cap" ? `at most ${leverage.cap}` : String(leverage.inForce) }

/** Refuses a sent leverage that differs from the one in force: the partner's data about the client is stale. */
const leverageHint: OrderGate = {
  gate: "leverage",
  previewed: false,
  refusal: ({ leverage }) =>
    leverage === null || leverage.sent === null || leverage.sent === leverage.inForce
      ? null
      : { _tag: "LeverageMismatch", sent: leverage.sent, stored: leverage.inForce },
  compared: (facts) => comparedLeverage(facts, "inForce")
}

/** The gate of a preview, which may use any leverage up to the cap. */
const leverageCap: OrderGate = ruled({
  gate: "leverage",
  reason: "LEVERAGE_TOO_HIGH",
  sentence: ({ leverage }) =>
    leverage === null || leverage.sent === null ? null : capSentence(leverage.sent, leverage.cap),
  compared: (facts) => comparedLeverage(facts, "cap")
})

const delisted = ruled<OrderFacts>({
  gate: "delisted",
  reason: "MARKET_DELISTED",
  sentence: ({ market }) => (market.delisted ? "The market is delisted: no new positions may be opened in it." : null),
  compared: ({ market }) => ({ figure: market.delisted ? "delisted" : "listed", limit: "listed" })
})

const ownMark: OrderGate = {
  ...freshMark,
  refusal: ({ marks, now }) => freshMark.refusal({ mark: marks.market, now }),
  compared: ({ marks, now }) => freshMark.compared({ mark: marks.market, now })
}

/** Requires fresh marks of the whole account, because payments and margin in USDC depend on all its figures. */
const usedMarks = ruled<OrderFacts>({
  gate: "usedMarks",
  reason: "PRICES_STALE",
  sentence: ({ order, marks }) =>
    marks.allUsedFresh || order.quote !== "USDC"
      ? null
      : "A market that the account holds a position in has no live price at the moment: try again shortly.",
  compared: ({ order, marks }) =>
    order.quote === "USDC" ? { figure: marks.allUsedFresh ? "live" : "stale", limit: "live" } : null
})

const grid: OrderGate = previewed({ gate: "grid", refusal: ({ grid: refusal }) => refusal, compared: () => null })

const groupSize = ruled<OrderFacts>({
  gate: "ocoGroup",
  reason: ({ group }) => (group?.fired === true ? "OCO_GROUP_FIRED" : "OCO_GROUP_FULL"),
  sentence: ({ group }) => {
    if (group === null) return null
    if (group.fired) return "A member of the OCO group has been filled: nothing can join it."
    return group.members < orderLimits.groupMembers
      ? null
      : `The OCO group has ${orderLimits.groupMembers} members, which is the most there may be.`
  },
  compared: ({ group }) =>
    group === null ? null : { figure: String(group.members), limit: `fewer than ${orderLimits.groupMembers}` }
})

/** Whether an order reduces a position and never rests in the book. */
const closesAtOnce = ({ reduceOnly, trigger, venueTif }: RequestedOrder): boolean =>
  reduceOnly && trigger === null && (venueTif === "IOC" || venueTif === "FOK")

/** Limits the number of working orders. Orders that close at once are exempt, so that a client can always leave a position. */
const workingOrders = ruled<OrderFacts>({
  gate: "workingOrders",
  reason: "TOO_MANY_ORDERS",
  sentence: ({ workingOrders: count, order }) =>
    count < orderLimits.working || closesAtOnce(order)
      ? null
      : `The client has ${orderLimits.working} working orders, which is the most there may be.`,
  compared: ({ workingOrders: count, order }) =>
    closesAtOnce(order) ? null : { figure: String(count), limit: `fewer than ${orderLimits.working}` }
})

const preTrade: OrderGate = ruled<OrderFacts, PreTradeSentence>({
  gate: "preTrade",
  reason: (_, sentence) => preTradeReasons[sentence],
  sentence: ({ preTrade: { sentence } }) => sentence,
  compared: ({ preTrade: { compared } }) => compared
})

const each = (rules: ReadonlyArray<Rule<JudgedOrder>>): ReadonlyArray<OrderGate> => rules.map(ruled)

const behindLeverage: OrderGates<OrderFacts> = [
  ofOpening(restriction),
  ofOpening(partner),
  venue,
  ofOpening(halt),
  ofOpening(delisted),
  ofOpening(ownMark),
  ofOpening(usedMarks),
  grid,
  ...each(notionalRules),
  ruled(triggerRule),
  ...each(attachRules),
  groupSize,
  ruled(reduceOnlyRule),
  ruled(boundRule),
  ruled(bandRule),
  workingOrders,
  preTrade
]

/** The gates of a placed or explained order. The first gate that refuses gives the answer. */
export const orderGates: OrderGates<OrderFacts> = [account, verification, leverageHint, ...behindLeverage]

/** Gates for a preview: those of an order, except that the sent leverage need not be the one in force. */
export const previewGates: OrderGates<OrderFacts> = [account, verification, leverageCap, ...behindLeverage]
