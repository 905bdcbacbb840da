/**
 * The work of a statement job on clients, without its schedule: it selects the clients and makes their statements. It
 * writes only models, which no row names yet. The caller files the results in one commit with the job's cursor
 * (STS-29).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { periodOfJob, schedules } from "../../../../machines/statement/statementJobs.ts"
import type { RequestedPeriod } from "../../../../machines/statement/statementPeriod.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import type { Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { Journal } from "../../../engine/journal/Journal.ts"
import { SealingService } from "../../../engine/sealing/SealingService.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { StatementModels } from "../../../ports/StatementModels.ts"
import { Settings } from "../../../Settings.ts"
import {
  boundsBefore,
  concernedClients,
  cutsOfClients,
  executingClients,
  type Executing,
  fundedClients,
  isThere,
  partnerOfClient
} from "../../../store/reads/statementJobReads.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { StatementJobRow } from "../../../tables/statementJob.ts"
import { DailyMarks } from "../../market/DailyMarks.ts"
import { Directory } from "../../partners/Directory.ts"
import { reading, type Reading } from "../model/Building.ts"
import { equityParts, clientsOfEquities } from "./equityWork.ts"
import { failed, type JobPart, type JobTools, nothingOf, singleParts } from "./jobBuild.ts"
import { ModelBuilds } from "../build/ModelBuilds.ts"
import { makeEndOfDay, EndOfDayFacts } from "./endOfDayWork.ts"
import { nextModelId } from "../build/nextModelId.ts"
import { reasonOf } from "../build/reasonOf.ts"
import { taxPartOf } from "../model/taxYears.ts"

/**
 * The most clients of an end-of-day run that one query over the day's executions lists. The result takes some hundred
 * kilobytes.
 */
const listed = 20_000
/** Clients per page: many if their short statements are made together, few if each statement takes long. */
const endOfDayPage = 32
const singlePage = 16

export interface NextClients {
  readonly clientIds: ReadonlyArray<number>
  /** True if no client comes after the page. */
  readonly isLast: boolean
}

export class JobWork extends Context.Service<
  JobWork,
  {
    /** The next clients after the job's cursor that the job may concern, by id. */
    next(job: StatementJobRow): Effect.Effect<NextClients, Unavailable>
    /**
     * Makes the job's results for these clients. A failure of one client does not affect the others. The whole call
     * fails while the database is unavailable.
     */
    make(job: StatementJobRow, clientIds: ReadonlyArray<number>): Effect.Effect<ReadonlyArray<JobPart>, Unavailable>
    /** True if the marks of a midnight are stored, or none will be stored for it. */
    readonly isValued: (day: number) => boolean
  }
>()("brokerage/runtime/services/statements/jobs/JobWork") {
  static readonly layer = Layer.effect(
    JobWork,
    Effect.gen(function* () {
      const journal = yield* Journal
      const marks = yield* DailyMarks
      const tools: JobTools = {
        sql: yield* PgClient.PgClient,
        sealing: yield* SealingService,
        firm: (yield* Settings).firm,
        clock: yield* BusinessClock,
        directory: yield* Directory,
        models: yield* StatementModels,
        builds: yield* ModelBuilds,
        stored: yield* RowReads,
        newModelId: nextModelId(journal),
        recordFailure: (client, defect) =>
          Effect.as(
            Effect.annotateLogs(
              Effect.logError(
                "a job could not make a client's statement: the job records the failure and retries the client",
                defect
              ),
              {
                clientId: client.id
              }
            ),
            failed(client, reasonOf(defect))
          )
      }
      const night = new EndOfDayList(tools)

      return JobWork.of({
        isValued: marks.isKept,
        next: (job) => {
          if (job.name === "TRANSACTIONS") return night.next(job, endOfDayPage)
          const limit = job.name === "EQUITIES" ? clientsOfEquities(job) : singlePage
          return Effect.map(reading(fundedClients(tools.sql, job.cursor, limit)), (clientIds) => ({
            clientIds,
            isLast: clientIds.length < limit
          }))
        },
        make: (job, clientIds) =>
          unlessAway(attempt(job, clientIds), () =>
            Effect.map(
              Effect.forEach(clientIds, (clientId) =>
                unlessAway(attempt(job, [clientId]), (defect) => failedAlone(clientId, defect))
              ),
              (parts) => parts.flat()
            )
          )
      })

      function attempt(job: StatementJobRow, clientIds: ReadonlyArray<number>): Reading<ReadonlyArray<JobPart>> {
        return Effect.gen(function* () {
          if (clientIds.length === 0) return []
          if (job.name === "EQUITIES") return yield* equityParts(tools, job, clientIds)
          const clients = (yield* tools.stored.among("clients", clientIds)).toSorted((one, other) => one.id - other.id)
          const period = periodOfJob({ name: job.name, from: job.periodFrom, to: job.periodTo })
          if (job.name !== "TRANSACTIONS")
            return yield* concernedParts(tools, period, clients, schedules[job.name].once)
          return yield* makeEndOfDay(
            tools,
            night.factsOf(job.id, period),
            clients.map((client) => ({ client, others: night.hasOthers(job.id, client.id) }))
          )
        })
      }

      /**
       * Handles a failed read. If the database responds, the fault is that of one client, and `instead` processes the
       * clients one by one.
       */
      function unlessAway(
        made: Reading<ReadonlyArray<JobPart>>,
        instead: (why: unknown) => Reading<ReadonlyArray<JobPart>>
      ): Reading<ReadonlyArray<JobPart>> {
        return made.pipe(
          Effect.catch((error) =>
            Effect.andThen(
              reading(isThere(tools.sql)),
              Effect.suspend(() => instead(error))
            )
          ),
          Effect.catchDefect(instead)
        )
      }

      function failedAlone(clientId: number, defect: unknown): Reading<ReadonlyArray<JobPart>> {
        return Effect.gen(function* () {
          const partnerId = yield* reading(partnerOfClient(tools.sql, clientId))
          return partnerId === null ? [] : [yield* tools.recordFailure({ id: clientId, partnerId }, defect)]
        })
      }
    })
  )
}

