/**
 * The turns of statement jobs in the system's mailbox. The results of a page of clients and the job's new cursor are
 * one commit, so a crash leaves both or neither. Each version of a statement is also claimed (STS-29).
 */
import { type JobPlan, retryAfter } from "../../../../machines/statement/statementJobs.ts"
import type { Attribution, Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { StatementJobFailureRow, StatementJobRow } from "../../../tables/statementJob.ts"
import { newVersion } from "../fileStatement.ts"
import type { JobPart } from "./jobBuild.ts"

export const byJobs: Attribution = {
  role: "SYSTEM",
  keyLabel: "statements",
  requestId: "statement-jobs",
  actor: "system:statements"
}

const madeBySystem = { role: "SYSTEM", correction: null } as const

/** The first row of a job that begins now, before its first page. */
export const newJob = (id: number, { name, dueAt, from, to }: JobPlan, now: number): StatementJobRow => ({
  id,
  name,
  periodFrom: from,
  periodTo: to,
  dueAt,
  cursor: 0,
  clients: 0,
  made: 0,
  startedAt: now,
  endedAt: null
})

/**
 * Begins a job. A claim makes the commit fail if the job was begun before. `isEmpty`: no client is concerned, so it ends at
 * once.
 */
export const beginJob = (turn: Turn, plan: JobPlan, isEmpty: boolean): void => {
  const id = turn.nextId("statementJob")
  turn.draft.claim(`statementJob:${plan.name}:${plan.from}:${plan.to}`, id)
  turn.draft.put("statementJobs", { ...newJob(id, plan, turn.now), endedAt: isEmpty ? turn.now : null })
}

/** The results of one page of clients, and the client after which the next page begins. */
export interface PageEnd {
  readonly parts: ReadonlyArray<JobPart>
  /** Id of the last client of the page; null if the page had no client. */
  readonly last: number | null
  readonly isLast: boolean
}

/** Stores the results of a page of clients and moves the job's cursor. Null: the cursor has moved since the page was begun. */
export const filePage = (
  turn: Turn,
  job: StatementJobRow,
  { parts, last, isLast }: PageEnd
): StatementJobRow | null => {
  const row = turn.state.get("statementJobs", String(job.id))
  if (row === undefined || row.cursor !== job.cursor) return null
  let made = 0
  for (const part of parts) {
    made += filePart(turn, part)
    if (part.failure !== null) putFailure(turn, job.id, part, part.failure)
  }
  const next: StatementJobRow = {
    ...row,
    cursor: last ?? row.cursor,
    clients: row.clients + parts.length,
    made: row.made + made,
    endedAt: isLast ? turn.now : null
  }
  turn.draft.put("statementJobs", next)
  return next
}

/** Stores the result of one client. Returns the number of statements or equities that were made for it. */
const filePart = (turn: Turn, { statement, equities }: JobPart): number => {
  if (statement !== null) newVersion(turn, madeBySystem, statement.filing, statement.before)
  for (const row of equities) turn.draft.put("dailyEquities", row)
  return (statement === null ? 0 : 1) + equities.length
}

const putFailure = (turn: Turn, jobId: number, { clientId, partnerId }: JobPart, reason: string): void =>
  turn.draft.put("statementJobFailures", {
    id: turn.nextId("statementJobFailure"),
    jobId,
    partnerId,
    clientId,
    state: "OPEN",
    tries: 1,
    retryAt: turn.now + retryAfter(1),
    reason,
    failedAt: turn.now
  })

/** Stores the result of a retry for a client that had failed: the statement, or the time of the next retry. */
export const fileRetry = (turn: Turn, job: StatementJobRow, before: StatementJobFailureRow, part: JobPart): void => {
  const made = filePart(turn, part)
  const tries = before.tries + 1
  turn.draft.put("statementJobFailures", {
    ...before,
    tries,
    ...(part.failure === null
      ? { state: "SOLVED" }
      : { reason: part.failure, retryAt: turn.now + retryAfter(tries), failedAt: turn.now })
  })
  if (made === 0) return
  // A running job counts in its current row. A job that has ended since it was read is not counted, because its row has
  // left memory.
  const row = turn.state.get("statementJobs", String(job.id)) ?? (job.endedAt === null ? null : job)
  if (row !== null) turn.draft.put("statementJobs", { ...row, made: row.made + made })
}
