/**
 * What the service states by itself, in the background, on the business clock (A2-68, STS-28, STS-29): one job at a time in the order
 * of due times, however many were missed. A job goes through its clients page by page; what a page has come to and the cursor
 * behind it are one commit. A client that fails is written down, tried again more and more seldom, and holds up nobody.
 */
import { Clock, Effect, Fiber, Latch, Layer, type Scope } from "effect"
import {
  equitiesDue,
  firstPlace,
  jobAfter,
  type JobPlace,
  type JobPlan
} from "../../../../machines/statement/statementJobs.ts"
import { breathe } from "../../../engine/breathe.ts"
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

/** The worker over any work: a simulation gives its own. */
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

/** Longest pause between two looks for what is due; a clock that is moved ends it. */
const lookAgainMillis = 30_000
/** Marks of a midnight that has just passed are kept within seconds. */
const valuedMillis = 500

/** Goes on with the job under way, or begins the next one that is due, or waits for it. */
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
        // Another process has begun it: its row is there.
        "ClaimLost",
        () => Effect.void
      )
    }
    const pause = Math.min(Math.max(isNext - clock.now(), valuedMillis), lookAgainMillis)
    yield* Effect.timeoutOption(moved.await, pause)
  })

/** Missed nights without an execution that are written down in one commit. */
const emptyAtOnce = 64

/**
 * The nights from a plan on that concern nobody. Only those that were due before the last job began: every turn that could have
 * booked something in them was in the database by then.
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
      yield* breathe
    }
    return empty
  })

interface Due {
  /** Null: nothing is due. */
  readonly plan: JobPlan | null
  /** When to look again, business time. */
  readonly isNext: number
}

/** The next job that is due. Equities come before the statements that speak of them. */
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

/** The last midnight of which equities are kept, or being kept; null: there is none. */
export const equitiesKept = (stored: RowReads["Service"]): Effect.Effect<number | null, Unavailable> =>
  Effect.map(
    stored.page("statementJobs", [{ column: "name", value: "EQUITIES" }], { limit: 1 }),
    ([last]) => last?.periodTo ?? null
  )

/** Rows of equities before the first statement: as many as midnights until then. */
const beforeFirst = 1_000

/** The last job that made statements; where none has, the first midnight of which equities are kept. Null: nothing is. */
export const jobsPlace = (stored: RowReads["Service"]): Effect.Effect<JobPlace | null, Unavailable> =>
  Effect.gen(function* () {
    const others = [{ column: "name", value: "EQUITIES", comparison: "<>" }] as const
    const [last] = yield* stored.page("statementJobs", others, { limit: 1 })
    if (last !== undefined) return last
    const first = (yield* stored.page("statementJobs", [], { limit: beforeFirst })).at(-1)
    return first === undefined ? null : firstPlace(first.periodFrom)
  })

/** A page that is being made, and where the job stands behind it. */
interface Ahead {
  readonly cursor: number
  readonly isLast: boolean
  readonly made: Fiber.Fiber<PageEnd, Unavailable>
}

/** Pages that are begun and not stored: one reads while another one is put together, or stored. */
const pagesAhead = 2

/**
 * Goes on with a job to its end. While a page is stored the next ones are made already; where the job comes to stand elsewhere than
 * behind the page, what was made is left, and made again from there.
 */
const walk = (tools: JobsTools, begun: StatementJobRow): Effect.Effect<void, DispatchError> =>
  // Whatever ends it ends the pages that it has begun.
  Effect.scoped(
    Effect.gen(function* () {
      let job = begun
      let ahead: ReadonlyArray<Ahead> = []
      for (;;) {
        const began = yield* Clock.currentTimeMillis
        ahead = yield* filled(tools, job, ahead)
        const [page, ...others] = ahead as readonly [Ahead, ...ReadonlyArray<Ahead>]
        const stored = yield* storePage(tools, job, yield* Fiber.join(page.made))
        // It stands elsewhere: whoever moves it is at it, and a look without a pause would find the same.
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

/** As many pages as may be made ahead, or as there are. */
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

/** Least and longest pause after a page while others wait for the service. */
const pauses = { least: 20, longest: 100 }

/** Callers come first: while anybody waits, as long a pause as the page has taken. */
const pace = ({ host }: JobsTools, took: number): Effect.Effect<void> =>
  Effect.suspend(() =>
    host.pressed() || host.stats().waiting > 0
      ? Effect.sleep(Math.min(Math.max(pauses.least, took), pauses.longest))
      : breathe
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
    // A caller has made one of them meanwhile: the page is made again, and finds it.
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

/** A page that the database refuses: only the client that it refuses fails. */
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

/** Between two looks for failures that are due again. */
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
