/**
 * The scheduled statements, generated in the background on the business clock. One job runs at a time, in the order of
 * due times; missed jobs are made up for. A job processes its clients page by page. The results of a page and the new
 * cursor are one commit. A failed client is recorded, retried at growing intervals, and delays no other client (A2-68,
 * STS-28, STS-29).
 */
import { Clock, Effect, Fiber, Latch, Layer, type Scope } from "effect"
import {
  equitiesDue,
  firstPlace,
  jobAfter,
  type JobPlace,
  type JobPlan
} from "../../../../machines/statement/statementJobs.ts"
import { yieldToEventLoop } from "../../../engine/yieldToEventLoop.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import { ActorHost, type DispatchError, type Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { passPausePoint } from "../../../engine/PausePoints.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import type { StatementJobFailureRow, StatementJobRow } from "../../../tables/statementJob.ts"
import { systemSubject } from "../../shared/OperatorCaller.ts"
import { makeUntilDone } from "../../shared/untilDone.ts"
import { beginJob, byJobs, filePage, newJob, fileRetry, type PageEnd } from "./jobDecisions.ts"
import type { JobPart } from "./jobBuild.ts"
import { JobWork } from "./JobWork.ts"

export interface JobsTools {
  readonly host: ActorHost["Service"]
  readonly clock: BusinessClock["Service"]
  readonly stored: RowReads["Service"]
  readonly work: JobWork["Service"]
}

/** The worker, with any `JobWork`; a simulation provides its own. */
export const layerStatementWorker: Layer.Layer<never, never, ActorHost | BusinessClock | RowReads | JobWork> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const tools: JobsTools = {
        host: yield* ActorHost,
        clock: yield* BusinessClock,
        stored: yield* RowReads,
        work: yield* JobWork
      }
      const moved = Latch.makeUnsafe(false)
      tools.clock.onMove(() => moved.openUnsafe())
      const jobs = makeUntilDone("due statements could not be made")
      const retries = makeUntilDone("failed statements could not be made again")
      yield* Effect.forkScoped(Effect.forever(jobs(round(tools, moved))))
      yield* Effect.forkScoped(Effect.forever(retries(retryDue(tools))))
    })
  )

export const layerStatementJobs = layerStatementWorker.pipe(Layer.provide(JobWork.layer))

/** The longest pause between two checks for due jobs. A move of the clock ends the pause. */
const pollMillis = 30_000
/** The pause between checks whether the marks of the last midnight are stored, which takes seconds. */
const valuedMillis = 500

/** Continues the running job, begins the next due one, or waits until one is due. */
const round = (tools: JobsTools, moved: Latch.Latch): Effect.Effect<void, DispatchError> =>
  Effect.gen(function* () {
    const { host, clock } = tools
    moved.closeUnsafe()
    const running = yield* host.read(systemSubject, (state) => state.all("statementJobs")[0] ?? null)
    if (running !== null) return yield* walk(tools, running)
    const { plan, isNext } = yield* duePlan(tools)
    if (plan !== null) {
      const empty = yield* emptyFrom(tools, plan)
      return yield* Effect.catchTag(
        host.dispatch({
          subject: systemSubject,
          by: byJobs,
          lane: "internal",
          decide: (turn) => {
            for (const each of empty) beginJob(turn, each, true)
            if (empty.length === 0) beginJob(turn, plan, false)
          }
        }),
        // Another process has begun the job, and the next round finds its row.
        "ClaimLost",
        () => Effect.void
      )
    }
    const pause = Math.min(Math.max(isNext - clock.now(), valuedMillis), pollMillis)
    yield* Effect.timeoutOption(moved.await, pause)
  })

/** The most missed end-of-day runs without an execution that one commit records. */
const emptyAtOnce = 64

/**
 * The end-of-day runs without any execution, from a plan on. Only runs that were due before the last job began count,
 * because every turn that could have booked an execution in them was in the database by then.
 */
const emptyFrom = ({ stored, work }: JobsTools, plan: JobPlan): Effect.Effect<ReadonlyArray<JobPlan>, Unavailable> =>
  Effect.gen(function* () {
    const [last] = yield* stored.page("statementJobs", [], { limit: 1 })
    const empty: Array<JobPlan> = []
    let next = plan
    while (next.name === "TRANSACTIONS" && next.dueAt < (last?.startedAt ?? 0) && empty.length < emptyAtOnce) {
      const { clientIds } = yield* work.next(newJob(-next.dueAt, next, next.dueAt))
      if (clientIds.length > 0) break
      empty.push(next)
      next = jobAfter(next)
      yield* yieldToEventLoop
    }
    return empty
  })

