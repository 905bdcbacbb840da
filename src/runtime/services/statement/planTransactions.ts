/**
 * TRANSACTIONS (A2-71, STS-25): one row an execution, by the time of its booking: fills, openings and ends of knock-out
 * contracts. Funding is no execution. What is the same for all of them is said once.
 */
import { Effect } from "effect"
import { formatAmount } from "../../../machines/shared/Money.ts"
import type { ModelRow } from "../../../machines/statement/StatementModel.ts"
import { texts } from "../../store/arrays.ts"
import { contractsByIds, type StatedContract } from "../../store/reads/statementContracts.ts"
import { fillsOf, fillSums, postingsOfTypes, type StatedFill } from "../../store/reads/statementReads.ts"
import {
  type Building,
  eachPage,
  eachStretch,
  fillsOfPeriod,
  pageRows,
  type Plan,
  postingsOfPeriod,
  reading,
  type Wrong
} from "./Building.ts"
import type { Emit } from "./ModelWriter.ts"
import { contractOf } from "./venueTimes.ts"

const notes = [
  "Executed on the venue named in each row; the counterparty of every execution is the firm.",
  "Money was settled at execution, to and from the account; no currency was converted.",
  "Rows are in the order of their booking; trading day and time are the venue's, UTC."
]

/** An opening or an end of a contract, as it was booked. */
interface ContractEvent {
  readonly ts: number
  readonly contractId: number
  readonly end: boolean
}

export const planTransactions = (at: Building): Effect.Effect<Plan, Wrong> =>
  Effect.gen(function* () {
    const fills = yield* reading(fillSums(at.sql, at.client.clientId, fillsOfPeriod(at)))
    const events = yield* contractEvents(at)
    return {
      sections: [{ facts: { name: "EXECUTIONS", counterparty: "the firm" }, rows: (emit) => rowsOf(at, events, emit) }],
      notes,
      rows: events.length + fills.reduce((rows, each) => rows + each.rows, 0)
    }
  })

const contractEvents = (at: Building): Effect.Effect<ReadonlyArray<ContractEvent>, Wrong> =>
  Effect.gen(function* () {
    const { sql, client } = at
    const events: Array<ContractEvent> = []
    const types = texts(["COMMISSION", "BARRIER_SETTLE"])
    yield* eachStretch(at, postingsOfPeriod(at), (stretch) =>
      Effect.map(reading(postingsOfTypes(sql, client.clientId, types, stretch)), (postings) => {
        for (const posting of postings) {
          const contractId = contractOf(posting)
          if (contractId === null) continue
          events.push({ ts: posting.ts, contractId, end: posting.type === "BARRIER_SETTLE" })
        }
      })
    )
    return events.toSorted((one, other) => one.ts - other.ts || one.contractId - other.contractId)
  })

/** Fills and events in one order: by booking, in one millisecond fills first, then by id. */
const rowsOf = (at: Building, events: ReadonlyArray<ContractEvent>, emit: Emit<Wrong>): Effect.Effect<void, Wrong> =>
  Effect.gen(function* () {
    const { sql, client, cut, start } = at
    let next = 0
    const row = (fill: StatedFill) => fillRow(at.venue, fill)
    const eventsUntil = (ts: number) =>
      Effect.gen(function* () {
        while (next < events.length && (events[next] as ContractEvent).ts < ts) {
          const page: Array<ContractEvent> = []
          while (page.length < pageRows && next < events.length && (events[next] as ContractEvent).ts < ts)
            page.push(events[next++] as ContractEvent)
          const found = yield* reading(contractsByIds(sql, [...new Set(page.map(({ contractId }) => contractId))]))
          const contracts = new Map(found.map((contract) => [contract.id, contract]))
          yield* emit(
            page.flatMap((event) => {
              const contract = contracts.get(event.contractId)
              return contract === undefined ? [] : [contractRow(at.venue, event, contract)]
            })
          )
        }
      })
    yield* eachPage(
      pageRows,
      (after) => reading(fillsOf(sql, client.clientId, { after, to: cut.fillId }, pageRows)),
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
      start.fillId
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

const contractRow = (venue: string, { ts, end }: ContractEvent, { id, context }: StatedContract): ModelRow => {
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
