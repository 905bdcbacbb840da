/**
 * Tokens for the reason of a refusal. A refusal has `data.reason` exactly when its code has more than one reason. The
 * exception is code 5020 without data, where the service did nothing. A token keeps its name and its meaning; new tokens may
 * be added. The published description and the guide on errors list the tokens for partners; operatorReasons.ts lists those
 * for operators only (doc 1, Envelope: data is machine facts).
 */
import { operatorReasons } from "./operatorReasons.ts"

/** Reasons with the same HTTP status and code, each with its meaning as a sentence. */
export interface ReasonGroup {
  /** The HTTP status and the code of each answer that may carry these reasons. */
  readonly answers: ReadonlyArray<readonly [status: number, code: number]>
  readonly reasons: Readonly<Record<string, string>>
}

/** 400 4000: faults of the request itself. */
const ofRequest = {
  INVALID_HTTP: "The target, the framing or a header of the request is not sound HTTP.",
  INVALID_BODY: "The body is no JSON object, or is nested too deep or has too many members and entries.",
  INVALID_FIELDS: "Fields of the body break their rules: data.errors names them.",
  INVALID_PARAMETERS: "Parameters of the path or the query break their rules: data.errors names them.",
  INVALID_IDEMPOTENCY_KEY: "The Idempotency-Key was sent twice, or is no 1 to 128 printable ASCII characters.",
  BODY_INCOMPLETE: "The body ended before the length that its headers promised.",
  AMOUNT_TOO_LARGE: "With the amount a balance or a reserve would exceed the largest amount.",
  STATEMENT_TOO_LARGE: "The statement would have more rows than one may have: request a shorter period.",
  NO_WARNING: "There is no warning of the appropriateness test to acknowledge."
} as const

/** 400 4000: market, money and position at the time of the check. */
const ofTrading = {
  ACCOUNT_UNDER_REVIEW: "The client is not ACTIVE yet or any more, so it may open nothing.",
  PARTNER_NOT_ACTIVE: "The partner is being closed or suspended, so its clients may open nothing.",
  IN_CLOSE_OUT: "The account is being closed out: positions can only be reduced.",
  NO_NEW_RISK: "The account is restricted from opening positions.",
  VERIFICATION_MISSING: "A preview: the order itself would be refused with 403 code 4030.",
  MARKET_HALTED: "Trading in the market is halted; the sentence has the message of the halt.",
  MARKET_DELISTED: "The market is delisted: nothing new can be opened in it.",
  MARKET_DISABLED: "The market takes nothing at the moment, and may again.",
  MARKET_NOT_PRICED: "The market itself has no live price at the moment: try again shortly.",
  NO_REFERENCE_PRICE: "The market offers no price that the order could be judged at.",
  INSUFFICIENT_BALANCE: "The free balance in the currency does not cover the requested amount.",
  BELOW_MINIMUM: "It is worth less, or is for less, than the market's or the offer's minimum.",
  ABOVE_MAXIMUM: "It is for more than the market takes or the offer has left.",
  OFF_STEP: "The quantity is no multiple of the market's step.",
  ORDER_TOO_LARGE: "The order's value could exceed the largest amount.",
  WOULD_TRIGGER_AT_ONCE: "The condition of the trigger holds already.",
  TAKE_PROFIT_MISPLACED: "The take profit is on the wrong side of the price, or too far from it.",
  STOP_LOSS_MISPLACED: "The stop loss is on the wrong side of the price.",
  OCO_GROUP_FULL: "The OCO group has as many members as one may have.",
  OCO_GROUP_FIRED: "A member of the OCO group has been filled: nothing can join it.",
  NOTHING_TO_REDUCE: "There is no position that the reduce-only order could reduce.",
  EXCEEDS_POSITION: "The reduce-only order is larger than the position.",
  LIMIT_BEYOND_BOUND: "The limit of an order that only reduces lies further from the price than it may.",
  PRICE_OUTSIDE_BAND:
    "A price lies further from the mark, the trigger or the attached level than the venue's band allows.",
  TOO_MANY_ORDERS: "The client has as many working orders as it may have.",
  TOO_MANY_REQUESTS_OPEN: "The client has as many open requests for quotes as it may have.",
  TOO_MANY_CONTRACTS: "The client has as many open contracts as it may have.",
  TOO_MANY_SWAPS: "The client has as many open swaps as it may have.",
  LEVERAGE_TOO_HIGH: "The leverage is above what the market allows, for a contract because its barrier is too near.",
  BARRIER_MISPLACED: "The barrier is on the wrong side of the price.",
  BARRIER_TOO_NEAR: "The barrier is less than 0.1 percent away from the price.",
  CONTRACT_NOT_OPEN: "The contract has ended, or was never opened.",
  CONTRACT_EXPIRED: "The requested expiry has passed.",
  CLOSE_REQUEST_OPEN: "A request to close the contract is open already: data.rfqId names it.",
  REQUEST_NOT_OPEN: "The request for quotes has ended.",
  REQUEST_NOT_CONFIRMED: "The venue has not confirmed the request for quotes yet.",
  ACCEPT_IN_FLIGHT: "An accept of the request for quotes has no answer yet.",
  CANCEL_IN_FLIGHT: "A cancel of the request for quotes has no answer yet.",
  QUOTE_EXPIRED: "The quote's validity has passed.",
  QUOTE_WITHDRAWN: "The dealer has taken the quote back.",
  QUOTE_ACCEPTED: "The quote was accepted before.",
  QUOTE_SUPERSEDED: "A later quote has taken the place of the quote.",
  QUOTE_REFUSED: "The venue has refused to execute the quote; the sentence has its words.",
  QUOTE_TOO_SMALL: "The quote is for less than the requested quantity.",
  QUOTE_OVER_BUDGET: "The premium at the quote exceeds the budget of the request.",
  QUOTE_BEYOND_LEVEL: "The quote's price is at or beyond the barrier or the take profit of the contract.",
  ORDER_ENDED: "The order is over: there is nothing to cancel.",
  ORDER_OF_CLOSE_OUT: "The order closes the account out: it can't be cancelled.",
  REFUSED_BY_VENUE: "The venue has refused it; the sentence, or data.rejectReason, has its words."
} as const

