/**
 * The next due work by the business clock: durable timers, the next statement job, and each partner's next delivery
 * attempt. The service does not know the venue's own schedule, for example of funding.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { equitiesDue, jobAfter, type JobPlace, type JobPlan } from "../../../../machines/statement/statementJobs.ts"
import { Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { Timers } from "../../../engine/timers/Timers.ts"
import { withinTime } from "../../../engine/withinTime.ts"
import type { RowReads } from "../../../ports/RowReads.ts"
import { nextTries } from "../../../store/reads/deliveryReads.ts"
import { whenAway } from "../../../store/whenAway.ts"
import { equitiesKept, jobsPlace } from "../../statements/jobs/StatementJobs.ts"

export interface DueNext {
  /** The name of the work: a timer's handler, `statement.<job>` or `webhook.delivery`. */
  readonly name: string
  /** The mailbox, such as `client:5`. */
  readonly subject: string
  /** Unix ms of business time. */
  readonly dueAt: number
}

export interface DueParts {
  readonly timers: Timers["Service"]
  readonly stored: RowReads["Service"]
  readonly sql: PgClient.PgClient
}

/** The next due work, and how much follows. */
export interface DueList {
  /** The first due items, earliest first. */
  readonly next: ReadonlyArray<DueNext>
  /** Number of further due items, counted up to `counted`. */
  readonly more: number
}

const shown = 10
const counted = 1_000

/** The handler in a timer's name: the name without its object. */
export const handlerOf = (name: string): string => name.split(":")[0] ?? name

const away = () => new Unavailable({ unknown: false })

/** The next due work after `after` (Unix ms of business time). It includes only the first statement job. */
export const dueNext = (
  { timers, stored, sql }: DueParts,
  after = Number.NEGATIVE_INFINITY
): Effect.Effect<DueList, Unavailable> =>
  Effect.gen(function* () {
    const rows = yield* Effect.mapError(timers.due(Number.MAX_SAFE_INTEGER, shown + counted), away)
    const place = yield* jobsPlace(stored)
    const job = place === null ? null : firstJob(place, after)
    const tries = yield* withinTime(Effect.catch(nextTries(sql, shown + counted), whenAway), away)
    const all = [
      ...rows.map(({ name, subject, dueAt }) => ({ name: handlerOf(name), subject, dueAt })),
      ...(job === null ? [] : [{ name: jobNamed(job), subject: "system", dueAt: job.dueAt }]),
      ...tries.map(({ partnerId, nextAt }) => ({
        name: "webhook.delivery",
        subject: `partner:${partnerId}`,
        dueAt: nextAt
      }))
    ]
      .filter(({ dueAt }) => dueAt > after)
      .toSorted((one, other) => one.dueAt - other.dueAt)
    return { next: all.slice(0, shown), more: Math.min(counted, Math.max(0, all.length - shown)) }
  })

const jobNamed = ({ name }: JobPlan): string => `statement.${name}`

/** A limit far above the number of jobs in the longest jump. */
const mostJobs = 10_000

const firstJob = (place: JobPlace, after: number): JobPlan => {
  let job = jobAfter(place)
  for (let seen = 0; job.dueAt <= after && seen < mostJobs; seen++) job = jobAfter(job)
  return job
}

/**
 * The number of jobs for equities and statements that are due by `to` (Unix ms of business time) and have not begun, by
 * name.
 */
export const jobsDueBy = (
  stored: RowReads["Service"],
  to: number
): Effect.Effect<ReadonlyArray<{ readonly name: string; readonly count: number }>, Unavailable> =>
  Effect.gen(function* () {
    const place = yield* jobsPlace(stored)
    const counts = new Map<string, number>()
    if (place === null) return []
    // One job stores the equities of all past midnights, and precedes the statements that use them.
    const equities = equitiesDue(to, yield* equitiesKept(stored))
    if (equities !== null) counts.set(jobNamed(equities), 1)
    let job = jobAfter(place)
    for (let seen = 0; job.dueAt <= to && seen < mostJobs; seen++) {
      counts.set(jobNamed(job), (counts.get(jobNamed(job)) ?? 0) + 1)
      job = jobAfter(job)
    }
    return [...counts].map(([name, count]) => ({ name, count }))
  })
