/** Applies the outcome of a call to its object in the client's turn, from a response, a status query or an event (D4). */
import { quoteOfRef } from "../../../machines/rfq/Rfq.ts"
import { callOfRef } from "../../../machines/order/Order.ts"
import { coveredEvents, type VenueOutcome } from "../../../machines/venue/venueCalls.ts"
import type { AccountFact } from "../../../machines/venue/VenueEvent.ts"
import { isNoun, isNounFact, objectOfFact } from "../../../machines/venue/venueNouns.ts"
import { ownerOfRef } from "../../../machines/venue/venueRefs.ts"
import type { VenueFill } from "../../../machines/venue/venueObjects.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { oneInTurn } from "../../engine/mailbox/turnRows.ts"
import { passPausePoint } from "../../engine/PausePoints.ts"
import type { VenueAccountRow } from "../../tables/venue.ts"
import { endMisfit, noteMisfit } from "./misfits.ts"
import type { DefiniteOutcome, VenueHandlers } from "./VenueHandler.ts"

interface EndedBy {
  /** True: the outcome answers a read of an object with a misfit. */
  readonly isRead?: boolean
  /** True: the outcome comes from staff. Its evidence was checked before, so the event handler does not judge it again. */
  readonly isTrusted?: boolean
}

/**
 * Ends the call, if it is in flight, and applies its outcome to the object. False: the outcome does not fit, or can't
 * be checked yet. Then nothing is applied, and a call in flight stays in flight.
 */
export const endCall = (
  turn: Turn,
  handlers: VenueHandlers,
  outcome: DefiniteOutcome,
  { isRead = false, isTrusted = false }: EndedBy = {}
): boolean => {
  const { ref } = outcome
  const named = ownerOfRef(ref)
  if (named === null) throw new Error(`${ref} is no ref of ours`)
  const handler = handlers[named.owner]
  const verdict = isTrusted ? null : handler.verdict(turn, { id: named.id, ...outcome })
  // A second outcome in the same turn is a repetition, for which the call counts as ended.
  const call = turn.draft.ends(ref) ? null : (turn.state.get("venueCalls", ref) ?? null)
  if (verdict !== null) {
    noteMisfit(turn, { ref, misfit: verdict, bytes: outcome })
    return false
  }
  if (isRead || isTrusted || call !== null) endMisfit(turn, ref)
  if (call !== null) turn.draft.endCall(ref)
  handler.ended(turn, { id: named.id, outcome, call, fills: nextFills(turn, outcome) })
  if (call === null) return true
  handlers.answered(turn, ref)
  passPausePoint("before-result")
  return true
}

/** The checkpoint of the account's events as the turn sees it; undefined: no event has arrived yet. */
export const accountIn = ({ draft, state }: Turn, clientId: number): VenueAccountRow | undefined =>
  draft.peek("venueAccounts", String(clientId)) ?? state.one("venueAccounts")

/** The sequence of the account's last applied event in the turn. */
const takenIn = (turn: Turn): number => oneInTurn(turn, "venueAccounts")?.sequence ?? 0

/**
 * The trades of an outcome that are the next events of the account. If an earlier event is missing, the trades wait for
 * the stream, because the funding of a stamp depends on the order of the events.
 */
const nextFills = (turn: Turn, outcome: DefiniteOutcome): ReadonlyArray<VenueFill> => {
  const { fills = [] } = outcome
  const taken = takenIn(turn)
  const events = coveredEvents(outcome) ?? null
  if (events === null || events.first > taken + 1) return []
  return fills.filter(({ sequence }) => sequence > taken).map(({ fill }) => fill)
}

/**
 * Counts the events that an outcome contains as applied, if no earlier event is missing. They then take no turn when
 * they arrive. From an executed call on, the account is known, so it is read again after a loss of events.
 */
export const takeItsEvents = (turn: Turn, clientId: number, of: DefiniteOutcome): void => {
  const { ref, outcome } = of
  const events = coveredEvents(of) ?? null
  const { sequence, takenTo, gapTo } = accountIn(turn, clientId) ?? { sequence: null, takenTo: 0, gapTo: 0 }
  const taken = sequence ?? 0
  if (events !== null && events.first <= taken + 1 && events.last > taken) {
    const { pastLag, behindUntil } = turn.facts.venueTime
    const sentAt = turn.state.get("venueCalls", ref)?.at ?? 0
    // The answer may arrive long after its events. So the time of the request is the only safe lower bound of the
    // events' times.
    const earliest = sentAt > behindUntil ? sentAt - pastLag : 0
    turn.draft.put("venueAccounts", { clientId, sequence: events.last, takenTo: Math.max(takenTo, earliest), gapTo })
  } else if (sequence === null && outcome === "EXECUTED") {
    turn.draft.put("venueAccounts", { clientId, sequence: 0, takenTo, gapTo })
  }
}

/** The outcome if it is definite, otherwise null. An execution without its object is not definite, and is queried again. */
export const definite = (outcome: VenueOutcome): DefiniteOutcome | null =>
  outcome.outcome === "UNKNOWN" || isUnseen(outcome) ? null : (outcome as DefiniteOutcome)

/**
 * True if an execution lacks its object. For an accept this is the contract that it opened, or the end of the contract
 * that it closed. For an order, and for a call of another noun, it is the object itself.
 */
export const isUnseen = (found: VenueOutcome): boolean => {
  const { outcome, ref, order, contract } = found
  if (outcome !== "EXECUTED") return false
  const owner = ownerOfRef(ref)?.owner
  if (owner !== undefined && isNoun(owner)) return (found[owner] ?? null) === null
  if (owner === "order" && callOfRef(ref) === "place") return order === null
  // A contract carries the ref of the accept that opened it. An accept that closes a contract shows only in the
  // contract's end.
  return quoteOfRef(ref) !== null && (contract === null || (contract.ref !== ref && contract.state === "OPEN"))
}

/**
 * Derives the outcome EXECUTED of the call that made a fact's object. Null: the fact has no object, or no call of ours
 * made it. `at`: business time at the venue.
 */
export const outcomeOfFact = (fact: AccountFact, at: number): DefiniteOutcome | null => {
  const none = { outcome: "EXECUTED", reason: null, at, order: null, rfq: null, contract: null } as const
  if (isNounFact(fact)) {
    const made = objectOfFact(fact)
    return { ...none, ref: made.ref, [fact.type]: made }
  }
  switch (fact.type) {
    case "order":
    case "fill":
      return fact.order.ref === null ? null : { ...none, ref: fact.order.ref, order: fact.order }
    case "rfq":
      return { ...none, ref: fact.rfq.ref, rfq: fact.rfq }
    case "contract":
      // Only accepts make contracts. A contract with another ref was made by no call of ours.
      return quoteOfRef(fact.contract.ref) === null
        ? null
        : { ...none, ref: fact.contract.ref, contract: fact.contract }
    case "quote":
    case "funding":
    case "bust":
      return null
  }
}
