/**
 * Protects orders in their client's turn. At the end of each turn that changed orders, trades or positions, every
 * attachment of the client takes the steps of `protectionPlan.ts`, until none is due. Legs are reduce-only, so they
 * pass no gate and hold no margin (A2-35, A2-40, A2-41, D7).
 */
import {
  attemptDueAt,
  type AttachmentState,
  groupOf,
  type Leg,
  legDirection,
  type LegRole,
  legType,
  type OrderNow,
  orderNow,
  type Standing,
  type Unplaced
} from "../../../../machines/order/Attachment.ts"
import { attemptNote, type OrderContext } from "../../../../machines/order/Order.ts"
import type { Trigger } from "../../../../machines/order/OrderBody.ts"
import { type Plan, planProtection } from "../../../../machines/order/protectionPlan.ts"
import { boundAt } from "../../../../machines/margin/priceBound.ts"
import { isFresh } from "../../../../machines/market/Facts.ts"
import type { MoneyDecimal } from "../../../../machines/shared/Money.ts"
import { advance, start } from "../../../effects/advance.ts"
import type { Instance, OwnedTurn } from "../../../effects/Instance.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import { oneInTurn } from "../../../engine/mailbox/turnRows.ts"
import type { TimerHandler } from "../../../engine/timers/Timers.ts"
import type { AttachmentRow, OrderRow } from "../../../tables/order.ts"
import type { Recall } from "../../account/Recall.ts"
import { boundedInTurn, reducingBpsOf } from "./orderBounds.ts"
import { cancelOrder, orderInTurn, type OrderToPlace, placeOrder, positionInTurn } from "./orderDecisions.ts"

/**
 * The most steps of one attachment in one turn. The steps of a turn are few: a leg fires, another round begins, the
 * parent is updated.
 */
const mostSteps = 8
/** The most legs in a parent's list, which keeps the newest. Only actions of the client cause further rounds. */
const mostNamed = 20
/** The actor in the audit rows. */
const protection = { role: "SYSTEM", keyLabel: "protection", actor: "system:protection" } as const
/** The reason for cancelling a leg, or the rest of an order. Views of orders show it. */
const notNeeded = "nothing left to protect"
const hasFired = "its protection fired"

/** A client's turn that can load ended orders which have left memory. */
export interface ProtectedTurn extends OwnedTurn {
  readonly recall: Recall
}

/** Starts the attachment of an order with protection, in the turn that places the order; null: no protection. */
export const armAttachment = (turn: Turn, of: Instance, parent: OrderRow): AttachmentRow | null => {
  const { attach, clientId, symbol, side, qtyDecimals, createdAt } = parent.context
  if (attach === null) return null
  const { id, partnerId } = parent
  return start(turn, "attachments", {
    of,
    input: { ...attach, orderId: id, clientId, symbol, side, qtyDecimals, createdAt, updatedAt: createdAt },
    columns: { id, partnerId, clientId, symbol, createdAt }
  })
}

/**
 * Takes all due steps of the client's attachments, in the state that the turn leaves. Throws the error of `Recall`, which
 * restarts the turn.
 */
export const protectInTurn = ({ turn, of, recall }: ProtectedTurn): void => {
  const at = { turn: { ...turn, by: { ...turn.by, ...protection } }, of, recall }
  for (const id of attachmentsToSee(turn)) {
    for (let steps = 0; ; steps++) {
      const row = recall.row(turn, "attachments", id)
      if (row === null || !takeStep(at, row)) break
      if (steps === mostSteps) throw new Error(`attachment:${id} does not come to rest`)
    }
  }
}

/** The attachments to check: the live ones, and those whose parent has changed in this turn. */
const attachmentsToSee = (turn: Turn): ReadonlySet<number> => {
  const ids = new Set(turn.state.all("attachments").map(({ id }) => id))
  for (const { id, live } of turn.draft.written("attachments")) if (live) ids.add(id)
  for (const { id, context } of turn.draft.written("orders")) if (context.attach !== null) ids.add(id)
  return ids
}

