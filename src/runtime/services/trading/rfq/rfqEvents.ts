/**
 * Applies the venue's reports to requests for quotes, in their client's turn: outcomes of calls, and reports of
 * requests and of the contracts that their accepts opened. A late execution is booked with an alarm. A report that does
 * not fit the accepted terms is not booked (`contractVerdict.ts`; A2-22, A2-111, D4, D5, F13, F19).
 */
import { spendableOf } from "../../../../machines/margin/accountRisk.ts"
import { refusalReason } from "../../../../machines/venue/venueCalls.ts"
import { settledPnl } from "../../../../machines/contract/contractFigures.ts"
import { quoteOfRef, requestRef } from "../../../../machines/rfq/Rfq.ts"
import { formatAmount, MoneyDecimal } from "../../../../machines/shared/Money.ts"
import type { VenueContract, VenueQuote, VenueRfq } from "../../../../machines/venue/venueObjects.ts"
import { advance } from "../../../effects/advance.ts"
import type { ObjectName, OwnedTurn } from "../../../effects/Instance.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import { oneInTurn } from "../../../engine/mailbox/turnRows.ts"
import type { ContractRow } from "../../../tables/contract.ts"
import type { RfqRow } from "../../../tables/rfq.ts"
import { accountInTurn } from "../../account/accountNow.ts"
import {
  contractOfRfq,
  endContract,
  type EndFound,
  endOf,
  executedFigures,
  openContract
} from "../contract/contractDecisions.ts"
import { termsOf } from "../../account/contractHoldings.ts"
import { ownedTurn } from "../../account/ownedTurn.ts"
import type { Directory } from "../../partners/Directory.ts"
import { breakOfClient } from "../../money/breaks/clientBreaks.ts"
import type { Recall } from "../../account/Recall.ts"
import type { DefiniteOutcome, VenueHandler } from "../../venue/VenueHandler.ts"
import { closingRequest, contractVerdict, requestVerdict } from "./contractVerdict.ts"
import type { QuoteBoard } from "./QuoteBoard.ts"
import { cancelCloseRequests, isOpen } from "./rfqDecisions.ts"

/** A client's turn that can load ended requests and contracts which have left memory. */
export interface HandlerTurn extends OwnedTurn {
  readonly recall: Recall
  readonly board: QuoteBoard["Service"]
}

export interface EventParts {
  readonly directory: Directory["Service"]
  readonly recall: Recall
  readonly board: QuoteBoard["Service"]
}

export const rfqHandler = (parts: EventParts): VenueHandler => ({
  verdict: (turn, report) => {
    const at = { turn, recall: parts.recall, board: parts.board }
    const { id, rfq = null, contract = null } = report
    const known = rfq === null || rfq.state === "ACCEPTED" ? contractOfRfq(turn, id) : undefined
    // The check needs only the contract, which is in memory. The request may have left memory.
    if (known !== undefined) return contract === null ? null : contractVerdict(at, known, contract, report)
    const row = parts.recall.row(turn, "rfqs", id)
    return row === null ? null : requestVerdict(at, row, report)
  },
  ended: (turn, { id, outcome }) => {
    const row = parts.recall.row(turn, "rfqs", id)
    if (row === null) return
    const { ref } = outcome
    const quoteId = quoteOfRef(ref)
    const at = { turn, board: parts.board }
    if (ref === requestRef(id)) onRequestResult(at, row, outcome)
    else if (quoteId === null) onWithdrawResult(at, row, outcome)
    else onAcceptResult(ownedTurn(turn, parts), row, quoteId, outcome)
  },
  reported: (turn, { id, fact }) => {
    if (fact.type === "contract") return onContractReport(ownedTurn(turn, parts), id, fact.contract)
    // The contract is booked, so the request, which has left memory, need not be loaded.
    if (fact.type === "rfq" && fact.rfq.state === "ACCEPTED" && contractOfRfq(turn, id) !== undefined) return true
    const row = parts.recall.row(turn, "rfqs", id)
    if (row === null) return false
    if (fact.type === "rfq") onRfqState({ turn, board: parts.board }, row, fact.rfq)
    return true
  },
  quoted: ({ id, quote }) => parts.board.receive(id, quote)
})

/** The turn, and the board with the received quotes. */
type QuoteTurn = Pick<HandlerTurn, "turn" | "board">

/** The received quotes of a request. The commit of its end stores them if the venue's report has none. */
const quotesOf = ({ board }: QuoteTurn, { id }: RfqRow): ReadonlyArray<VenueQuote> => board.received(id).quotes

const onRequestResult = (at: QuoteTurn, row: RfqRow, { outcome, reason, rfq }: DefiniteOutcome): void => {
  const { turn } = at
  if (outcome === "EXECUTED") {
    if (rfq !== null) onRfqState(at, row, rfq)
    return
  }
  advance(turn, "rfqs", row, { type: "REFUSED", at: turn.now, reason: refusalReason({ outcome, reason }) })
}

