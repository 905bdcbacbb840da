/**
 * Checks whether the venue's report of a request for quotes, or of its contract, fits the service's calls. A new contract must
 * fit the request and the accepted quote. An open contract must fit its frozen terms and the call that ends it (A2-115).
 */
import { type RequestedContract, contractMisfit, frozenTerms } from "../../../../machines/venueChecks/contractChecks.ts"
import { requestMisfit } from "../../../../machines/venueChecks/requestChecks.ts"
import { timeMisfit } from "../../../../machines/venue/timeChecks.ts"
import { tearUpRef } from "../../../../machines/contract/Contract.ts"
import { acceptRef, quoteOfRef, type RfqContext } from "../../../../machines/rfq/Rfq.ts"
import { MoneyDecimal, usdcMinor } from "../../../../machines/shared/Money.ts"
import { notReceived } from "../../../../machines/venue/venueCalls.ts"
import type { VenueContract, VenueQuote } from "../../../../machines/venue/venueObjects.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { ContractRow } from "../../../tables/contract.ts"
import type { RfqRow } from "../../../tables/rfq.ts"
import { contractOfRfq } from "../contract/contractDecisions.ts"
import type { Recall } from "../../account/Recall.ts"
import { type ObjectReport, reportsOther } from "../../venue/VenueHandler.ts"
import { judgedOn, type MarketSeen, type Verdict } from "../../venue/verdict.ts"
import type { QuoteBoard } from "./QuoteBoard.ts"

interface Judging {
  readonly turn: Turn
  readonly recall: Recall
  readonly board: QuoteBoard["Service"]
}

/**
 * Checks the venue's report of a request, with the contract that one of its accepts has opened or closed; null if it fits.
 */
export const requestVerdict = (at: Judging, row: RfqRow, report: ObjectReport): Verdict => {
  const verdict = verdictOn(at, row, report)
  return verdict === null || row.closeContractId === null ? verdict : { ...verdict, contractId: row.closeContractId }
}

const verdictOn = (at: Judging, row: RfqRow, report: ObjectReport): Verdict => {
  const { rfq, contract, ref } = report
  const worth = usdcMinor(row.context.accepting?.premium ?? row.context.maxLossAtRequest ?? "0")
  if (reportsOther(report, ["rfq", "contract"])) return { reason: "the message of its ref has no request", worth }
  if (rfq !== null && rfq !== undefined) {
    const reason = requestMisfit(rfq, row.context)
    if (reason !== null) return { reason, worth }
  }
  if (contract === null || contract === undefined) return null
  const { closeContractId } = row
  const quoteId = quoteOfRef(ref)
  const closed = closeContractId === null ? null : at.recall.row(at.turn, "barrierContracts", closeContractId)
  if (closed !== null) return contractVerdict(at, closed, contract, report)
  // The service knows only contracts that its own accepts opened. A contract under another ref is handled elsewhere
  // (`comparisonDecisions.ts`).
  if (closeContractId !== null || quoteId === null) return null
  const opened = openedBy(at, row)
  if (opened !== null) return contractVerdict(at, opened, contract, report)
  return judgedOn(
    at.turn,
    { symbol: row.symbol, at: report.at, of: [`rfq:${row.id}`], isEvent: report.isEvent ?? false },
    (seen) => contractMisfit(contract, requestedTerms(at, row, quoteId, seen)),
    () => worth
  )
}

/** Checks the venue's report of a contract that is stored here against its frozen terms; null if it fits. */
export const contractVerdict = (
  at: Judging,
  row: ContractRow,
  report: VenueContract,
  { at: reportedAt, isEvent = false }: Pick<ObjectReport, "at" | "isEvent">
): Verdict =>
  judgedOn(
    at.turn,
    { symbol: row.symbol, at: reportedAt, of: contractNames(row), isEvent },
    (seen) => contractMisfit(report, frozenIn(at, row, report, seen)),
    () => row.amount
  )

/** The objects whose misfits concern the contract: its request, and the contract itself (tear-ups, requests to close). */
export const contractNames = ({ id, context: { rfqId } }: ContractRow): ReadonlyArray<string> => [
  `rfq:${rfqId}`,
  `barrierContract:${id}`
]

/** The contract that a request has opened, open or ended; null if it has opened none. */
const openedBy = ({ turn, recall }: Judging, { id, context }: RfqRow): ContractRow | null =>
  contractOfRfq(turn, id) ??
  (context.contractId === null ? null : recall.row(turn, "barrierContracts", context.contractId))

