/** Requests for quotes as literal rows (D4). */
import { rowsOf } from "./TransitionRow.ts"
import type { RfqEvent } from "../../../src/machines/rfq/Rfq.ts"
import {
  acceptSample as accept,
  closeRfqInput,
  executedSample as executed,
  openRfqInput
} from "../../../src/machines/rfq/rfqSamples.ts"

const row = rowsOf<RfqEvent>(openRfqInput)
const ofClose = rowsOf<RfqEvent>(closeRfqInput)

const confirmed: RfqEvent = { type: "CONFIRMED", at: 5, venueRfqId: 70 }
const unanswered: RfqEvent = { type: "UNANSWERED", at: 5 }
const refused: RfqEvent = { type: "REFUSED", at: 6, reason: "market halted" }
const acceptRefused: RfqEvent = { type: "ACCEPT_REFUSED", at: 25, quoteId: 7, reason: "quote not live" }
const refusedLate: RfqEvent = { ...acceptRefused, at: 60_000 }
const cancel: RfqEvent = { type: "CANCEL", at: 40, attempt: 1 }
const again: RfqEvent = { type: "CANCEL", at: 41, attempt: 2 }
const drop: RfqEvent = { type: "DROP", at: 50, reason: "The account is restricted.", attempt: 1 }
const contractEnded: RfqEvent = { type: "CONTRACT_ENDED", at: 50, quotes: [], note: "The quote has expired." }
const notWithdrawn: RfqEvent = { type: "NOT_WITHDRAWN" }
const elapsed: RfqEvent = { type: "WINDOW_ELAPSED", at: 60_000 }
const found: RfqEvent = { type: "FOUND", at: 60_001, venueRfqId: 70, attempt: 2 }
const ended = (how: "CANCELLED" | "EXPIRED" | "REJECTED", reason: string | null = null): RfqEvent => ({
  type: "VENUE_ENDED",
  at: 60_000,
  how,
  reason,
  quotes: [],
  note: null
})

const noWindow = "timer.clear rfq.window:1"
const withdraw = "venue.call cancelRequest"
const open = [confirmed]
const inFlight = [confirmed, accept]

/** Reports on a request that ended here before the venue reported its end. */
function afterEnd(state: "CANCELLED" | "EXPIRED", given: ReadonlyArray<RfqEvent>, next: RfqEvent) {
  return [
    row(`D4: ${state}, the venue follows`, state, given, ended("EXPIRED"), state, [], { venueOpen: false }),
    row(`D4: ${state}, withdrawn once more`, state, given, next, state, [withdraw])
  ]
}