/** 400 4000 for a request; 409 4092 for a filed or reported object that can't be applied. */
const ofMoney = {
  ACCOUNT_FROZEN: "The account is frozen: money can be neither deposited nor withdrawn.",
  WITHDRAWALS_RESTRICTED: "Withdrawals are restricted on the account.",
  MARGIN_SHORT: "The account is in a margin call or a close-out, or its margin is needed for open positions.",
  INSUFFICIENT_FREE_MARGIN: "It takes more than the free margin of the account.",
  PRICES_STALE: "A market that the account is in has no live price: the account can't be judged, try again shortly."
} as const

/** The reasons of 404 4004: one for each kind of object. */
const ofUnknown = {
  UNKNOWN_ROUTE: "The route does not exist, or does not take the method.",
  UNKNOWN_CLIENT: "The partner has no such client.",
  UNKNOWN_KYC_PACKAGE: "The client has no KYC package.",
  UNKNOWN_DOCUMENT: "The client has no such document.",
  UNKNOWN_DEPOSIT_NOTICE: "The partner has no such deposit notice.",
  UNKNOWN_WITHDRAWAL_REQUEST: "The partner has no such withdrawal request.",
  UNKNOWN_SETTLEMENT_ITEM: "The partner has no such settlement item.",
  UNKNOWN_WEBHOOK: "The partner has registered no webhook.",
  UNKNOWN_REQUEST: "The client has no such request for quotes.",
  UNKNOWN_QUOTE: "The request has no such quote, or it was withdrawn.",
  UNKNOWN_CONTRACT: "The client has no such contract.",
  UNKNOWN_ORDER: "The client has no such order.",
  UNKNOWN_SWAP: "The client has no such swap.",
  UNKNOWN_OFFER: "There is no such offer on the board.",
  UNKNOWN_STATEMENT: "The client has no such statement.",
  MARKET_NOT_OFFERED: "There is no such market, or none of the family that the route is for.",
  OFFER_GONE: "The offer has left the board since it was read."
} as const

/** 409 4090: conflicts of e-mail or margin. */
const ofClash = {
  EMAIL_IN_USE: "The e-mail address is used by an open account.",
  WOULD_BREACH_MARGIN: "The leverage needs more margin than the account has, and force was not sent."
} as const

/** 409 4092: the present state of an object does not allow the request. */
const ofState = {
  IDEMPOTENCY_KEY_REUSED: "The Idempotency-Key was used for another request.",
  IN_PROGRESS: "The request with the same Idempotency-Key has no answer yet.",
  REFERENCE_REUSED: "The partnerRef or partnerClientRef was used for another client.",
  REONBOARD: "The partnerClientRef names a client whose reliance was rejected: data.reonboardWith is the route for it.",
  ACCOUNT_CLOSED: "The client's account is closed.",
  CLIENT_REFUSED: "The client was refused for good: its KYC can't be revised.",
  STALE_VERSION: "The questionnaire has another version by now: data.currentVersion.",
  APPROVED_ALREADY: "The block was approved before, so it takes no further answer.",
  ACKNOWLEDGED_ALREADY: "The warning was acknowledged before.",
  TOO_MANY_DOCUMENTS: "The client has as many live documents as it may have.",
  DECIDED_ALREADY: "The notice or request was decided before, so it can't be taken back.",
  BROKER_CUSTODY: "The route is for PARTNER custody, and the partner is under BROKER custody.",
  PARTNER_CUSTODY: "The route is for BROKER custody, and the partner is under PARTNER custody.",
  COLLATERAL_REFUSED: "The report was refused by a rule that is no longer in force: data.refusal has its sentence.",
  EXCEEDS_COLLATERAL: "The withdrawal exceeds the client's collateral on the books.",
  SETTLED_ALREADY: "The item is settled, so it can't be reported as failed: data.item shows it.",
  WEBHOOK_INACTIVE: "The webhook is not active: register it again first."
} as const

