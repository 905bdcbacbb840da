/**
 * The input that all kinds of statement share: the client, the cut, and the form of reads, which fail as `Unavailable`
 * (STS-19).
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Fiber } from "effect"
import type { SqlError } from "effect/sql"
import type { Cut } from "../../../../machines/statement/StatementModel.ts"
import type { RequestedPeriod } from "../../../../machines/statement/statementPeriod.ts"
import { Unavailable } from "../../../engine/mailbox/DispatchError.ts"
import { withinTime } from "../../../engine/withinTime.ts"
import { type IdRange, postingChunkEnd } from "../../../store/reads/statementReads.ts"
import { whenAway } from "../../../store/whenAway.ts"
import type { PlannedSection, TooManyRows } from "./ModelWriter.ts"

export type Wrong = Unavailable | TooManyRows
export type Reading<A> = Effect.Effect<A, Unavailable>

/** The client of a statement. */
export interface Stated {
  readonly clientId: number
  readonly partnerId: number
  readonly clientUid: string
  /** The time at which the account was opened, Unix ms. */
  readonly createdAt: number
}

export interface Building {
  readonly sql: PgClient.PgClient
  readonly client: Stated
  readonly period: RequestedPeriod
  /** The ids of the last objects before the period begins. */
  readonly start: Cut
  /** The ids of the last objects before the period ends. */
  readonly cut: Cut
  /** The name of the trading venue in executions. */
  readonly venue: string
}

/** The parts of a statement that depend on its kind. */
export interface Plan {
  readonly sections: ReadonlyArray<PlannedSection<Wrong>>
  readonly notes: ReadonlyArray<string>
  /** The number of rows, as far as it is known before they are read. */
  readonly rows: number
}

/** A read of the database. A fault or a timeout fails as `Unavailable`. */
export const reading = <A>(statement: Effect.Effect<A, SqlError.SqlError>): Reading<A> =>
  withinTime(Effect.catch(statement, whenAway), () => new Unavailable({ unknown: false }))

/** The range of ids of the postings in the period. */
export const postingsOfPeriod = ({ start, cut }: Building): IdRange => ({ after: start.postingId, to: cut.postingId })
/** The range of ids of the postings before the period. */
export const postingsBefore = ({ start }: Building): IdRange => ({ after: 0, to: start.postingId })
export const fillsOfPeriod = ({ start, cut }: Building): IdRange => ({ after: start.fillId, to: cut.fillId })

/** Walks a client's postings in ranges, so that each SQL statement is short. */
export const eachStretch = <E>(
  { sql, client }: Pick<Building, "sql"> & { readonly client: Pick<Stated, "clientId"> },
  range: IdRange,
  work: (stretch: IdRange) => Effect.Effect<void, E>
): Effect.Effect<void, E | Unavailable> =>
  Effect.gen(function* () {
    let after = range.after
    while (after < range.to) {
      const to = yield* reading(postingChunkEnd(sql, client.clientId, { after, to: range.to }))
      if (to === null) return
      yield* work({ after, to })
      after = to
    }
  })

/**
 * Reads pages by id until a page is not full. `page` receives the last id of the page before it. The next page is read
 * while one is processed.
 */
export const eachPage = <Row, E>(
  size: number,
  page: (after: number) => Reading<ReadonlyArray<Row>>,
  idOf: (row: Row) => number,
  work: (rows: ReadonlyArray<Row>) => Effect.Effect<void, E>,
  first = 0
): Effect.Effect<void, E | Unavailable> =>
  Effect.gen(function* () {
    let rows = yield* page(first)
    for (;;) {
      const last = rows.at(-1)
      if (last === undefined) return
      if (rows.length < size) return yield* work(rows)
      const next = yield* Effect.forkChild(page(idOf(last)))
      yield* work(rows)
      rows = yield* Fiber.join(next)
    }
  })

export const pageRows = 2_000