/** Statements of a quarter or a year for the clients that it concerns. */
const concernedParts = (
  tools: JobTools,
  period: RequestedPeriod,
  clients: ReadonlyArray<ClientRow>,
  once: boolean
): Reading<ReadonlyArray<JobPart>> =>
  Effect.gen(function* () {
    const ids = yield* concernedBy(tools, period, clients)
    const concerned = clients.filter(({ id }) => ids.has(id))
    const others = clients.filter(({ id }) => !ids.has(id)).map(({ id, partnerId }) => nothingOf(id, partnerId))
    const { taxYear } = period
    const made =
      taxYear === null
        ? yield* singleParts(tools, period, concerned, once)
        : yield* taxParts(tools, { ...period, taxYear }, concerned, once)
    return [...others, ...made]
  })

/** The clients with a booking in the period, and those that held a balance or an open object throughout it. */
const concernedBy = (
  { sql }: JobTools,
  period: RequestedPeriod,
  clients: ReadonlyArray<ClientRow>
): Reading<ReadonlySet<number>> =>
  Effect.gen(function* () {
    const ids = clients.filter(({ createdAt }) => createdAt < period.to).map(({ id }) => id)
    if (ids.length === 0) return new Set<number>()
    const start = yield* reading(boundsBefore(sql, period.from))
    const end = yield* reading(boundsBefore(sql, period.to))
    const cuts = yield* reading(cutsOfClients(sql, ids, period, { start, end }))
    const still = cuts.filter((each) => each.cut.postingId === each.start.postingId)
    const holding = still.length === 0 ? new Set<number>() : yield* reading(concernedClients(sql, still, period.from))
    const moving = cuts.filter((each) => each.cut.postingId > each.start.postingId).map(({ clientId }) => clientId)
    return new Set([...moving, ...holding])
  })

/**
 * TAX statements of the job's rule (British or not) for the clients of its year. Each covers the client's part of the
 * year (STS-26).
 */
const taxParts = (
  tools: JobTools,
  year: RequestedPeriod & { readonly taxYear: number },
  clients: ReadonlyArray<ClientRow>,
  once: boolean
): Reading<ReadonlyArray<JobPart>> =>
  Effect.gen(function* () {
    const { taxYear, isBritish } = year
    const parts: Array<JobPart> = []
    const whole: Array<ClientRow> = []
    for (const client of clients) {
      const part = yield* taxPartOf(tools, client.id, { year: taxYear, isBritish })
      const isWhole = part?.from === year.from && part.to === year.to
      if (isWhole) whole.push(client)
      else if (part === null || !(yield* concernedBy(tools, { ...year, ...part }, [client])).has(client.id))
        parts.push(nothingOf(client.id, client.partnerId))
      else parts.push(...(yield* singleParts(tools, { ...year, ...part }, [client], once)))
    }
    return [...parts, ...(yield* singleParts(tools, year, whole, once))]
  })

/** The list of clients with executions in the current end-of-day run, read in large steps. */
class EndOfDayList {
  private readonly tools: JobTools
  private jobId = 0
  private cursor = 0
  private found: ReadonlyArray<Executing> = []
  private at = 0
  private isWhole = false
  private others = new Set<number>()
  private facts: EndOfDayFacts | null = null

  constructor(tools: JobTools) {
    this.tools = tools
  }

  next(job: StatementJobRow, limit: number): Reading<NextClients> {
    return Effect.gen({ self: this }, function* () {
      // If a page could not be filed, the job's cursor lies before the list's position, and the list begins again.
      if (job.id !== this.jobId || job.cursor < this.cursor) this.begin(job.id)
      this.cursor = job.cursor
      yield* this.catchUp(job)
      const clientIds = this.found.slice(this.at, this.at + limit).map(({ clientId }) => clientId)
      return { clientIds, isLast: this.isWhole && this.at + limit >= this.found.length }
    })
  }

  hasOthers(jobId: number, clientId: number): boolean {
    return jobId !== this.jobId || this.others.has(clientId)
  }

  factsOf(jobId: number, period: RequestedPeriod): EndOfDayFacts {
    if (jobId !== this.jobId) return new EndOfDayFacts(period)
    this.facts ??= new EndOfDayFacts(period)
    return this.facts
  }

  private begin(jobId: number): void {
    this.jobId = jobId
    this.found = []
    this.at = 0
    this.isWhole = false
    this.facts = null
  }

  private catchUp(job: StatementJobRow): Reading<void> {
    return Effect.gen({ self: this }, function* () {
      while (this.at < this.found.length && (this.found[this.at] as Executing).clientId <= job.cursor) this.at++
      if (this.at < this.found.length || this.isWhole) return
      const period = { from: job.periodFrom, to: job.periodTo }
      this.found = yield* reading(executingClients(this.tools.sql, period, job.cursor, listed))
      this.others = new Set(this.found.filter(({ others }) => others).map(({ clientId }) => clientId))
      this.at = 0
      this.isWhole = this.found.length < listed
    })
  }
}
