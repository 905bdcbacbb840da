/** Statement jobs for finance: run times, results, failed clients, and the next due job (STS-29). */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { jobAfter, type StatementJobName } from "../../../../machines/statement/statementJobs.ts"
import type { Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { cutPage, onePast, type PageEnd, type PageQuery } from "../../../store/paging.ts"
import { clientsLeft, openFailures } from "../../../store/reads/statementJobReads.ts"
import type { StatementJobFailureRow } from "../../../tables/statementJob.ts"
import { reading } from "../model/Building.ts"
import { jobsPlace } from "./StatementJobs.ts"

export interface JobView {
  readonly jobId: number
  readonly name: StatementJobName
  readonly periodFrom: number
  readonly periodTo: number
  readonly dueAt: number
  readonly startedAt: number
  readonly endedAt: number | null
  /** Number of clients that the job has processed. */
  readonly clients: number
  /** Number of statements or equities that the job has made. */
  readonly made: number
  /** Number of clients whose statement failed and is retried. */
  readonly failed: number
  /** Number of clients that the job has still to process; null once it has ended. */
  readonly left: number | null
}

export interface JobsPage extends PageEnd {
  readonly jobs: ReadonlyArray<JobView>
  /** Failed clients of all jobs, newest first; at most `failuresShown`. */
  readonly failures: ReadonlyArray<Omit<StatementJobFailureRow, "id" | "state">>
  /** The next job that makes statements; null until the service has begun its first job. */
  readonly next: { readonly name: StatementJobName; readonly dueAt: number } | null
}

const failuresShown = 200

export class JobReads extends Context.Service<
  JobReads,
  {
    /** A page of jobs, newest first, with their failures and the next job that is due. */
    list(query: PageQuery): Effect.Effect<JobsPage, Unavailable>
  }
>()("brokerage/runtime/services/statements/jobs/JobReads") {
  static readonly layer = Layer.effect(
    JobReads,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const stored = yield* RowReads
      return JobReads.of({
        list: (query) =>
          Effect.gen(function* () {
            const rows = yield* stored.page("statementJobs", [], onePast(query))
            const { shown, end } = cutPage(rows, query.limit, ({ id }) => id)
            const ids = shown.map(({ id }) => id)
            const failed = yield* reading(openFailures(sql, ids))
            const jobs: Array<JobView> = []
            for (const { id, cursor, ...job } of shown)
              jobs.push({
                jobId: id,
                ...job,
                failed: failed.get(id) ?? 0,
                left: job.endedAt === null ? yield* reading(clientsLeft(sql, { cursor, ...job })) : null
              })
            const open = yield* stored.page("statementJobFailures", [{ column: "state", value: "OPEN" }], {
              limit: failuresShown
            })
            const failures = open.map(({ id: _id, state: _state, ...failure }) => failure)
            const place = yield* jobsPlace(stored)
            const next = place === null ? null : jobAfter(place)
            return { jobs, failures, next: next === null ? null : { name: next.name, dueAt: next.dueAt }, ...end }
          })
      })
    })
  )
}