/** Takes one step of an attachment. False: no step is due. */
const takeStep = (at: ProtectedTurn, row: AttachmentRow): boolean => {
  const { turn, of } = at
  const state: AttachmentState = row.state
  const plan = planProtection(
    { state, context: row.context },
    {
      now: turn.now,
      parent: nowOf(orderInTurn(turn, row.id) ?? null),
      legOf: (id) => nowOf(at.recall.row(turn, "orders", id)),
      netQty: positionInTurn(turn, row.symbol)?.netQty ?? "0",
      mark: freshMark(turn, row.symbol)
    }
  )
  if (plan.event === null) return false
  for (const each of plan.amend) amendLeg(at, each)
  for (const id of plan.cancel) cancelIfThere(at, id, notNeeded)
  if (plan.cancelParent) cancelIfThere(at, row.id, hasFired)
  const placed = placeLegs(at, row, plan)
  const standing = { ...plan.standing, legs: [...plan.standing.legs, ...placed] }
  reportToParent(at, row.id, placed, plan.notes)
  setAttemptTimer(turn, row.id, standing)
  return advance(turn, "attachments", row, { type: plan.event, at: turn.now, standing }, { of }) !== null
}

/**
 * Sets a durable timer for the next attempt. An attempt that is already due needs no timer: it waits for other rows,
 * and the commit that writes these rows makes the attempt.
 */
const setAttemptTimer = ({ draft, now, state }: Turn, id: number, { unplaced }: Standing): void => {
  const due = unplaced.map(attemptDueAt).filter((at) => at > now)
  if (due.length === 0) return
  draft.put("timers", { subject: state.subject, name: `order.protect:${id}`, dueAt: Math.min(...due) })
}

/**
 * The timer's turn, like every turn, ends with the placing of the legs that are due. The handler only sets the timer
 * for later attempts.
 */
export const protectionTimers = {
  "order.protect": (turn, _dueAt, id) => {
    const row = turn.state.get("attachments", String(id))
    if (row !== undefined) setAttemptTimer(turn, row.id, row.context.standing)
  }
} as const satisfies Readonly<Record<string, TimerHandler>>

/**
 * Ends the attempts to place a refused leg, because its refused order is cancelled. An attempt in flight is cancelled
 * too. Returns false if no attempt of the leg is pending.
 */
export const endAttempts = ({ turn, of }: OwnedTurn, { state, context }: OrderRow): boolean => {
  const { parentOrderId, type } = context
  const row = parentOrderId === null ? undefined : turn.state.get("attachments", String(parentOrderId))
  const waiting = row?.context.standing.unplaced.find((each) => isLegOf(each, type))
  if (row === undefined || waiting === undefined || state === "FILLED") return false
  const { standing } = row.context
  const unplaced = standing.unplaced.filter((each) => each !== waiting)
  const ofRound = standing.legs.filter(({ round }) => round === standing.round)
  for (const { orderId } of ofRound.filter(({ role }) => role === waiting.role)) {
    const leg = orderInTurn(turn, orderId)
    if (leg !== undefined) cancelOrder({ turn, of }, leg, null)
  }
  // A round without a leg is over: its quantity counts as dealt with, and the client decides about it.
  const isOver = unplaced.length === 0 && ofRound.length === 0
  const left = { ...standing, unplaced, dealt: isOver ? standing.filled : standing.dealt }
  return advance(turn, "attachments", row, { type: "FOLLOW", at: turn.now, standing: left }, { of }) !== null
}

const isLegOf = ({ role, atMarket }: Unplaced, type: OrderContext["type"]): boolean =>
  type === "MARKET" ? atMarket : role === (type.startsWith("TAKE_PROFIT") ? "takeProfit" : "stopLoss")

const nowOf = (row: OrderRow | null): OrderNow | null => (row === null ? null : orderNow(row))

/** The fresh mark. Null: it is stale, and the venue decides whether a level is passed. */
const freshMark = ({ facts }: Turn, symbol: string): MoneyDecimal | null => {
  const mark = facts.marks.get(symbol)
  return mark !== undefined && facts.takenAt !== null && isFresh(mark, facts.takenAt) ? mark.price : null
}

