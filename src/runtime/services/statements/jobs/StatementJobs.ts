/**
 * The service's own statements, in the background, on the business clock: one job at a time in the order of due times,
 * however many were missed. A job processes its clients page by page; the results of a page and the cursor after it
 * are one commit. A failed client is recorded, retried at growing intervals, and delays no other client (A2-68,
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

/** The worker over any `JobWork`: a simulation provides its own. */
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
      const jobs = makeUntilDone("statements that are due could not be made")
      const retries = makeUntilDone("statements that had failed could not be made")
      yield* Effect.forkScoped(Effect.forever(jobs(round(tools, moved))))
      yield* Effect.forkScoped(Effect.forever(retries(retryDue(tools))))
    })
  )

export const layerStatementJobs = layerStatementWorker.pipe(Layer.provide(JobWork.layer))

/** Longest pause between two checks for due jobs; a moved clock ends it. */
const pollMillis = 30_000
/** Pause until the marks of a midnight that has just passed are kept, which takes seconds. */
const valuedMillis = 500

/** Continues the running job, or begins the next one that is due, or waits for it. */
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
        // Another process has begun the job: its row is there.
        "ClaimLost",
        () => Effect.void
      )
    }
    const pause = Math.min(Math.max(isNext - clock.now(), valuedMillis), pollMillis)
    yield* Effect.timeoutOption(moved.await, pause)
  })

/** Missed nights without an execution that are recorded in one commit. */
const emptyAtOnce = 64

/**
 * The nights from a plan on without any executions. Only nights that were due before the last job began count: every
 * turn that could have booked something in them was in the database by then.
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

/** The next due job. Equities come before the statements that use them. */
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

/** The last midnight with equities kept, or being kept; null: there is none. */
export const equitiesKept = (stored: RowReads["Service"]): Effect.Effect<number | null, Unavailable> =>
  Effect.map(
    stored.page("statementJobs", [{ column: "name", value: "EQUITIES" }], { limit: 1 }),
    ([last]) => last?.periodTo ?? null
  )

/** Equity jobs before the first statement: one per midnight. */
const beforeFirst = 1_000

/**
 * The last job that made statements. Before the first one: the first midnight with equities kept. Null: there is none.
 */
export const jobsPlace = (stored: RowReads["Service"]): Effect.Effect<JobPlace | null, Unavailable> =>
  Effect.gen(function* () {
    const others = [{ column: "name", value: "EQUITIES", comparison: "<>" }] as const
    const [last] = yield* stored.page("statementJobs", others, { limit: 1 })
    if (last !== undefined) return last
    const first = (yield* stored.page("statementJobs", [], { limit: beforeFirst })).at(-1)
    return first === undefined ? null : firstPlace(first.periodFrom)
  })

/** A page being made, and the job's cursor after it. */
interface Ahead {
  readonly cursor: number
  readonly isLast: boolean
  readonly made: Fiber.Fiber<PageEnd, Unavailable>
}

/** Pages begun and not stored: one is read while another is composed or stored. */
const pagesAhead = 2

/**
 * Runs a job to its end. Further pages are made while a page is stored. If the job's stored cursor is not the one
 * after the page, the prepared pages are discarded and made again from there.
 */
const walk = (tools: JobsTools, begun: StatementJobRow): Effect.Effect<void, DispatchError> =>
  // Interrupts the prepared pages however the job ends.
  Effect.scoped(
    Effect.gen(function* () {
      let job = begun
      let ahead: ReadonlyArray<Ahead> = []
      for (;;) {
        const began = yield* Clock.currentTimeMillis
        ahead = yield* filled(tools, job, ahead)
        const [page, ...others] = ahead as readonly [Ahead, ...ReadonlyArray<Ahead>]
        const stored = yield* storePage(tools, job, yield* Fiber.join(page.made))
        // The cursor is elsewhere: another process is moving it, and an immediate read would find the same.
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

/** Fills the prepared pages up to their limit, or to the last page. */
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

/** Least and longest pause after a page while callers wait for the service. */
const pauses = { least: 20, longest: 100 }

/** Callers come first: while one waits, the pause is as long as the page took. */
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
    // A caller has made one of the statements meanwhile: the page is made again, and finds it.
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

/** Files each client alone after the database has rejected the page, so that only the rejected client fails. */
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

/** Interval of the checks for due retries. */
const retryLook = "20 seconds"
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
    if (due.length < retriedAtOnce) yield* Effect.sleep(retryLook)
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