export const rfqRows = [
  row("D4: CREATING, the venue takes it", "CREATING", [], confirmed, "OPEN", [], { venueRfqId: 70 }),
  row("D4: CREATING, no answer, OPEN pending poll", "CREATING", [], unanswered, "OPEN", [], { venueRfqId: null }),
  row("D4: CREATING, refused", "CREATING", [], refused, "REJECTED", [noWindow, "audit rfq.reject"], {
    rejectReason: "market halted",
    venueOpen: false
  }),
  row("D4: CREATING, executed before its answer came", "CREATING", [], executed, "ACCEPTED", [
    noWindow,
    "audit rfq.accepted"
  ]),
  row("D4: CREATING, a rule ends it and withdraws it", "CREATING", [], drop, "CANCELLED", [
    withdraw,
    noWindow,
    "audit rfq.drop"
  ]),
  ofClose("D4: CREATING, its contract has ended", "CREATING", [], contractEnded, "CANCELLED", [
    "timer.clear rfq.window:2",
    "audit rfq.cancel"
  ]),
  row(
    "D4: CREATING, the window elapses meanwhile",
    "CREATING",
    [],
    elapsed,
    "EXPIRED",
    [noWindow, "notify RFQ_EXPIRED", "audit rfq.expire"],
    { venueOpen: true }
  ),
  row("D4: CREATING, cancelled at the venue", "CREATING", [], ended("CANCELLED"), "CANCELLED", [
    noWindow,
    "audit rfq.cancel"
  ]),
  row("D4: CREATING, expired at the venue", "CREATING", [], ended("EXPIRED"), "EXPIRED", [
    noWindow,
    "notify RFQ_EXPIRED",
    "audit rfq.expire"
  ]),
  row(
    "D4: CREATING, rejected at the venue",
    "CREATING",
    [],
    ended("REJECTED", "delisted"),
    "REJECTED",
    [noWindow, "audit rfq.reject"],
    { rejectReason: "delisted" }
  ),
  row("D4: CREATING, nothing to accept yet", "CREATING", [], accept, "refused"),
  row("D4: OPEN pending poll, found", "OPEN", [unanswered], confirmed, "OPEN", [], { venueRfqId: 70 }),
  row("D4: OPEN pending poll, not found", "OPEN", [unanswered], refused, "REJECTED", [noWindow, "audit rfq.reject"]),
  row("D4: OPEN pending poll, no quote can be accepted", "OPEN", [unanswered], accept, "refused"),
  row("D4: OPEN, confirmed once more", "OPEN", open, confirmed, "refused"),
  row("D4: OPEN, a refusal of what is confirmed", "OPEN", open, refused, "refused"),
  row("D4: OPEN, accept", "OPEN", open, accept, "OPEN", ["venue.call acceptQuote", "audit rfq.accept"], {
    accepting: {
      quoteId: 7,
      price: "60010.0",
      premium: "28.595000",
      commission: "0.120020",
      at: 20,
      by: "partner:ACME"
    }
  }),
  row("A2-27: OPEN accepting, a second accept", "OPEN", inFlight, accept, "refused"),
  row("D4: OPEN cancelling, accept", "OPEN", [confirmed, cancel], accept, "refused"),
  row("F18: OPEN, a quote whose accept was refused", "OPEN", [...inFlight, acceptRefused], accept, "refused"),
  row("D4: OPEN accepting, refused", "OPEN", inFlight, acceptRefused, "OPEN", ["audit rfq.acceptRefused"], {
    accepting: null,
    autoAcceptNote: "quote not live",
    refusedQuotes: [{ quoteId: 7, reason: "quote not live" }]
  }),
  row("A2-26: OPEN accepting, refused after the window", "OPEN", inFlight, refusedLate, "EXPIRED", [
    "audit rfq.acceptRefused",
    noWindow,
    "notify RFQ_EXPIRED",
    "audit rfq.expire"
  ]),
  row("D4: OPEN, a refusal of no accept", "OPEN", open, acceptRefused, "refused"),
  row("D4: OPEN accepting, executed", "OPEN", inFlight, executed, "ACCEPTED", [noWindow, "audit rfq.accepted"], {
    accepting: null,
    acceptedQuoteId: 7,
    contractId: 5,
    entryPrice: "60010.0",
    venueOpen: false
  }),
  row("D4: OPEN cancelling, executed", "OPEN", [confirmed, cancel], executed, "ACCEPTED", [
    noWindow,
    "audit rfq.accepted"
  ]),
  row("D4: OPEN accepting, cancel", "OPEN", inFlight, cancel, "refused"),
  row("D4: OPEN accepting, the window elapses", "OPEN", inFlight, elapsed, "refused"),
  row("D4: OPEN accepting, a rule would end it", "OPEN", inFlight, drop, "refused"),
  row("D4: OPEN accepting, ended at the venue", "OPEN", inFlight, ended("EXPIRED"), "refused"),
  row("D4: OPEN, cancel", "OPEN", open, cancel, "OPEN", [withdraw, "audit rfq.withdraw"], {
    cancelling: { attempt: 1 },
    withdrawals: 1
  }),
  row("D4: OPEN cancelling, repeated", "OPEN", [confirmed, cancel], again, "OPEN", [withdraw, "audit rfq.withdraw"], {
    cancelling: { attempt: 2 }
  }),
  row("D4: OPEN cancelling, the same withdrawal", "OPEN", [confirmed, cancel], cancel, "refused"),
  row(
    "D4: OPEN cancelling, confirmed",
    "OPEN",
    [confirmed, cancel],
    ended("CANCELLED"),
    "CANCELLED",
    [noWindow, "audit rfq.cancel"],
    { venueOpen: false }
  ),
  row("D4: OPEN cancelling, not withdrawn", "OPEN", [confirmed, cancel], notWithdrawn, "OPEN", [], {
    cancelling: null
  }),
  row("D4: OPEN, no withdrawal has ended", "OPEN", open, notWithdrawn, "refused"),
  row("D4: OPEN cancelling, the window elapses", "OPEN", [confirmed, cancel], elapsed, "EXPIRED", [
    noWindow,
    "notify RFQ_EXPIRED",
    "audit rfq.expire"
  ]),
  row("D4: OPEN, the window elapses", "OPEN", open, elapsed, "EXPIRED", [
    noWindow,
    "notify RFQ_EXPIRED",
    "audit rfq.expire"
  ]),
  row("D4: OPEN, expired at the venue", "OPEN", open, ended("EXPIRED"), "EXPIRED", [
    noWindow,
    "notify RFQ_EXPIRED",
    "audit rfq.expire"
  ]),
  row("D4: OPEN, rejected at the venue", "OPEN", open, ended("REJECTED", "delisted"), "REJECTED", [
    noWindow,
    "audit rfq.reject"
  ]),
  row("A2-101: OPEN, a rule ends it", "OPEN", open, drop, "CANCELLED", [withdraw, noWindow, "audit rfq.drop"], {
    rejectReason: "The account is restricted."
  }),
  ofClose(
    "F19: OPEN accepting, its contract has ended",
    "OPEN",
    inFlight,
    contractEnded,
    "CANCELLED",
    ["timer.clear rfq.window:2", "audit rfq.cancel"],
    { rejectReason: "contract ended", autoAcceptNote: "The quote has expired." }
  ),
  ...afterEnd("CANCELLED", [confirmed, drop], again),
  ...afterEnd("EXPIRED", [confirmed, elapsed], cancel),
  row("D4: CANCELLED, executed late", "CANCELLED", [drop], executed, "ACCEPTED", ["audit rfq.lateExecution"]),
  row("D4: CANCELLED, withdrawn before it came", "CANCELLED", [drop], notWithdrawn, "CANCELLED", [], {
    cancelling: null
  }),
  row(
    "D4: CANCELLED, found open",
    "CANCELLED",
    [drop, notWithdrawn],
    found,
    "CANCELLED",
    [withdraw, "audit rfq.lateRequest"],
    { venueRfqId: 70, cancelling: { attempt: 2 } }
  ),
  row("D4: CANCELLED, never came", "CANCELLED", [drop], refused, "CANCELLED", [], { venueOpen: false }),
  ofClose(
    "F19: CANCELLED with its contract, the accept refused",
    "CANCELLED",
    [...inFlight, contractEnded],
    acceptRefused,
    "CANCELLED",
    [],
    { accepting: null }
  ),
  row("D4: EXPIRED, executed late", "EXPIRED", [elapsed], executed, "ACCEPTED", ["audit rfq.lateExecution"]),
  row("D4: EXPIRED, its withdrawal came before it", "EXPIRED", [unanswered, cancel, elapsed], notWithdrawn, "EXPIRED"),
  row("D4: EXPIRED, found open", "EXPIRED", [elapsed], found, "EXPIRED", [withdraw, "audit rfq.lateRequest"]),
  row("D4: EXPIRED, never came", "EXPIRED", [elapsed], refused, "EXPIRED", [], { venueOpen: false }),
  row("D4: EXPIRED, confirmed before, open there", "EXPIRED", [confirmed, elapsed], found, "refused"),
  row("D4: REJECTED, executed late", "REJECTED", [refused], executed, "ACCEPTED", ["audit rfq.lateExecution"]),
  row("D4: REJECTED, found open", "REJECTED", [refused], found, "REJECTED", [withdraw, "audit rfq.lateRequest"], {
    venueOpen: true
  }),
  row("D4: REJECTED and found, withdrawn there", "REJECTED", [refused, found], ended("CANCELLED"), "REJECTED", [], {
    venueOpen: false,
    rejectReason: "market halted"
  }),
  row(
    "D4: REJECTED and found, the withdrawal repeated",
    "REJECTED",
    [refused, found],
    { ...again, attempt: 3 },
    "REJECTED",
    [withdraw]
  ),
  row("D4: REJECTED and found, gone after all", "REJECTED", [refused, found], refused, "REJECTED", [], {
    venueOpen: false
  }),
  row("D4: REJECTED and found, the withdrawal was first", "REJECTED", [refused, found], notWithdrawn, "REJECTED"),
  row("D4: REJECTED, the end again", "REJECTED", [refused], ended("REJECTED"), "refused"),
  row("D4: ACCEPTED, executed once more", "ACCEPTED", [...inFlight, executed], executed, "refused")
]