const amendLeg = ({ turn, of, recall }: ProtectedTurn, { orderId, qty }: Plan["amend"][number]): void => {
  const row = recall.row(turn, "orders", orderId)
  if (row === null) return
  advance(turn, "orders", row, { type: "AMEND", at: turn.now, attempt: row.context.amends + 1, qty }, { of })
}

const cancelIfThere = (at: ProtectedTurn, orderId: number, note: string): void => {
  const row = at.recall.row(at.turn, "orders", orderId)
  if (row !== null) cancelOrder(at, row, note)
}

/** Sends the legs that a plan places. */
const placeLegs = (at: ProtectedTurn, { id, symbol }: AttachmentRow, { place, standing }: Plan): ReadonlyArray<Leg> => {
  if (place.length === 0) return []
  const { turn, recall } = at
  const parent = recall.row(turn, "orders", id)
  if (parent === null) throw new Error(`attachment:${id} has no order in ${symbol}`)
  const { clientId, partnerId, context } = parent
  const client = { id: clientId, partnerId, uid: context.account }
  return place.map((leg) => {
    const attempts = standing.unplaced.find(({ role }) => role === leg.role)?.attempts ?? 0
    const note = attempts === 0 ? null : attemptNote(attempts + 1)
    return { ...leg, orderId: placeOrder(at, client, { ...legOrder(turn, context, leg), note }).id }
  })
}

/** The order of a leg. It has the opposite side, the parent's terms, and the bound of reduce-only orders. */
const legOrder = (
  turn: Turn,
  parent: OrderContext,
  { role, round, atMarket, asked }: Omit<Leg, "orderId">
): OrderToPlace => {
  const level = triggerOf(parent, role)
  const trigger = atMarket ? null : level
  const limit = trigger?.limitPrice ?? null
  const side = parent.side === "BUY" ? "SELL" : "BUY"
  const client = oneInTurn(turn, "clients")
  if (client === undefined) throw new Error(`order:${parent.orderId} is protected without its client`)
  const bps = reducingBpsOf(boundedInTurn(turn, client), parent.symbol)
  const { marks, instruments } = turn.facts
  const from = marks.get(parent.symbol)?.price ?? level.price
  const tick = instruments.get(parent.symbol)?.priceTick ?? { decimals: parent.priceDecimals, step: 1 }
  const { orderId, symbol, family, leverage, commissionBps, priceDecimals, qtyDecimals } = parent
  return {
    symbol,
    family,
    side,
    type: atMarket ? "MARKET" : legType(role, limit !== null),
    qty: asked,
    price: null,
    venuePrice: limit ?? (atMarket ? boundAt(side, from, bps, tick) : null),
    boundBps: trigger === null ? null : bps,
    tif: "GTC",
    // A market order never rests in the book; a limit order does.
    venueTif: limit === null ? "IOC" : "GTC",
    reduceOnly: true,
    trigger,
    attach: null,
    ocoGroup: groupOf(orderId, round),
    parentOrderId: orderId,
    origin: "ATTACHED",
    note: null,
    leverage,
    reserved: null,
    commissionBps,
    priceDecimals,
    qtyDecimals
  }
}

const triggerOf = ({ attach, side }: OrderContext, role: LegRole): Trigger => {
  const level = attach?.[role] ?? null
  if (level === null) throw new Error(`no ${role} was asked for`)
  return { source: "MARK", price: level.price, direction: legDirection(role, side), limitPrice: level.limitPrice }
}

/** Records new legs and notes of refused legs on the order that they protect. A new leg replaces a refused one. */
const reportToParent = (
  { turn, of, recall }: ProtectedTurn,
  id: number,
  placed: ReadonlyArray<Leg>,
  notes: ReadonlyArray<string>
): void => {
  if (placed.length === 0 && notes.length === 0) return
  const parent = recall.row(turn, "orders", id)
  if (parent === null) return
  const before =
    placed.length === 0
      ? parent.context.legs
      : parent.context.legs.filter((leg) => recall.row(turn, "orders", leg)?.state !== "REJECTED")
  const legs = [...before, ...placed.map(({ orderId }) => orderId)].slice(-mostNamed)
  const note = notes.length === 0 ? null : notes.join("; ")
  advance(turn, "orders", parent, { type: "ATTACHED", at: turn.now, legs, note }, { of })
}