/** 429 4290: too many requests or builds. */
const ofPace = {
  RATE_LIMITED: "The requests of this minute are used up.",
  RETAKE_TOO_EARLY: "The cooling period after the last attempt at the test is not over: data.retakeAt.",
  TOO_MANY_STATEMENTS: "The client has had as many statements made within an hour as it may have."
} as const

/** 502 5020: failures of venue calls; without data when the service did nothing. */
const ofVenue = {
  OUTCOME_PENDING:
    "The request is in flight at the venue and is resolved by itself: read its state before you send another.",
  VENUE_NOT_REACHED:
    "The venue was not reached and nothing was executed: send the request again under a new Idempotency-Key."
} as const

/** 503 5030: the service itself. */
const ofService = {
  UNAVAILABLE: "The service has no room for the request now, or its database is away.",
  NO_VENUE: "No venue is attached to the service, so it has no markets."
} as const

/** The reasons for partners, by status and code in the order of the registry. */
export const partnerReasons = [
  { answers: [[400, 4000]], reasons: { ...ofRequest, ...ofTrading } },
  {
    answers: [
      [400, 4000],
      [409, 4092]
    ],
    reasons: ofMoney
  },
  { answers: [[408, 4000]], reasons: { TOO_SLOW: "The request took too long to arrive." } },
  {
    answers: [[413, 4000]],
    reasons: { BODY_TOO_LARGE: "The body, or the file in it, is larger than the route takes." }
  },
  { answers: [[404, 4004]], reasons: ofUnknown },
  { answers: [[409, 4090]], reasons: ofClash },
  { answers: [[409, 4092]], reasons: ofState },
  { answers: [[429, 4290]], reasons: ofPace },
  { answers: [[502, 5020]], reasons: ofVenue },
  { answers: [[503, 5030]], reasons: ofService }
] as const satisfies ReadonlyArray<ReasonGroup>

type KeysOf<Group> = Group extends { readonly reasons: infer Reasons } ? keyof Reasons : never
/** A token for the reason of a refusal, whether for partners or for operators only. */
export type Reason = KeysOf<(typeof partnerReasons)[number] | (typeof operatorReasons)[number]>

/** The tokens that partners may receive with a status, in the order of the registry; with `code`, only those of that code. */
export const reasonsOf = (status: number, code?: number): ReadonlyArray<Reason> =>
  partnerReasons.flatMap(({ answers, reasons }) =>
    (answers as ReasonGroup["answers"]).some(([of, each]) => of === status && (code === undefined || each === code))
      ? (Object.keys(reasons) as Array<Reason>)
      : []
  )

/** The reasons for partners and operators. */
export const reasonGroups: ReadonlyArray<ReasonGroup> = [...partnerReasons, ...operatorReasons]

export const meaningOf: Readonly<Record<Reason, string>> = Object.assign(
  {},
  ...reasonGroups.map(({ reasons }) => reasons)
)

/** Reason tokens by the missing object, as the sentence names it. */
export const unknownReasons = {
  Client: "UNKNOWN_CLIENT",
  "KYC package": "UNKNOWN_KYC_PACKAGE",
  Document: "UNKNOWN_DOCUMENT",
  "Deposit notice": "UNKNOWN_DEPOSIT_NOTICE",
  "Withdrawal request": "UNKNOWN_WITHDRAWAL_REQUEST",
  "Settlement item": "UNKNOWN_SETTLEMENT_ITEM",
  Webhook: "UNKNOWN_WEBHOOK",
  Request: "UNKNOWN_REQUEST",
  Quote: "UNKNOWN_QUOTE",
  Contract: "UNKNOWN_CONTRACT",
  Order: "UNKNOWN_ORDER",
  Swap: "UNKNOWN_SWAP",
  Offer: "UNKNOWN_OFFER",
  Statement: "UNKNOWN_STATEMENT",
  Partner: "UNKNOWN_PARTNER",
  "Partner or client": "UNKNOWN_SCOPE",
  Key: "UNKNOWN_KEY",
  "Operator key": "UNKNOWN_OPERATOR_KEY",
  Approval: "UNKNOWN_APPROVAL",
  Case: "UNKNOWN_CASE",
  "Close-out": "UNKNOWN_CLOSE_OUT",
  Delivery: "UNKNOWN_DELIVERY",
  Import: "UNKNOWN_IMPORT",
  "Watch list entry": "UNKNOWN_ENTRY",
  Machine: "UNKNOWN_MACHINE",
  Object: "UNKNOWN_OBJECT",
  State: "UNKNOWN_STATE",
  Market: "UNKNOWN_MARKET",
  "Quarantined event": "UNKNOWN_EVENT",
  "Reconciliation break": "UNKNOWN_BREAK",
  Page: "UNKNOWN_PAGE"
} as const satisfies Readonly<Record<string, Reason>>

export type Noun = keyof typeof unknownReasons