interface Due {
  /** Null: nothing is due. */
  readonly plan: JobPlan | null
  /** Business time of the next check. */
  readonly isNext: number
}

/** The next due job. Jobs for equities precede jobs for the statements that use them. */
const duePlan = ({ stored, clock, work }: JobsTools): Effect.Effect<Due, Unavailable> =>
  Effect.gen(function* () {
    const now = clock.now()
    const midnights = equitiesDue(now, yield* equitiesKept(stored))
    if (midnights !== null && work.isValued(midnights.to)) return { plan: midnights, isNext: now }
    const place = yield* jobsPlace(stored)
    if (place === null) return { plan: null, isNext: now }
    const next = jobAfter(place)
    if (next.dueAt <= now) return { plan: next, isNext: now }
    return { plan: null, isNext: midnights === null ? next.dueAt : now }
  })

/** The last midnight whose equities are stored, or being stored; null: there is none. */
export const equitiesKept = (stored: RowReads["Service"]): Effect.Effect<number | null, Unavailable> =>
  Effect.map(
    stored.page("statementJobs", [{ column: "name", value: "EQUITIES" }], { limit: 1 }),
    ([last]) => last?.periodTo ?? null
  )

/** The most equity jobs that may precede the first job for statements, one per midnight. */
const beforeFirst = 1_000

/**
 * The last job that made statements. Before the first such job: the first midnight with stored equities. Null: there is
 * neither.
 */
export const jobsPlace = (stored: RowReads["Service"]): Effect.Effect<JobPlace | null, Unavailable> =>
  Effect.gen(function* () {
    const others = [{ column: "name", value: "EQUITIES", comparison: "<>" }] as const
    const [last] = yield* stored.page("statementJobs", others, { limit: 1 })
    if (last !== undefined) return last
    const first = (yield* stored.page("statementJobs", [], { limit: beforeFirst })).at(-1)
    return first === undefined ? null : firstPlace(first.periodFrom)
  })

/** A page in preparation, and the job's cursor after it. */
interface Ahead {
  readonly cursor: number
  readonly isLast: boolean
  readonly made: Fiber.Fiber<PageEnd, Unavailable>
}

/** The most pages in preparation: one is read while another is composed or stored. */
const pagesAhead = 2

/**
 * Runs a job to its end. Further pages are prepared while a page is stored. If the stored cursor is not the one after
 * that page, the prepared pages are discarded and made again from the stored cursor.
 */
const walk = (tools: JobsTools, begun: StatementJobRow): Effect.Effect<void, DispatchError> =>
  // However the job ends, the prepared pages are interrupted.
  Effect.scoped(
    Effect.gen(function* () {
      let job = begun
      let ahead: ReadonlyArray<Ahead> = []
      for (;;) {
        const began = yield* Clock.currentTimeMillis
        ahead = yield* filled(tools, job, ahead)
        const [page, ...others] = ahead as readonly [Ahead, ...ReadonlyArray<Ahead>]
        const stored = yield* storePage(tools, job, yield* Fiber.join(page.made))
        // Another process is moving the cursor, and an immediate read would only show the same cursor.
        if (stored === null) return yield* Effect.sleep(pauses.longest)
        if (stored.endedAt !== null) return
        const isThere = stored.cursor === page.cursor
        if (!isThere) yield* Fiber.interruptAll(others.map(({ made }) => made))
        ahead = isThere ? others : []
        job = stored
        yield* pace(tools, (yield* Clock.currentTimeMillis) - began)
      }
    })
  )

/** Prepares pages up to their limit, or up to the last page. */
const filled = (
  tools: JobsTools,
  job: StatementJobRow,
  ahead: ReadonlyArray<Ahead>
): Effect.Effect<ReadonlyArray<Ahead>, Unavailable, Scope.Scope> =>
  Effect.gen(function* () {
    const pages = [...ahead]
    while (pages.length < pagesAhead && pages.at(-1)?.isLast !== true)
      pages.push(yield* beginPage(tools, { ...job, cursor: pages.at(-1)?.cursor ?? job.cursor }))
    return pages
  })

