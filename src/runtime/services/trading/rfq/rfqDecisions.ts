/**
 * Commands on requests for quotes in their client's turn, from callers, timers and rules. The caller has checked the
 * gates in the same turn. `rfqEvents.ts` applies the venue's reports (A2-62, A2-101, D4, F19).
 */
import { rfqsInTurn } from "../../account/contractHoldings.ts"
import type { EntryFigures } from "../../../../machines/contract/contractFigures.ts"
import type { RequestedRfq } from "../../../../machines/rfq/rfqOnMarket.ts"
import { openRfqStates, type RfqInput } from "../../../../machines/rfq/Rfq.ts"
import { formatAmount } from "../../../../machines/shared/Money.ts"
import { advance, start } from "../../../effects/advance.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { ContractRow } from "../../../tables/contract.ts"
import type { RfqRow } from "../../../tables/rfq.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { Board } from "./QuoteBoard.ts"

const usdc = (minor: bigint): string => formatAmount(minor, "USDC")

/** A request that is open in the turn, or still open at the venue; undefined for others. */
export const rfqInTurn = (turn: Turn, id: number): RfqRow | undefined =>
  turn.draft.peek("rfqs", String(id)) ?? turn.state.get("rfqs", String(id))

/** Whether a request has not ended here. */
export const isOpen = ({ state }: RfqRow): boolean => (openRfqStates as ReadonlyArray<string>).includes(state)

/**
 * Whether a request may still open a contract: it is open here or possibly at the venue, it closes no contract, and no accept is in
 * flight.
 */
export const mayStillOpen = (row: RfqRow): boolean =>
  (isOpen(row) || row.venueOpen) && row.closeContractId === null && row.context.accepting === null

/** The figures of a request at the mark, which its row stores. */
export interface AtRequest {
  /** On the market's grid. */
  readonly mark: string
  readonly figures: EntryFigures
}

/** Starts a request to open a contract, and its call to the venue. */
export const startRfq = (
  turn: Turn,
  client: ClientRow,
  requested: RequestedRfq,
  { mark, figures }: AtRequest
): RfqRow => {
  const { premiumBudget, ...rest } = requested
  return begin(turn, client, figures.premium, {
    ...rest,
    premiumBudget: premiumBudget === null ? null : usdc(premiumBudget),
    maxLossAtRequest: usdc(figures.premium),
    markAtRequest: mark,
    impliedLeverage: figures.leverage,
    potentialProfit: figures.potentialProfit === null ? null : usdc(figures.potentialProfit),
    commission: usdc(figures.commission),
    closes: null
  })
}

export interface RequestedClose {
  readonly windowEndsAt: number
  readonly autoAccept: boolean
  /** Null: the market has no mark. */
  readonly mark: string | null
}

/** Starts a request to close an open contract, and its call to the venue. The contract stores the id of the request. */
export const startClose = (
  turn: Turn,
  client: ClientRow,
  contract: ContractRow,
  { windowEndsAt, autoAccept, mark }: RequestedClose
): RfqRow => {
  const { context } = contract
  const row = begin(turn, client, 0n, {
    symbol: context.symbol,
    side: context.side,
    qty: context.qty,
    barrierLevel: context.barrier,
    takeProfit: context.takeProfit,
    expiryTs: context.expiryTs,
    expiryDefaulted: context.expiryDefaulted,
    strict: context.strict,
    premiumBudget: null,
    premiumBps: context.premiumBps,
    commissionBps: 0,
    maxLossAtRequest: null,
    markAtRequest: mark,
    impliedLeverage: null,
    potentialProfit: null,
    commission: null,
    windowEndsAt,
    autoAccept,
    closes: { contractId: contract.id, entry: context.entry, venueContractId: context.venueContractId },
    priceDecimals: context.priceDecimals,
    qtyDecimals: context.qtyDecimals
  })
  advance(turn, "barrierContracts", contract, { type: "CLOSE_REQUESTED", closeRfqId: row.id })
  return row
}

