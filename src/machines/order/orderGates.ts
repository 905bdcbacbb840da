/**
 * The gates of an order behind its fields and its market, as data (A2-91): placing, previewing and explaining walk the same
 * ones, so what is foretold is what happens. Orders that close are spared what stands against new risk alone (A2-90).
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
import type { AskedOrder } from "./orderOnMarket.ts"
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

/** A client at one moment, as far as an order is judged on it. */
export interface OrderFacts extends JudgedOrder {
  readonly now: number
  readonly client: OpeningClient
  readonly partnerState: PartnerStatus
  /** Null on SPOT. `sent`: with the order, if at all; `inForce`: the client's choice, else the cap (A2-51). */
  readonly leverage: { readonly sent: number | null; readonly inForce: number; readonly cap: number } | null
  /** On the live marks, and as it was last recorded. */
  readonly risk: { readonly riskState: RiskState; readonly recorded: RiskState }
  readonly venueConnected: boolean
  /** The message of a halt that covers the market, ours or the venue's; null: it trades. */
  readonly halt: string | null
  readonly marks: {
    /** The market's own, the last one known; null: none. */
    readonly market: Mark | null
    /** Whether every mark that the account's figures use is fresh (F3). */
    readonly allUsedFresh: boolean
  }
  /** What `orderOnMarket` found off the grids. */
  readonly grid: Refusal | null
  /** The OCO group that the order names, of its client and market, without the order; null: it names none. */
  readonly group: { readonly members: number; readonly fired: boolean } | null
  /** Of the client, in all markets. */
  readonly workingOrders: number
}

export type OrderGates<Facts> = PreviewedGates<Facts>
type OrderGate = PreviewedGate<OrderFacts>

/** Whether an order closes what there is instead of opening risk: reduce-only, and the sale of an asset (A2-90). */
export const closes = ({ reduceOnly, family, side }: Pick<AskedOrder, "reduceOnly" | "family" | "side">): boolean =>
  reduceOnly || (family === "SPOT" && side === "SELL")

/** A gate of new risk: an order that closes is not asked. */
const ofOpening = (gate: OrderGate): OrderGate => ({
  ...gate,
  refusal: (facts) => (closes(facts.order) ? null : gate.refusal(facts)),
  compared: (facts) => (closes(facts.order) ? null : gate.compared(facts))
})

/** Reducing a position needs no verification; selling an asset needs the level, whatever has run out since (A2-90). */
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

/** A hint that is not what is in force: the partner's picture of the client is an old one (A2-51). */
const leverageHint: OrderGate = {
  gate: "leverage",
  previewed: false,
  refusal: ({ leverage }) =>
    leverage === null || leverage.sent === null || leverage.sent === leverage.inForce
      ? null
      : { _tag: "LeverageMismatch", sent: leverage.sent, stored: leverage.inForce },
  compared: (facts) => comparedLeverage(facts, "inForce")
}

/** A preview is made at any leverage that could be chosen (doc 2, Orders, margin, leverage, positions, rule 2). */
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

/** What is paid or margined in USDC is judged by the whole account's figures: all of them must be live (F3, F20). */
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

/** It reduces a position and rests nowhere. */
const closesAtOnce = ({ reduceOnly, trigger, venueTif }: AskedOrder): boolean =>
  reduceOnly && trigger === null && (venueTif === "IOC" || venueTif === "FOK")

/** However many orders rest, a client can get out of a position (A2-94, F9). */
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
  reason: (_, said) => preTradeReasons[said],
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

/** Of placing and explaining an order, in the order of A2-91. */
export const orderGates: OrderGates<OrderFacts> = [account, verification, leverageHint, ...behindLeverage]

/** Of a preview: the same, at the leverage that was sent instead of the one in force (A2-49, A2-91). */
export const previewGates: OrderGates<OrderFacts> = [account, verification, leverageCap, ...behindLeverage]