/** The least and the longest pause after a page while callers wait, ms. */
const pauses = { least: 20, longest: 100 }

/** Gives way to callers: while a caller waits, the pause after a page is as long as the page took. */
const pace = ({ host }: JobsTools, took: number): Effect.Effect<void> =>
  Effect.suspend(() =>
    host.pressed() || host.stats().waiting > 0
      ? Effect.sleep(Math.min(Math.max(pauses.least, took), pauses.longest))
      : yieldToEventLoop
  )

const beginPage = ({ work }: JobsTools, job: StatementJobRow): Effect.Effect<Ahead, Unavailable, Scope.Scope> =>
  Effect.gen(function* () {
    const { clientIds, isLast } = yield* work.next(job)
    const last = clientIds.at(-1) ?? null
    const made = Effect.map(work.make(job, clientIds), (found): PageEnd => {
      const parts = found.toSorted((one, other) => one.clientId - other.clientId)
      if (parts.length > 0) passPausePoint("models-written")
      return { parts, last, isLast }
    })
    return { cursor: last ?? job.cursor, isLast, made: yield* Effect.forkScoped(made) }
  })

const storePage = (
  tools: JobsTools,
  job: StatementJobRow,
  page: PageEnd
): Effect.Effect<StatementJobRow | null, DispatchError> =>
  file(tools, job, page).pipe(
    // A caller has generated one of the statements in the meantime. The page is made again, and then finds that
    // statement.
    Effect.catchTag("ClaimLost", () => Effect.succeed(job)),
    Effect.catchTag("CommitRejected", () => fileOneByOne(tools, job, page))
  )

const file = (
  { host }: JobsTools,
  job: StatementJobRow,
  page: PageEnd
): Effect.Effect<StatementJobRow | null, DispatchError> =>
  host.dispatch({
    subject: systemSubject,
    by: byJobs,
    lane: "internal",
    decide: (turn) => filePage(turn, job, page)
  })

/** Files each client alone, after the database has rejected the page. Only the rejected client then fails. */
const fileOneByOne = (
  tools: JobsTools,
  job: StatementJobRow,
  { parts, last, isLast }: PageEnd
): Effect.Effect<StatementJobRow | null, DispatchError> =>
  Effect.gen(function* () {
    let at: StatementJobRow | null = job
    for (const part of parts) {
      if (at === null) return null
      const before: StatementJobRow = at
      const one = (filed: JobPart) => file(tools, before, { parts: [filed], last: part.clientId, isLast: false })
      at = yield* Effect.catchTag(one(part), "CommitRejected", () =>
        one({ ...part, statement: null, equities: [], failure: "The database refused it." })
      )
    }
    return at === null ? null : yield* file(tools, at, { parts: [], last, isLast })
  })

/** The interval of checks for due retries. */
const retryCheck = "20 seconds"
const retriedAtOnce = 16

const retryDue = (tools: JobsTools): Effect.Effect<void, DispatchError> =>
  Effect.gen(function* () {
    const { stored, clock } = tools
    const due = yield* stored.page(
      "statementJobFailures",
      [
        { column: "state", value: "OPEN" },
        { column: "retry_at", value: clock.now(), comparison: "<=" }
      ],
      { limit: retriedAtOnce }
    )
    for (const failure of due) yield* retry(tools, failure)
    if (due.length < retriedAtOnce) yield* Effect.sleep(retryCheck)
  })

const retry = (tools: JobsTools, failure: StatementJobFailureRow): Effect.Effect<void, DispatchError> =>
  Effect.gen(function* () {
    const { stored, work, host } = tools
    const [job] = yield* stored.among("statementJobs", [failure.jobId])
    if (job === undefined) return
    const [part] = yield* work.make(job, [failure.clientId])
    if (part === undefined) return
    const write = (filed: JobPart) =>
      host.dispatch({
        subject: systemSubject,
        by: byJobs,
        lane: "internal",
        decide: (turn) => fileRetry(turn, job, failure, filed)
      })
    yield* write(part).pipe(
      Effect.catchTag("ClaimLost", () => Effect.void),
      Effect.catchTag("CommitRejected", () =>
        write({ ...part, statement: null, equities: [], failure: "The database refused it." })
      )
    )
  })
