/**
 * Requests for quotes in their client's turn (D4): what callers, timers and rules do with them. What the venue says of them is
 * in `rfqHears.ts`. Whoever asks has judged the gates under the client's lock.
 */
import { rfqsInTurn } from "../../account/contractHoldings.ts"
import type { EntryFigures } from "../../../../machines/barrier/barrierFigures.ts"
import type { AskedRfq } from "../../../../machines/rfq/rfqOnMarket.ts"
import { openRfqStates, type RfqInput } from "../../../../machines/rfq/Rfq.ts"
import { formatAmount } from "../../../../machines/shared/Money.ts"
import { advance, start } from "../../../effects/advance.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { BarrierContractRow, RfqRow } from "../../../tables/barrier.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { Board } from "./QuoteBoard.ts"

const usdc = (minor: bigint): string => formatAmount(minor, "USDC")

/** A request as the turn sees it: open, or still open at the venue; undefined for others. */
export const rfqInTurn = (turn: Turn, id: number): RfqRow | undefined =>
  turn.draft.peek("rfqs", String(id)) ?? turn.state.get("rfqs", String(id))

/** Whether a request is not over. */
export const isOpen = ({ state }: RfqRow): boolean => (openRfqStates as ReadonlyArray<string>).includes(state)

/** Whether a request may still open a contract: it is open here or possibly at the venue, and has no accept in flight. */
export const mayStillOpen = (row: RfqRow): boolean =>
  (isOpen(row) || row.venueOpen) && row.closeContractId === null && row.context.accepting === null

/** The figures of a request at the mark, as they are kept. */
export interface AtRequest {
  /** On the market's grid. */
  readonly mark: string
  readonly figures: EntryFigures
}

/** A request to open a contract, on its way to the venue. */
export const startRfq = (turn: Turn, client: ClientRow, asked: AskedRfq, { mark, figures }: AtRequest): RfqRow => {
  const { premiumBudget, ...rest } = asked
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

export interface CloseAsked {
  readonly windowEndsAt: number
  readonly autoAccept: boolean
  /** Null while it is unknown. */
  readonly mark: string | null
}

/** A request to close an open contract, on its way to the venue; the contract keeps its id. */
export const startClose = (
  turn: Turn,
  client: ClientRow,
  contract: BarrierContractRow,
  { windowEndsAt, autoAccept, mark }: CloseAsked
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
  asked: Omit<RfqInput, "rfqId" | "clientId" | "account" | "createdAt" | "updatedAt">
): RfqRow => {
  const id = turn.nextId("rfq")
  return start(turn, "rfqs", {
    input: { rfqId: id, clientId: client.id, account: client.uid, createdAt: turn.now, updatedAt: turn.now, ...asked },
    columns: {
      id,
      partnerId: client.partnerId,
      clientId: client.id,
      symbol: asked.symbol,
      currency: "USDC",
      amount,
      createdAt: turn.now,
      closeContractId: asked.closes?.contractId ?? null
    }
  })
}

/** The venue has not answered in time: the request is shown and asked for. */
export const unanswered = (turn: Turn, row: RfqRow): RfqRow | null =>
  row.state === "CREATING" ? advance(turn, "rfqs", row, { type: "UNANSWERED", at: turn.now }) : null

export interface QuoteToAccept {
  readonly id: number
  readonly price: string
  /** At its price; null of a request to close, which costs nothing. */
  readonly figures: Pick<EntryFigures, "premium" | "commission"> | null
  /** Ledger actor of whoever accepts: `system:router`, or `partner:<CODE>` (A2-62). */
  readonly by: string
}

/**
 * Accepts a quote that was judged under the client's lock: in flight from this commit on. Null while an accept or a
 * withdrawal of the request is in flight, for a quote that was refused before, and once the request is over.
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

/** Asks the venue to withdraw a request; null while something of it is in flight, and once it is over. */
export const cancel = (turn: Turn, row: RfqRow): RfqRow | null =>
  row.state !== "OPEN" || row.context.cancelling !== null
    ? null
    : advance(turn, "rfqs", row, { type: "CANCEL", at: turn.now, attempt: row.context.withdrawals + 1 })

/** The window is over; an accept in flight keeps the request open until its answer. */
export const windowElapsed = (turn: Turn, id: number): void => {
  const row = rfqInTurn(turn, id)
  if (row !== undefined) advance(turn, "rfqs", row, { type: "WINDOW_ELAPSED", at: turn.now })
}

/**
 * Ends the requests to open a contract that have no accept in flight, with the reason (A2-101, D4); in the markets that
 * `covers` names, or in all. How many.
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

/** How long the venue may take to say the end of a request that has ended here, ms: after that it is withdrawn. */
const endSaidWithin = 2_000

/** Withdraws requests to open that have ended here and, as far as is known, not at the venue: what it said of them is lost. */
export const withdrawEndedRequests = (turn: Turn): void => {
  for (const row of rfqsInTurn(turn)) {
    const { accepting, cancelling, updatedAt, withdrawals } = row.context
    const isHeld = !isOpen(row) && row.venueOpen && row.closeContractId === null
    if (!isHeld || accepting !== null || cancelling !== null || turn.now < updatedAt + endSaidWithin) continue
    advance(turn, "rfqs", row, { type: "CANCEL", at: turn.now, attempt: withdrawals + 1 })
  }
}

/** A contract has ended: the request to close it ends in the same commit (F19), with what was heard of it. */
export const cancelCloseRequests = (turn: Turn, board: Board, contractId: number): void => {
  for (const row of rfqsInTurn(turn)) {
    if (row.closeContractId === contractId && isOpen(row)) {
      advance(turn, "rfqs", row, { type: "CONTRACT_ENDED", at: turn.now, ...board.heard(row.id) })
    }
  }
}
