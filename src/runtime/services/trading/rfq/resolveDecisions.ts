/**
 * Ends objects by staff with the venue's evidence, in the client's turn: a request whose call the venue never answers,
 * a contract that the venue does not know, and a request or contract with a standing misfit. The consequences are those
 * of a venue report (A2-115, A2-116, D5).
 */
import { quoteOfRef } from "../../../../machines/rfq/Rfq.ts"
import { formatAmount, usdcMinor } from "../../../../machines/shared/Money.ts"
import { accept, conflict, type Refusal, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import type { VenueContract } from "../../../../machines/venue/venueObjects.ts"
import type { OwnedTurn } from "../../../effects/Instance.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../../engine/mailbox/SubjectState.ts"
import type { ContractRow } from "../../../tables/contract.ts"
import type { RfqRow } from "../../../tables/rfq.ts"
import { contractInTurn, endContract, executedFigures } from "../contract/contractDecisions.ts"
import { breakOfClient, openedBreak } from "../../money/breaks/clientBreaks.ts"
import { endMisfits, standingMisfit } from "../../venue/misfits.ts"
import { endCall } from "../../venue/outcomes.ts"
import type { DefiniteOutcome, VenueHandlers } from "../../venue/VenueHandler.ts"
import { noteResolved } from "../../venue/resolved.ts"
import { contractNames } from "./contractVerdict.ts"
import type { Board } from "./QuoteBoard.ts"
import { cancelCloseRequests, rfqInTurn } from "./rfqDecisions.ts"

/** An execution by the venue's evidence. Price and quantity are decimal texts on the market's grid. */
export interface Execution {
  readonly tradeId: number
  readonly price: string
  readonly qty: string
}

export interface ResolvedState {
  readonly state: string
  /** The break of the difference; null: no difference. */
  readonly breakId: number | null
}

/** The ref of a request's call in flight, of its accept first; null: none is in flight. */
export const callInFlight = (state: SubjectState, row: RfqRow): string | null => {
  const refs = callsOf(state, row)
  return refs.find((ref) => quoteOfRef(ref) === row.context.accepting?.quoteId) ?? refs[0] ?? null
}

/** The ref of the call that staff can end: one in flight, else one with a standing misfit. Null: none. */
export const openCall = (state: SubjectState, row: RfqRow): string | null =>
  callInFlight(state, row) ?? standingMisfit(state, [`rfq:${row.id}`])?.ref ?? null

/**
 * The reason why staff can't end a request in this way; null: they can. `known`: the ref of the call that was in
 * flight when staff read the evidence. The evidence proves nothing about another call.
 */
export const requestRefusal = (
  state: SubjectState,
  row: RfqRow,
  as: "executed" | "void",
  known: string | null = null
): Refusal | null => {
  const ref = openCall(state, row)
  if (ref === null) return nothingInFlight
  if (known !== null && known !== ref) return otherInFlight
  if (as === "void") return null
  const { accepting, contractId } = row.context
  if (accepting !== null) return quoteOfRef(ref) === accepting.quoteId ? null : notAnAccept
  if (quoteOfRef(ref) === null) return notAnAccept
  return contractId === null
    ? null
    : conflict("ALREADY", `The request has opened contract ${contractId}: resolve contract:${contractId}.`)
}

/**
 * The reason why staff can't resolve a contract in this way; null: they can. `isUnknown`: the venue was queried and
 * does not know the contract. A report with a standing misfit can be declared void: nothing of it is booked, and the
 * contract stays as it is.
 */
export const contractRefusal = (
  state: SubjectState,
  row: ContractRow,
  as: "closed" | "void",
  isUnknown: boolean
): Refusal | null => {
  const stands = standingMisfit(state, contractNames(row)) !== undefined
  if (as === "void") return stands ? null : noMisfit
  if (row.state !== "OPEN") return conflict("ALREADY", `The contract is ${row.state} already.`)
  return stands || isUnknown ? null : knownAtVenue
}

const noMisfit = conflict("KNOWN_AT_VENUE", "No misfit of the contract stands: no report of it is to be voided.")
const knownAtVenue = conflict("KNOWN_AT_VENUE", "The venue knows the contract: it ends by the venue's word.")

export const nothingInFlight = conflict("NOTHING_IN_FLIGHT", "Nothing of this request is in flight at the venue.")
const otherInFlight = conflict(
  "NOTHING_IN_FLIGHT",
  "Another call of this request is in flight by now: the evidence is not of this one."
)
const notAnAccept = conflict(
  "NOTHING_IN_FLIGHT",
  "Only an accept can have been executed: what is in flight is another call."
)

/** Ends the calls of a request in flight as never executed, and ends its misfits. */
export const resolveVoid = (
  turn: Turn,
  handlers: VenueHandlers,
  row: RfqRow,
  reason: string
): Verdict<ResolvedState> => {
  const refusal = requestRefusal(turn.state, row, "void")
  if (refusal !== null) return refuse(refusal)
  noteResolved({ turn, of: row }, `rfq:${row.id}`, row.state, reason)
  for (const ref of callsOf(turn.state, row))
    endCall(turn, handlers, { ...none, ref, outcome: "VOID", reason, at: turn.now }, { isTrusted: true })
  endMisfits(turn, [`rfq:${row.id}`])
  return accept({ state: rfqInTurn(turn, row.id)?.state ?? row.state, breakId: null })
}

/**
 * Ends the accept of a request as executed. This is the accept in flight, or one that the venue had refused. A
 * difference between its cost and the held amount opens a break.
 */
export const resolveExecuted = (
  turn: Turn,
  handlers: VenueHandlers,
  row: RfqRow,
  { reason, ...execution }: Execution & { readonly reason: string }
): Verdict<ResolvedState> => {
  const refusal = requestRefusal(turn.state, row, "executed")
  if (refusal !== null) return refuse(refusal)
  const { accepting, closes } = row.context
  const closed = closes === null ? null : contractInTurn(turn, closes.contractId)
  const ref = openCall(turn.state, row)
  if (ref === null || closed === undefined) return refuse(notAnAccept)
  const contract = contractOf(turn.now, row, ref, closed, execution)
  noteResolved({ turn, of: row }, `rfq:${row.id}`, row.state, reason)
  endCall(turn, handlers, { ...none, ref, outcome: "EXECUTED", reason, at: turn.now, contract }, { isTrusted: true })
  endMisfits(turn, [`rfq:${row.id}`])
  const state = rfqInTurn(turn, row.id)?.state ?? row.state
  // Without a hold, booking has already opened a break for the part of the cost that the client's free margin does not
  // cover.
  if (accepting === null) return accept({ state, breakId: openedBreak(turn) })
  const held = usdcMinor(accepting.premium) + usdcMinor(accepting.commission)
  const figures = closed === null ? executedFigures(row.context, contract) : { premium: 0n, commission: 0n }
  const difference = held - figures.premium - figures.commission
  const sentence = `rfq:${row.id} was resolved at ${formatAmount(difference, "USDC")} beside what was accepted.`
  return accept({
    state,
    breakId: difference === 0n ? null : breakOfClient(turn, row, difference, sentence)
  })
}

/** Ends a contract at a price (F17: final settlement). */
export const resolveClosed = (
  owned: OwnedTurn & { readonly board: Board },
  row: ContractRow,
  { price, reason, isUnknown }: { readonly price: string; readonly reason: string; readonly isUnknown: boolean }
): Verdict<ResolvedState> => {
  const { turn } = owned
  const refusal = contractRefusal(turn.state, row, "closed", isUnknown)
  if (refusal !== null) return refuse(refusal)
  noteResolved({ turn, of: row }, `barrierContract:${row.id}`, row.state, reason)
  const ended = endContract(owned, row, { how: "CLOSED", at: turn.now, settlePrice: price, reason })
  cancelCloseRequests(turn, owned.board, row.id)
  endMisfits(turn, contractNames(row))
  return accept({ state: ended?.state ?? row.state, breakId: null })
}

/** Ends the misfits of a contract. Nothing of the reports is booked, and the contract stays as it is. */
export const voidReport = (turn: Turn, row: ContractRow, reason: string): Verdict<ResolvedState> => {
  const refusal = contractRefusal(turn.state, row, "void", false)
  if (refusal !== null) return refuse(refusal)
  noteResolved({ turn, of: row }, `barrierContract:${row.id}`, row.state, reason)
  endMisfits(turn, contractNames(row))
  return accept({ state: row.state, breakId: null })
}

const none = { order: null, rfq: null, contract: null, swap: null } satisfies Partial<DefiniteOutcome>

/** The refs of a request's calls in flight. */
const callsOf = (state: SubjectState, { id }: RfqRow): ReadonlyArray<string> =>
  state
    .all("venueCalls")
    .map(({ ref }) => ref)
    .filter((ref) => ref === `R-${id}` || ref.startsWith(`R-${id}-`) || ref.startsWith(`A-${id}-`))

/** Builds the venue's report of the contract that the execution opened or closed. */
const contractOf = (
  now: number,
  { context }: RfqRow,
  ref: string,
  closed: ContractRow | null,
  { tradeId, price, qty }: Execution
): VenueContract => ({
  id: closed?.context.venueContractId ?? 0,
  ref,
  account: context.account,
  symbol: context.symbol,
  side: context.side,
  qty,
  entry: closed?.context.entry ?? price,
  barrier: context.barrierLevel,
  takeProfit: context.takeProfit,
  expiryAt: context.expiryTs,
  strict: context.strict,
  premiumBps: context.premiumBps,
  tradeId,
  openedAt: closed?.openedAt ?? now,
  ...(closed === null
    ? { state: "OPEN", settlePrice: null, endedAt: null }
    : { state: "EARLY_CLOSE", settlePrice: price, endedAt: now })
})