const begin = (
  turn: Turn,
  client: ClientRow,
  amount: bigint,
  requested: Omit<RfqInput, "rfqId" | "clientId" | "account" | "createdAt" | "updatedAt">
): RfqRow => {
  const id = turn.nextId("rfq")
  return start(turn, "rfqs", {
    input: {
      rfqId: id,
      clientId: client.id,
      account: client.uid,
      createdAt: turn.now,
      updatedAt: turn.now,
      ...requested
    },
    columns: {
      id,
      partnerId: client.partnerId,
      clientId: client.id,
      symbol: requested.symbol,
      currency: "USDC",
      amount,
      createdAt: turn.now,
      closeContractId: requested.closes?.contractId ?? null
    }
  })
}

/** Handles the timeout of the venue call: partners see the request from now on, and the service queries the venue for it. */
export const unanswered = (turn: Turn, row: RfqRow): RfqRow | null =>
  row.state === "CREATING" ? advance(turn, "rfqs", row, { type: "UNANSWERED", at: turn.now }) : null

export interface QuoteToAccept {
  readonly id: number
  readonly price: string
  /** Figures at the quote's price; null for a request to close, which costs nothing. */
  readonly figures: Pick<EntryFigures, "premium" | "commission"> | null
  /** Ledger actor of the accept: `system:router`, or `partner:<CODE>`. */
  readonly by: string
}

/**
 * Starts the accept of a quote that was checked in the same turn. Null: an accept or a withdrawal of the request is in
 * flight, the quote was refused before, or the request has ended.
 */
export const beginAccept = (turn: Turn, row: RfqRow, { id, price, figures, by }: QuoteToAccept): RfqRow | null =>
  advance(turn, "rfqs", row, {
    type: "ACCEPT",
    quoteId: id,
    price,
    premium: usdc(figures?.premium ?? 0n),
    commission: usdc(figures?.commission ?? 0n),
    at: turn.now,
    by
  })

/** Requests the venue to withdraw a request. Null: the request has ended, or an accept or withdrawal is in flight. */
export const cancel = (turn: Turn, row: RfqRow): RfqRow | null =>
  row.state !== "OPEN" || row.context.cancelling !== null
    ? null
    : advance(turn, "rfqs", row, { type: "CANCEL", at: turn.now, attempt: row.context.withdrawals + 1 })

/** Ends a request whose window has elapsed. An accept in flight keeps it open until the outcome. */
export const windowElapsed = (turn: Turn, id: number): void => {
  const row = rfqInTurn(turn, id)
  if (row !== undefined) advance(turn, "rfqs", row, { type: "WINDOW_ELAPSED", at: turn.now })
}

/**
 * Ends the requests to open a contract that have no accept in flight, in the markets that `covers` selects (default:
 * all). Returns their number.
 */
export const cancelOpeningRequests = (
  turn: Turn,
  reason: string,
  covers: (symbol: string) => boolean = () => true
): number => {
  let cancelled = 0
  for (const row of rfqsInTurn(turn)) {
    if (row.closeContractId !== null || !isOpen(row) || !covers(row.symbol)) continue
    const event = { type: "DROP", at: turn.now, reason, attempt: row.context.withdrawals + 1 } as const
    if (advance(turn, "rfqs", row, event) !== null) cancelled++
  }
  return cancelled
}

/**
 * The longest wait for the venue's end report of a request that has ended here, ms. After it the service requests a
 * withdrawal.
 */
const endReportWithin = 2_000

/** Requests the withdrawal of requests that have ended here. The venue's end report may be lost. */
export const withdrawEndedRequests = (turn: Turn): void => {
  for (const row of rfqsInTurn(turn)) {
    const { accepting, cancelling, updatedAt, withdrawals } = row.context
    const isHeld = !isOpen(row) && row.venueOpen && row.closeContractId === null
    if (!isHeld || accepting !== null || cancelling !== null || turn.now < updatedAt + endReportWithin) continue
    advance(turn, "rfqs", row, { type: "CANCEL", at: turn.now, attempt: withdrawals + 1 })
  }
}

/**
 * Ends the open requests to close a contract that has ended, in the commit of its end. Stores their quotes and notes
 * from the board.
 */
export const cancelCloseRequests = (turn: Turn, board: Board, contractId: number): void => {
  for (const row of rfqsInTurn(turn)) {
    if (row.closeContractId === contractId && isOpen(row)) {
      advance(turn, "rfqs", row, { type: "CONTRACT_ENDED", at: turn.now, ...board.received(row.id) })
    }
  }
}
