/**
 * Converts the effects of machines to rows of the same commit, exhaustively by type: a new effect does not compile until it is
 * handled here. Data that an effect lacks (principal, time, ids) comes from the turn.
 */
import type { EffectOf, MachineEffect } from "../../machines/Effects.ts"
import type { JsonObject } from "../../machines/shared/Json.ts"
import { type LedgerEntryType, postingRules } from "../../machines/postingRules.ts"
import { postingValue } from "../../machines/market/postingValue.ts"
import { minorOf, parseAmount } from "../../machines/shared/Money.ts"
import { ownerOfRef } from "../../machines/venue/venueRefs.ts"
import { depositValue } from "../../machines/verification/depositValue.ts"
import type { Instance } from "./Instance.ts"
import { type Posting, post } from "../ledger/Ledger.ts"
import { moveLots } from "../ledger/lots.ts"
import { putSettlementItem } from "./settlementItems.ts"
import type { Turn } from "../engine/mailbox/ActorHost.ts"
import { queueDelivery } from "./queueDelivery.ts"

type Handlers = {
  readonly [T in MachineEffect["type"]]: (turn: Turn, instance: Instance, effect: EffectOf<T>) => void
}

const owned = (instance: Instance): { readonly clientId: number; readonly partnerId: number } => {
  const { clientId, partnerId } = instance
  if (clientId === null || partnerId === null) throw new Error("this effect needs a client")
  return { clientId, partnerId }
}

/** The types of postings that count as lifetime deposits (F25). */
const deposits: ReadonlySet<LedgerEntryType> = new Set(["PARTNER_COLLATERAL_IN", "DEPOSIT"])
const handlers: Handlers = {
  "ledger.post": (turn, instance, effect) => {
    const negative = effect.amount.startsWith("-")
    const amount = parseAmount(negative ? effect.amount.slice(1) : effect.amount, effect.currency)
    if (typeof amount === "string") throw new Error(`a machine emitted a bad amount: ${amount}`)
    const { facts } = turn
    const { currency } = effect
    const signed = negative ? -amount : amount
    const isDeposit = deposits.has(effect.entry)
    const posting: Posting = {
      ...owned(instance),
      txId: instance.txId ?? turn.nextId("transaction"),
      entry: effect.entry,
      key: effect.key,
      currency,
      amount: signed,
      also:
        effect.also === undefined
          ? null
          : { currency: effect.also.currency, amount: minorOf(effect.also.amount, effect.also.currency) },
      reason: effect.reason,
      refs: effect.refs,
      value: postingValue(currency, signed, facts),
      deposited: isDeposit ? depositValue(currency, amount, facts) : 0n
    }
    post(turn, posting)
    if (lacksValue(posting)) applyEffects(turn, instance, [unvaluedNote(effect)])
    moveLots(turn, posting)
    const item = putSettlementItem(turn, instance, posting)
    if (item !== null) applyEffects(turn, { ...instance, object: `settlementItem:${item.itemId}` }, item.effects)
  },
  event: (turn, instance, effect) => {
    const partnerId = instance.partnerId
    if (partnerId === null) throw new Error("an event needs a partner")
    const { clientId } = instance
    turn.draft.put("events", {
      partnerId,
      seq: turn.draft.nextEventSlot(),
      name: effect.name,
      clientId,
      data: effect.data,
      ts: turn.now
    })
    queueDelivery(turn, instance, effect)
  },
  notify: (turn, instance, effect) => {
    turn.draft.put("notifications", {
      id: turn.nextId("notification"),
      ...owned(instance),
      kind: effect.kind,
      ref: effect.ref,
      ts: turn.now,
      writtenAt: turn.now
    })
  },
  "timer.set": (turn, _instance, effect) => {
    turn.draft.put("timers", { subject: turn.state.subject, name: effect.name, dueAt: effect.at })
  },
  "timer.clear": (turn, _instance, effect) => turn.draft.clearTimer(turn.state.subject, effect.name),
  "venue.call": (turn, instance, { call }) => {
    const { ref } = call.request
    const owner = ownerOfRef(ref)
    if (owner === null || instance.object !== `${owner.owner}:${owner.id}`)
      throw new Error(`${instance.object ?? "nothing"} calls the venue under ${ref}, which does not name it`)
    turn.draft.put("venueCalls", {
      ref,
      ...owned(instance),
      call: call.name,
      request: call.request as JsonObject,
      at: turn.now
    })
  },
  audit: (turn, instance, effect) => {
    turn.draft.put("audit", {
      id: turn.nextId("audit"),
      ts: turn.now,
      role: turn.by.role,
      keyLabel: turn.by.keyLabel,
      requestId: turn.by.requestId,
      partnerId: instance.partnerId,
      clientId: instance.clientId,
      object: instance.object ?? null,
      action: effect.action,
      before: effect.before,
      after: effect.after,
      reason: effect.reason
    })
  }
}

/**
 * True for a posting that moved an asset in or out without a known value. Trades are excluded, because their other leg has the
 * value; reserves, because they move nothing in or out; deposits, because they have their own note.
 */
const lacksValue = ({ entry, value }: Posting): boolean =>
  value !== null &&
  value.valueUsdc === null &&
  postingRules[entry].house !== null &&
  entry !== "SPOT_SETTLE" &&
  !deposits.has(entry)

/** An audit note for later tax calculations: the posting has no value (STS-9). */
const unvaluedNote = ({ entry, currency, key }: EffectOf<"ledger.post">): MachineEffect => ({
  type: "audit",
  action: "ledger.unvalued",
  before: null,
  after: null,
  reason: `${entry} ${key}: ${currency} has no value known to the service, the posting counts zero.`
})

/** Writes the effects of one step into the turn's draft, in the order they were emitted. */
export const applyEffects = (turn: Turn, instance: Instance, effects: ReadonlyArray<MachineEffect>): void => {
  for (const effect of effects)
    (handlers[effect.type] as (t: Turn, i: Instance, e: MachineEffect) => void)(turn, instance, effect)
}
