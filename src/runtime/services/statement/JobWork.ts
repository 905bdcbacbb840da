/**
 * What a statement job does for clients, apart from when and how often: whom it concerns, and what is made of them (STS-29). Nothing
 * of it is written but models, which no row names yet: the caller files what it gets, in one commit with the job's cursor.
 */
import { Context, type Effect } from "effect"
import type { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { DailyEquityRow, StatementJobRow } from "../../store/tables/statementJob.ts"
import type { StatementRow } from "../../store/tables/statement.ts"
import type { Filing } from "./fileStatement.ts"

/** A page of clients. */
export interface NextClients {
  readonly clientIds: ReadonlyArray<number>
  /** Whether none are behind it. */
  readonly isLast: boolean
}

/** What a job has made of one client. */
export interface JobPart {
  readonly clientId: number
  readonly partnerId: number
  /** The statement that is to be filed, with the version that it stands in place of. */
  readonly statement: { readonly filing: Filing; readonly before: StatementRow | null } | null
  readonly equities: ReadonlyArray<DailyEquityRow>
  /** Why it could not be made; it is tried again. */
  readonly failure: string | null
}

/** A part with nothing to write: the statement is there already, or the client has nothing to state. */
export const nothingOf = (clientId: number, partnerId: number): JobPart => ({
  clientId,
  partnerId,
  statement: null,
  equities: [],
  failure: null
})

export class JobWork extends Context.Service<
  JobWork,
  {
    /** The next clients that a job may concern, behind its cursor, in the order of their ids. */
    next(job: StatementJobRow): Effect.Effect<NextClients, Unavailable>
    /** Makes what the job makes of these clients; one that fails fails alone. Fails as a whole while the database is away. */
    make(job: StatementJobRow, clientIds: ReadonlyArray<number>): Effect.Effect<ReadonlyArray<JobPart>, Unavailable>
    /** Whether the marks of a midnight are kept, or will never be. */
    readonly isValued: (day: number) => boolean
  }
>()("brokerage/runtime/services/statement/JobWork") {}
