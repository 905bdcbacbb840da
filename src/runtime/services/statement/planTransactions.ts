/**
 * TRANSACTIONS (A2-71, STS-25): one row an execution, by the time of its booking: fills, openings and ends of knock-out
 * contracts, takes, payments and write-offs of staking swaps. Funding is no execution. What is the same for all is said once.
 */
import { Effect } from "effect"
import { fillsOf, fillSums, type StatedFill } from "../../store/reads/statementReads.ts"
import { type BookedEvent, bookedEvents, spotSettled } from "./bookedEvents.ts"
import { type Building, eachPage, fillsOfPeriod, pageRows, type Plan, reading, type Wrong } from "./Building.ts"
import { eventRows, fillRow } from "./executionRows.ts"
import type { Emit } from "./ModelWriter.ts"

const notes = [
  "Executed on the venue named in each row; the counterparty of every execution is the firm.",
  "Money was settled at execution, to and from the account; no currency was converted.",
  "Rows are in the order of their booking; trading day and time are the venue's, UTC.",
  "A write-off moved no money: it gave up so much of a claim on the writer."
]

export const planTransactions = (at: Building): Effect.Effect<Plan, Wrong> =>
  Effect.gen(function* () {
    const fills = yield* reading(fillSums(at.sql, at.client.clientId, fillsOfPeriod(at)))
    const events = yield* bookedEvents(at)
    const settled = fills.some(({ family }) => family === "SPOT") ? yield* spotSettled(at) : new Map<string, bigint>()
    return {
      sections: [
        {
          facts: { name: "EXECUTIONS", counterparty: "the firm" },
          rows: (emit) => rowsOf(at, events, settled, emit)
        }
      ],
      notes,
      rows: events.length + fills.reduce((rows, each) => rows + each.rows, 0)
    }
  })

/** Fills and events in one order: by booking, in one millisecond fills first, then by id. */
const rowsOf = (
  at: Building,
  events: ReadonlyArray<BookedEvent>,
  settled: ReadonlyMap<string, bigint>,
  emit: Emit<Wrong>
): Effect.Effect<void, Wrong> =>
  Effect.gen(function* () {
    const { sql, client, cut, start } = at
    let next = 0
    const row = (fill: StatedFill) =>
      fillRow(at.venue, fill, settled.get(`${fill.orderId}:${fill.tradeId}`) ?? fill.notional)
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
