/** Responses to requests for quotes and accepts, once their outcome is known (doc 2, RFQ; A2-26). */
import type { JsonObject } from "../../../../machines/shared/Json.ts"
import type { AcceptWire } from "../../../../machines/rfq/RfqWire.ts"
import {
  accept,
  type Refusal,
  refuse,
  unknown,
  venueNotReached,
  type Verdict
} from "../../../../machines/shared/Refusal.ts"
import { notReceived } from "../../../../machines/venue/venueCalls.ts"
import { invalidWhole } from "../../../../machines/shared/RequestBody.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { RfqRow } from "../../../tables/rfq.ts"
import { contractInTurn } from "../contract/contractDecisions.ts"
import { rfqInTurn } from "./rfqDecisions.ts"
import { refusedSentence, standing, standingReasons, standsAgainst } from "./rfqFacts.ts"
import { acceptWire } from "./rfqView.ts"

export const noRequest = unknown("Request")
export const noQuote = unknown("Quote")
export const noClient = unknown("Client")
/**
 * The refusal of an accept or cancel after the request has ended. A request that the turn does not hold has ended since the
 * lookup.
 */
export const notOpen = invalidWhole("REQUEST_NOT_OPEN", standing.ended)
/** The answer (502) while the outcome of the call is unknown. `data` names the object that was made. */
export const inFlight = (data: JsonObject): Refusal => ({
  _tag: "VenueAway",
  reason: "OUTCOME_PENDING",
  sentence: "The venue has not answered yet: what was asked is in flight and is resolved by itself.",
  data
})
/** The refusal of every accept and cancel in the request's present state; null if the state allows them. */
export const standingRefusal = (row: RfqRow): Refusal | null => {
  const stands = standsAgainst(row)
  return stands === null ? null : invalidWhole(standingReasons[stands], stands)
}
export const notConfirmed = invalidWhole("REQUEST_NOT_CONFIRMED", "The venue has not confirmed the request yet.")
/** The response to an accept that was not executed, by the reason that the request's row stores for the quote. */
export const acceptRefused = ({ id: rfqId, state }: RfqRow, quoteId: number, why: string): Refusal =>
  why === notReceived
    ? venueNotReached({ rfqId, quoteId, state, accepting: false })
    : invalidWhole("QUOTE_REFUSED", refusedSentence(why))

/** The answer to a request for quotes that the venue refused or never received. */
export const rejected = ({ id: rfqId, closeContractId, context: { rejectReason } }: RfqRow): Refusal => {
  if (rejectReason === notReceived) {
    const closes = closeContractId === null ? {} : { contractId: closeContractId }
    return venueNotReached({ rfqId, ...closes, state: "REJECTED" })
  }
  return {
    _tag: "Invalid",
    reason: "REFUSED_BY_VENUE",
    sentence: `The venue has refused the request: ${rejectReason ?? "no reason was given"}.`,
    errors: null,
    data: { rfqId, state: "REJECTED", rejectReason }
  }
}

/** The answer to an accept whose outcome is known; null while it is not. */
export const acceptedIn = (turn: Turn, rfqId: number, quoteId: number): Verdict<AcceptWire> | null => {
  const row = rfqInTurn(turn, rfqId)
  if (row === undefined) return null
  const { acceptedQuoteId, contractId, refusedQuotes } = row.context
  const contract = contractId === null ? undefined : contractInTurn(turn, contractId)
  if (acceptedQuoteId === quoteId && contract !== undefined) return accept(acceptWire(row, contract))
  const why = refusedQuotes.find((refused) => refused.quoteId === quoteId)?.reason
  return why === undefined ? null : refuse(acceptRefused(row, quoteId, why))
}