/** The terms of a request, in the form with which the venue's contract is compared. */
const requestedTerms = (
  { board }: Judging,
  { id, context }: RfqRow,
  quoteId: number,
  seen: MarketSeen
): RequestedContract => {
  const { accepting, createdAt, quotes } = context
  const inFlight = accepting?.quoteId === quoteId ? accepting : null
  return {
    ...context,
    ...seen,
    ref: acceptRef(id, quoteId),
    accept: acceptOf(context, quoteId),
    sentAt: inFlight?.at ?? createdAt,
    barrier: context.barrierLevel,
    entry: inFlight?.price ?? priceOf(quotesOf(board, id, quotes), quoteId),
    known: null,
    close: null,
    tearUp: null
  }
}

/**
 * Whether the service sent the accept that a contract names. An accept that counts as never received is SENT too, because
 * the venue may still execute it.
 */
const acceptOf = (
  { accepting, acceptedQuoteId, refusedQuotes }: RfqContext,
  quoteId: number
): RequestedContract["accept"] => {
  if (accepting?.quoteId === quoteId || acceptedQuoteId === quoteId) return "SENT"
  const refused = refusedQuotes.find((each) => each.quoteId === quoteId)
  if (refused === undefined) return "NONE"
  return refused.reason === notReceived ? "SENT" : "REFUSED"
}

const quotesOf = (board: QuoteBoard["Service"], rfqId: number, kept: ReadonlyArray<VenueQuote>) => {
  const { quotes } = board.received(rfqId)
  return quotes.length > 0 ? quotes : kept
}

const priceOf = (quotes: ReadonlyArray<VenueQuote>, quoteId: number): string | null =>
  quotes.find(({ id }) => id === quoteId)?.price ?? null

const frozenIn = (at: Judging, row: ContractRow, report: VenueContract, seen: MarketSeen): RequestedContract => {
  const { state, context } = row
  const { contractId, tearing, tearUps, isTearUpLost } = context
  const mayBeTorn = tearing || isTearUpLost || state === "TORN_UP"
  const tearUpCall = at.turn.state.get("venueCalls", tearUpRef(contractId, tearUps))
  return {
    ...frozenTerms(context),
    ...seen,
    close: closingRequest(at, row, report)?.close ?? null,
    tearUp: mayBeTorn ? { sentAt: isTearUpLost ? null : (tearUpCall?.at ?? null) } : null
  }
}

interface ClosingRequest {
  readonly row: RfqRow
  /** The accept of the closing quote, if the venue may execute it; null if there was none or the venue refused it. */
  readonly close: RequestedContract["close"]
}

/**
 * The request to close whose accept has ended the contract early: the last request if its accept fits, else an earlier
 * one that fits. An earlier accept that counts as never received may still be executed. Null: there was no request to
 * close.
 */
export const closingRequest = (
  at: Judging,
  { id, symbol, context: { closeRfqId } }: ContractRow,
  { state, settlePrice, endedAt }: Pick<VenueContract, "state" | "settlePrice" | "endedAt">
): ClosingRequest | null => {
  const { turn, recall } = at
  if (state !== "EARLY_CLOSE" || closeRfqId === null) return null
  const isOf = ({ row, close }: ClosingRequest): boolean =>
    row.closeContractId === id &&
    close !== null &&
    (close.price === null || settlePrice === null || new MoneyDecimal(close.price).eq(settlePrice)) &&
    timeMisfit({ called: "its end", at: endedAt ?? turn.now, sentAt: close.sentAt }, turn.facts.venueTime) === null
  const last = recall.row(turn, "rfqs", closeRfqId)
  const newest = last === null ? null : closeOf(at, last)
  if (newest !== null && isOf(newest)) return newest
  const stored = recall.since(turn, "rfqs", { symbol, close_contract_id: String(id) }, {}, (row) => row)
  // The rows of this turn replace the stored ones, because they are newer.
  const rows = new Map([...stored, ...turn.draft.written("rfqs")].map((row) => [row.id, row]))
  const earlier = [...rows.values()].map((row) => closeOf(at, row))
  return earlier.find(isOf) ?? newest
}

/**
 * A request to close with the accept that the venue may execute. An accept that counts as never received may still be
 * executed; a refused one may not.
 */
const closeOf = ({ board }: Judging, row: RfqRow): ClosingRequest => {
  const { accepting, acceptedQuoteId, refusedQuotes, quotes } = row.context
  if (accepting !== null) return { row, close: { price: accepting.price, sentAt: accepting.at } }
  const given = refusedQuotes.filter(({ reason }) => reason === notReceived)
  const last = acceptedQuoteId ?? given.at(-1)?.quoteId
  if (last === undefined) return { row, close: null }
  const price = given.length > 1 ? null : priceOf(quotesOf(board, row.id, quotes), last)
  return { row, close: { price, sentAt: row.createdAt } }
}
