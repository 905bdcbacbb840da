/**
 * TRANSACTIONS statement: one row per execution, by time of booking. Executions are fills, openings and ends of
 * knock-out contracts, and takes, payments and write-offs of staking swaps; funding is none. A value that all rows
 * share is a fact of the section (A2-71, STS-25).
 */
import { Effect } from "effect"
import { fillsOf, fillSums, type StatementFill } from "../../../store/reads/statementReads.ts"
import { type BookedEvent, bookedEvents, spotSettled } from "./bookedEvents.ts"
import {
  type Building,
  eachPage,
  fillsOfPeriod,
  pageRows,
  type Plan,
  type Reading,
  reading,
  type Wrong
} from "./Building.ts"
import { eventRows, fillRow } from "./executionRows.ts"
import type { Emit } from "./ModelWriter.ts"

const notes = [
  "Executed on the venue named in each row; the counterparty of every execution is the firm.",
  "Money was settled at execution, to and from the account; no currency was converted.",
  "Rows are in the order of their booking; trading day and time are the venue's, UTC.",
  "A write-off moved no money: it gave up so much of a claim on the writer."
]

/** The source of executions: reads for one client, or shared reads for many clients. */
export interface ExecutionReads {
  /** Number of fills of the period. */
  readonly count: Reading<number>
  /** Executions of the period other than fills, in the order of booking. */
  readonly events: Effect.Effect<ReadonlyArray<BookedEvent>, Wrong>
  /** The next fills after an id, at most `pageRows`. */
  readonly fills: (after: number) => Reading<ReadonlyArray<StatementFill>>
  /** The settlement amounts of spot trades in their quote, minor units, by order and trade. */
  readonly settled: Effect.Effect<ReadonlyMap<string, bigint>, Wrong>
}

export const planTransactions = (at: Building): Effect.Effect<Plan, Wrong> =>
  Effect.gen(function* () {
    const { sql, client, cut } = at
    const sums = yield* reading(fillSums(sql, client.clientId, fillsOfPeriod(at)))
    return yield* planExecutions(at, {
      count: Effect.succeed(sums.reduce((rows, each) => rows + each.rows, 0)),
      events: bookedEvents(at),
      fills: (after) => reading(fillsOf(sql, client.clientId, { after, to: cut.fillId }, pageRows)),
      settled: sums.some(({ family }) => family === "SPOT") ? spotSettled(at) : Effect.succeed(new Map())
    })
  })

export const planExecutions = (at: Building, reads: ExecutionReads): Effect.Effect<Plan, Wrong> =>
  Effect.gen(function* () {
    const fills = yield* reads.count
    const events = yield* reads.events
    const settled = yield* reads.settled
    return {
      sections: [
        {
          facts: { name: "EXECUTIONS", counterparty: "the firm" },
          rows: (emit) => rowsOf(at, reads, events, settled, emit)
        }
      ],
      notes,
      rows: events.length + fills
    }
  })

/** Merges fills and events by booking time, then by id. In the same millisecond fills come first. */
const rowsOf = (
  at: Building,
  reads: ExecutionReads,
  events: ReadonlyArray<BookedEvent>,
  settled: ReadonlyMap<string, bigint>,
  emit: Emit<Wrong>
): Effect.Effect<void, Wrong> =>
  Effect.gen(function* () {
    let next = 0
    const row = (fill: StatementFill) =>
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
