/**
 * TRANSACTIONS (A2-71, STS-25): one row an execution, by the time of its booking: fills, openings and ends of knock-out
 * contracts, takes and payments of staking swaps. Funding is no execution. What is the same for all of them is said once.
 */
import { Effect } from "effect"
import { formatAmount } from "../../../machines/shared/Money.ts"
import type { ModelRow } from "../../../machines/statement/StatementModel.ts"
import { texts } from "../../store/arrays.ts"
import { contractsByIds, type StatedContract } from "../../store/reads/statementContracts.ts"
import {
  fillsOf,
  fillSums,
  postingsOfTypes,
  type StatedFill,
  type StatedPosting
} from "../../store/reads/statementReads.ts"
import { swapsByIds } from "../../store/reads/statementSwaps.ts"
import type { SwapContext } from "../../../machines/swap/Swap.ts"
import {
  type Building,
  eachPage,
  eachStretch,
  fillsOfPeriod,
  pageRows,
  type Plan,
  postingsOfPeriod,
  type Reading,
  reading,
  type Wrong
} from "./Building.ts"
import type { Emit } from "./ModelWriter.ts"
import { partOf, swapOf } from "./swapPostings.ts"
import { contractOf } from "./venueTimes.ts"

const notes = [
  "Executed on the venue named in each row; the counterparty of every execution is the firm.",
  "Money was settled at execution, to and from the account; no currency was converted.",
  "Rows are in the order of their booking; trading day and time are the venue's, UTC."
]

/** An opening or an end of a contract, or a take or a payment of a swap, as it was booked. */
export interface BookedEvent {
  readonly ts: number
  readonly of: "contract" | "swap"
  /** Of the contract or the swap. */
  readonly id: number
  readonly posting: StatedPosting
}

/** Where executions come from: read one client at a time, or many together. */
export interface ExecutionReads {
  /** Fills of the period. */
  readonly count: Reading<number>
  readonly events: Effect.Effect<ReadonlyArray<BookedEvent>, Wrong>
  /** The next fills behind an id, at most `pageRows`. */
  readonly fills: (after: number) => Reading<ReadonlyArray<StatedFill>>
}

export const planTransactions = (at: Building): Effect.Effect<Plan, Wrong> =>
  planExecutions(at, {
    count: Effect.map(reading(fillSums(at.sql, at.client.clientId, fillsOfPeriod(at))), (fills) =>
      fills.reduce((rows, each) => rows + each.rows, 0)
    ),
    events: bookedEvents(at),
    fills: (after) => reading(fillsOf(at.sql, at.client.clientId, { after, to: at.cut.fillId }, pageRows))
  })

export const planExecutions = (at: Building, reads: ExecutionReads): Effect.Effect<Plan, Wrong> =>
  Effect.gen(function* () {
    const fills = yield* reads.count
    const events = yield* reads.events
    return {
      sections: [
        { facts: { name: "EXECUTIONS", counterparty: "the firm" }, rows: (emit) => rowsOf(at, reads, events, emit) }
      ],
      notes,
      rows: events.length + fills
    }
  })

/** Those of the period that are no trades, in the order of their booking. */
export const bookedEvents = (at: Building): Effect.Effect<ReadonlyArray<BookedEvent>, Wrong> =>
  Effect.gen(function* () {
    const { sql, client } = at
    const events: Array<BookedEvent> = []
    const types = texts(["COMMISSION", "BARRIER_SETTLE", "SWAP_PRINCIPAL", "SWAP_SETTLE"])
    yield* eachStretch(at, postingsOfPeriod(at), (stretch) =>
      Effect.map(reading(postingsOfTypes(sql, client.clientId, types, stretch)), (postings) => {
        for (const posting of postings) {
          const contract = contractOf(posting)
          const swap = posting.type === "COMMISSION" ? null : swapOf(posting)
          if (contract !== null) events.push({ ts: posting.ts, of: "contract", id: contract, posting })
          else if (swap !== null) events.push({ ts: posting.ts, of: "swap", id: swap, posting })
        }
      })
    )
    return events.toSorted((one, other) => one.ts - other.ts || one.posting.postingId - other.posting.postingId)
  })

