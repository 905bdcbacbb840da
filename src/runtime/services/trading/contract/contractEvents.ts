/**
 * Applies outcomes of tear-ups, and timers, to knock-out contracts in their client's turn. The venue's own events of a
 * contract carry the ref of the accept that opened it, so `rfq/rfqEvents.ts` applies them (D5).
 */
import { overdueMillis } from "../../../../machines/contract/Contract.ts"
import { notReceived, refusalReason } from "../../../../machines/venue/venueCalls.ts"
import { advance } from "../../../effects/advance.ts"
import type { TimerHandler } from "../../../engine/timers/Timers.ts"
import { contractVerdict } from "../rfq/contractVerdict.ts"
import { windowElapsed } from "../rfq/rfqDecisions.ts"
import { ownedTurn } from "../../account/ownedTurn.ts"
import { endKnown, type EventParts } from "../rfq/rfqEvents.ts"
import type { VenueHandler } from "../../venue/VenueHandler.ts"
import { contractInTurn, endOf } from "./contractDecisions.ts"

export const contractHandler = (parts: EventParts): VenueHandler => ({
  verdict: (turn, { id, contract = null, ...message }) => {
    const row = contract === null ? undefined : contractInTurn(turn, id)
    if (row === undefined || contract === null) return null
    return contractVerdict({ turn, recall: parts.recall, board: parts.board }, row, contract, message)
  },
  ended: (turn, { id, outcome }) => {
    const row = contractInTurn(turn, id)
    // The contract has ended and left memory, so an outcome that arrives again changes nothing.
    if (row === undefined) return
    const end = outcome.contract === null ? null : endOf(outcome.contract)
    if (end !== null) return endKnown(ownedTurn(turn, parts), row, end)
    const isLost = outcome.outcome !== "REFUSED"
    const reason = isLost ? (outcome.reason ?? notReceived) : refusalReason(outcome)
    advance(turn, "barrierContracts", row, { type: "TEAR_UP_FAILED", reason, isLost })
  },
  reported: (turn, { id }) => contractInTurn(turn, id) !== undefined,
  quoted: null
})

/** The handlers of the timers of requests and contracts. The part of a timer's name after the colon is the object's id. */
export const contractTimers = {
  "rfq.window": (turn, _dueAt, id) => windowElapsed(turn, Number(id)),
  "contract.expirySoon": (turn, _dueAt, id) => {
    const row = contractInTurn(turn, Number(id))
    if (row !== undefined) advance(turn, "barrierContracts", row, { type: "EXPIRY_SOON" })
  },
  "contract.overdue": (turn, _dueAt, id) => {
    const row = contractInTurn(turn, Number(id))
    if (row === undefined) return
    advance(turn, "barrierContracts", row, { type: "OVERDUE", askAgainAt: turn.now + overdueMillis })
  }
} as const satisfies Readonly<Record<string, TimerHandler>>