/** Applies the venue's state of a request: confirmed, open there after its end here, or ended. */
const onRfqState = (
  { turn, board }: QuoteTurn,
  row: RfqRow,
  { id: venueRfqId, state, reason, quotes }: VenueRfq
): void => {
  const at = turn.now
  if (!isOpen(row) && state === "OPEN") {
    const attempt = row.context.withdrawals + 1
    return void advance(turn, "rfqs", row, { type: "FOUND", at, venueRfqId, attempt })
  }
  const confirmed = isOpen(row) ? (advance(turn, "rfqs", row, { type: "CONFIRMED", at, venueRfqId }) ?? row) : row
  // An executed accept is applied with the report of its contract, not here.
  if (state === "OPEN" || state === "ACCEPTED") return
  advance(turn, "rfqs", confirmed, { type: "VENUE_ENDED", at, how: state, reason, quotes, note: board.note(row.id) })
}

const onWithdrawResult = (at: QuoteTurn, row: RfqRow, { outcome, rfq }: DefiniteOutcome): void => {
  const { turn, board } = at
  // An accept was executed before the withdrawal. The contract has a report of its own, or the comparison finds it.
  if (rfq?.state === "ACCEPTED") {
    if (isOpen(row)) return void advance(turn, "rfqs", row, { type: "NOT_WITHDRAWN" })
    return void advance(turn, "rfqs", row, {
      type: "REFUSED",
      at: turn.now,
      // The default reason for a voided call does not apply, because the venue received this one.
      reason: row.context.rejectReason ?? "no longer open at the venue"
    })
  }
  if (rfq !== null && rfq.state !== "OPEN") return onRfqState(at, row, rfq)
  if (outcome === "VOID") {
    advance(turn, "rfqs", row, { type: "CANCEL", at: turn.now, attempt: row.context.withdrawals + 1 })
  } else if (turn.state.get("venueCalls", requestRef(row.id)) !== undefined) {
    advance(turn, "rfqs", row, { type: "NOT_WITHDRAWN" })
  } else {
    const reason = row.context.rejectReason
    advance(turn, "rfqs", row, {
      type: "VENUE_ENDED",
      at: turn.now,
      how: "CANCELLED",
      reason,
      ...board.received(row.id)
    })
  }
}

const onAcceptResult = (owned: HandlerTurn, row: RfqRow, quoteId: number, result: DefiniteOutcome): void => {
  const { turn } = owned
  const { outcome, reason, rfq, contract } = result
  if (outcome === "EXECUTED") {
    // Without a contract in the result the accept stays in flight until a later result (`definite`).
    if (contract === null) return
    // The result of a status query for a contract that is already open here.
    if (row.closeContractId === null && row.context.contractId !== null) {
      return void onContractReport(owned, row.id, contract)
    }
    return executed(owned, row, quoteId, contract, rfq?.quotes ?? quotesOf(owned, row))
  }
  const why = refusalReason({ outcome, reason })
  const next = advance(turn, "rfqs", row, { type: "ACCEPT_REFUSED", at: turn.now, quoteId, reason: why })
  if (next !== null && rfq !== null && rfq.state !== "OPEN") onRfqState(owned, next, rfq)
}

/**
 * Applies the venue's report of a contract that an accept of this request opened. False: the request does not exist, or
 * the ref is not that of an accept, so no later query could find the contract.
 */
const onContractReport = (owned: HandlerTurn, rfqId: number, contract: VenueContract): boolean => {
  const { turn, recall } = owned
  const quoteId = quoteOfRef(contract.ref)
  if (quoteId === null) return false
  const end = endOf(contract)
  const known = contractOfRfq(turn, rfqId)
  if (known !== undefined) {
    if (end === null) return true
    if (known.state === "OPEN") endKnown(owned, known, end)
    else endedAgain(turn, known, end)
    return true
  }
  const row = recall.row(turn, "rfqs", rfqId)
  if (row === null) return false
  const { contractId } = row.context
  if (row.state !== "ACCEPTED" || contractId === null) {
    executed(owned, row, quoteId, contract, quotesOf(owned, row))
  } else if (end !== null) endedAgain(turn, recall.row(turn, "barrierContracts", contractId), end)
  return true
}

/**
 * Handles a second, different end of a contract. The booked end stays. The end with the earlier time is right; at equal times, a
 * touched level precedes a close by quote. If the second end is right, staff get an alarm, and a difference of the results opens
 * a break.
 */
const endedAgain = (turn: Turn, row: ContractRow | null, end: EndFound): void => {
  if (row === null || row.state === "OPEN" || row.closedAt === null || row.pnl === null) return
  const pnl = settledPnl(termsOf(row), end.how, end.settlePrice)
  const precedes = end.at < row.closedAt || (end.at === row.closedAt && row.state === "EARLY_CLOSE")
  if ((end.how === row.state && pnl === row.pnl) || !precedes) return
  const reason = `Contract ${row.id} ended as ${row.state} here and earlier as ${end.how} at the venue.`
  alarmOf(turn, `barrierContract:${row.id}`, row, "contract.otherEnd", reason)
  if (pnl !== row.pnl) breakOfClient(turn, row, pnl - row.pnl, reason)
}