/** Fills and events in one order: by booking, in one millisecond fills first, then by id. */
const rowsOf = (
  at: Building,
  reads: ExecutionReads,
  events: ReadonlyArray<BookedEvent>,
  emit: Emit<Wrong>
): Effect.Effect<void, Wrong> =>
  Effect.gen(function* () {
    let next = 0
    const row = (fill: StatedFill) => fillRow(at.venue, fill)
    const eventsUntil = (ts: number) =>
      Effect.gen(function* () {
        while (next < events.length && (events[next] as BookedEvent).ts < ts) {
          const page: Array<BookedEvent> = []
          while (page.length < pageRows && next < events.length && (events[next] as BookedEvent).ts < ts)
            page.push(events[next++] as BookedEvent)
          yield* emit(yield* eventRows(at, page))
        }
      })
    yield* eachPage(
      pageRows,
      reads.fills,
      ({ id }) => id,
      (fills) =>
        Effect.gen(function* () {
          let from = 0
          for (const [index, fill] of fills.entries()) {
            const event = events[next]
            if (event === undefined || event.ts >= fill.bookedAt) continue
            if (index > from) yield* emit(fills.slice(from, index).map(row))
            yield* eventsUntil(fill.bookedAt)
            from = index
          }
          yield* emit(fills.slice(from).map(row))
        }),
      at.start.fillId
    )
    yield* eventsUntil(Number.MAX_SAFE_INTEGER)
  })

const dayAndTime = (ts: number): Pick<ModelRow, "tradingDay" | "tradingTime"> => {
  const iso = new Date(ts).toISOString()
  return { tradingDay: iso.slice(0, 10), tradingTime: iso.slice(11) }
}

const fillRow = (venue: string, fill: StatedFill): ModelRow => ({
  object: `fill:${fill.id}`,
  bookedAt: fill.bookedAt,
  venueTs: fill.ts,
  ...dayAndTime(fill.ts),
  orderType: fill.orderType,
  venue,
  instrument: fill.symbol,
  side: fill.side,
  nature: fill.origin === "CLOSE_OUT" ? "CLOSE_OUT" : fill.closedQty === null ? "TRADE" : "TRADE_CLOSING",
  quantity: fill.qty,
  unitPrice: fill.price,
  consideration: formatAmount(fill.notional, fill.currency),
  commission: formatAmount(fill.commission, fill.currency),
  currency: fill.currency,
  orderId: fill.orderId,
  tradeId: fill.tradeId
})

/** The rows of some events, with what they are of. */
const eventRows = ({ sql, venue }: Building, page: ReadonlyArray<BookedEvent>): Reading<ReadonlyArray<ModelRow>> =>
  Effect.gen(function* () {
    const idsOf = (of: BookedEvent["of"]) => [...new Set(page.filter((event) => event.of === of).map(({ id }) => id))]
    const contracts = new Map(
      (yield* reading(contractsByIds(sql, idsOf("contract")))).map((found) => [found.id, found])
    )
    const swaps = yield* reading(swapsByIds(sql, idsOf("swap")))
    return page.flatMap((event) => {
      const contract = event.of === "contract" ? contracts.get(event.id) : undefined
      const swap = event.of === "swap" ? swaps.get(event.id) : undefined
      if (contract !== undefined) return [contractRow(venue, event, contract)]
      return swap === undefined ? [] : [swapRow(venue, event, swap)]
    })
  })

const contractRow = (venue: string, { ts, posting }: BookedEvent, { id, context }: StatedContract): ModelRow => {
  const end = posting.type === "BARRIER_SETTLE"
  const venueTs = end ? (context.closedAt ?? ts) : context.openedAt
  return {
    object: `contract:${id}`,
    bookedAt: ts,
    venueTs,
    ...dayAndTime(venueTs),
    orderType: "RFQ",
    venue,
    instrument: context.symbol,
    side: end ? (context.side === "BUY" ? "SELL" : "BUY") : context.side,
    nature: end ? `BARRIER_END ${context.closeReason ?? ""}`.trim() : "BARRIER_OPEN",
    quantity: context.qty,
    unitPrice: end ? context.settlePrice : context.entry,
    consideration: end ? context.pnl : context.notional,
    commission: end ? "0.000000" : context.commission,
    currency: "USDC",
    orderId: null,
    tradeId: end ? null : context.tradeId
  }
}

/** A take lends the notional and costs its fee; a payment of the writer brings principal and reward back. */
const swapRow = (venue: string, { ts, id, posting }: BookedEvent, swap: SwapContext): ModelRow => {
  const isTake = posting.type === "SWAP_PRINCIPAL"
  const amount = posting.amount < 0n ? -posting.amount : posting.amount
  const paid = swap.payments.find((payment) => payment.id === posting.refs["paymentId"])
  const venueTs = (isTake ? swap.openedTs : paid?.at) ?? ts
  return {
    object: `swap:${id}`,
    bookedAt: ts,
    venueTs,
    ...dayAndTime(venueTs),
    orderType: "STAKING",
    venue,
    instrument: swap.symbol,
    side: isTake ? "LEND" : "RETURN",
    nature: isTake ? "SWAP_TAKE" : "SWAP_PAYMENT",
    quantity: formatAmount(isTake ? partOf(posting, "notional") : amount, posting.currency),
    unitPrice: null,
    consideration: formatAmount(amount, posting.currency),
    commission: formatAmount(0n, posting.currency),
    currency: posting.currency,
    orderId: null,
    tradeId: isTake ? swap.tradeId : null
  }
}