/** Applies an executed quote: opens a contract, or ends the contract of a request to close. */
const executed = (
  owned: HandlerTurn,
  row: RfqRow,
  quoteId: number,
  contract: VenueContract,
  quotes: ReadonlyArray<VenueQuote>
): void => {
  if (row.closeContractId === null) return opened(owned, row, quoteId, contract, quotes)
  const closed = owned.recall.row(owned.turn, "barrierContracts", row.closeContractId)
  const end = endOf(contract)
  if (closed === null || end === null) {
    return alarm(owned.turn, row, "rfq.otherContract", "what it closes is not known, or open at the venue")
  }
  if (closed.state !== "OPEN") return endedAgain(owned.turn, closed, end)
  closedBy(owned, closed, end, { row, quoteId, quotes })
}

const opened = (
  owned: HandlerTurn,
  row: RfqRow,
  quoteId: number,
  contract: VenueContract,
  quotes: ReadonlyArray<VenueQuote>
): void => {
  const { turn } = owned
  const figures = executedFigures(row.context, contract)
  const cost = figures.premium + figures.commission
  const late = !isOpen(row)
  const free = late ? spendable(turn) : 0n
  const opens = openContract(owned, row, contract, quoteId)
  const next = advance(turn, "rfqs", row, {
    type: "EXECUTED",
    at: turn.now,
    quoteId,
    contractId: opens.id,
    entryPrice: opens.context.entry,
    premium: opens.context.premium,
    commission: opens.context.commission,
    quotes
  })
  if (next === null) throw new Error(`rfq:${row.id} does not take what the venue executed`)
  if (late && cost > free) {
    const short = cost - free
    const reason = `Contract ${opens.id} was executed late and costs ${formatAmount(short, "USDC")} more than is free.`
    breakOfClient(turn, opens, short, reason)
  }
  const end = endOf(contract)
  if (end !== null) endKnown(owned, opens, end)
}

/**
 * The margin that an accept in time could have used, micro-USDC: the free margin less the possible loss of working
 * orders.
 */
const spendable = (turn: Turn): bigint => {
  const client = oneInTurn(turn, "clients")
  return client === undefined ? 0n : spendableOf(accountInTurn(turn, client).risk)
}

/**
 * Ends a contract that has ended at the venue. If an accept closed it, the request to close ends as executed, even if
 * late.
 */
export const endKnown = (owned: HandlerTurn, row: ContractRow, end: EndFound): void => {
  const { how: state, settlePrice, at: endedAt } = end
  const closing = closingRequest(owned, row, { state, settlePrice, endedAt })
  if (closing !== null) return closedBy(owned, row, end, closedByAccept(owned, closing.row, end))
  if (endContract(owned, row, end) !== null) cancelCloseRequests(owned.turn, owned.board, row.id)
}

interface ClosedBy {
  readonly row: RfqRow
  /** Null: the quote is unknown. */
  readonly quoteId: number | null
  readonly quotes: ReadonlyArray<VenueQuote>
}

/** Derives the executed quote from the report of the contract, if no accept is in flight. */
const closedByAccept = (owned: HandlerTurn, row: RfqRow, { settlePrice }: EndFound): ClosedBy => {
  const { accepting } = row.context
  const received = quotesOf(owned, row)
  const quotes = received.length > 0 ? received : row.context.quotes
  const settledAt = quotes.findLast(({ price }) => new MoneyDecimal(price).eq(settlePrice))
  return { row, quoteId: accepting?.quoteId ?? settledAt?.id ?? null, quotes: received }
}

/**
 * Ends a contract and its request to close. If another end came first at the venue, the request ends with the contract
 * instead of as executed.
 */
const closedBy = (owned: HandlerTurn, contract: ContractRow, end: EndFound, by: ClosedBy): void => {
  const { turn } = owned
  if (endContract(owned, contract, end) === null) return
  if (end.how === "EARLY_CLOSE") {
    const { row, quoteId, quotes } = by
    advance(turn, "rfqs", row, {
      type: "EXECUTED",
      at: turn.now,
      quoteId,
      contractId: contract.id,
      entryPrice: end.settlePrice,
      premium: null,
      commission: null,
      quotes
    })
  }
  cancelCloseRequests(turn, owned.board, contract.id)
}

/** Writes an audit row for staff on the request. */
const alarm = (turn: Turn, row: RfqRow, action: string, reason: string): void =>
  alarmOf(turn, `rfq:${row.id}`, row, action, reason)

const alarmOf = (
  turn: Turn,
  object: ObjectName,
  { partnerId, clientId, state }: RfqRow | ContractRow,
  action: string,
  reason: string
): void =>
  applyEffects(turn, { partnerId, clientId, object }, [{ type: "audit", action, before: state, after: state, reason }])
