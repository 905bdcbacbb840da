/**
 * The due work of a sandbox by the business clock: durable timers, statement jobs, each partner's next delivery attempt, and the
 * venue's schedule of funding, maturities and expiries.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { equitiesDue, jobAfter, type JobPlace, midnight } from "../../../../machines/statement/statementJobs.ts"
import type { AccountFact } from "../../../../machines/venue/VenueEvent.ts"
import type { VenueDue } from "../../../../venue/VenueCommand.ts"
import { Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { Timers } from "../../../engine/timers/Timers.ts"
import { withinTime } from "../../../engine/withinTime.ts"
import type { RowReads } from "../../../ports/RowReads.ts"
import { nextTries } from "../../../store/reads/deliveryReads.ts"
import { whenAway } from "../../../store/whenAway.ts"
import { equitiesKept, jobsPlace } from "../../statements/jobs/StatementJobs.ts"

export interface DueNext {
  /** The name of the work: a timer's handler, `statement.<job>`, `venue.<work>` or `webhook.delivery`. */
  readonly name: string
  /** The mailbox, such as `client:5`; for work of the venue the market. */
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
  /** Overdue timers, and then the first due items, earliest first. */
  readonly next: ReadonlyArray<DueNext>
  /** Number of further due items, counted up to `counted`. */
  readonly more: number
}

const shown = 10
/** The most overdue timers among them. */
const shownOverdue = 5
/** A timer that has not fired this long after its due time is overdue, ms. */
const firingMillis = 2_000
const counted = 1_000
const dayMillis = 86_400_000

/** The handler in a timer's name: the name without its object. */
export const handlerOf = (name: string): string => name.split(":")[0] ?? name

const away = () => new Unavailable({ unknown: false })

/**
 * The timers that are overdue at `now`, and the next due work after `after` (both Unix ms of business time). The work includes the
 * first job for equities, the first statement job, and each work of the venue once.
 */
export const dueNext = (
  { timers, stored, sql }: DueParts,
  venue: ReadonlyArray<VenueDue>,
  now: number,
  after = now
): Effect.Effect<DueList, Unavailable> =>
  Effect.gen(function* () {
    const rows = yield* Effect.mapError(timers.due(Number.MAX_SAFE_INTEGER, shown + counted), away)
    const items = rows.map(({ name, subject, dueAt }) => ({ name: handlerOf(name), subject, dueAt }))
    const overdue = items.filter(({ dueAt }) => dueAt <= now - firingMillis)
    const place = yield* jobsPlace(stored)
    const tries = yield* withinTime(Effect.catch(nextTries(sql, shown + counted), whenAway), away)
    const all = [
      ...items,
      { ...equitiesJob, dueAt: midnight(after) + dayMillis },
      ...(place === null ? [] : jobsIn(place, after, Number.POSITIVE_INFINITY, 1)),
      ...venue.flatMap((due) => venueDue(due, after, Number.POSITIVE_INFINITY, 1)),
      ...tries.map(({ partnerId, nextAt }) => ({
        name: "webhook.delivery",
        subject: `partner:${partnerId}`,
        dueAt: nextAt
      }))
    ]
      .filter(({ dueAt }) => dueAt > after)
      .toSorted(byTime)
    const late = overdue.slice(0, shownOverdue)
    const next = [...late, ...all.slice(0, shown - late.length)]
    return { next, more: Math.min(counted, overdue.length + all.length - next.length) }
  })

const byTime = (one: DueNext, other: DueNext): number => one.dueAt - other.dueAt

const jobNamed = ({ name }: JobPlace): string => `statement.${name}`
const equitiesJob = { name: "statement.EQUITIES", subject: "system" }

/** A limit far above the number of jobs in the longest jump. */
const mostJobs = 20_000

/** The statement jobs after a place that are due after `after` and up to `to`; at most `limit` of them. */
const jobsIn = (place: JobPlace, after: number, to: number, limit = mostJobs): Array<DueNext> => {
  const found: Array<DueNext> = []
  let job = jobAfter(place)
  for (let seen = 0; job.dueAt <= to && found.length < limit && seen < mostJobs; seen++) {
    if (job.dueAt > after) found.push({ name: jobNamed(job), subject: "system", dueAt: job.dueAt })
    job = jobAfter(job)
  }
  return found
}

/** The times of a venue's work after `after` and up to `to`; at most `limit` of them. */
const venueDue = (due: VenueDue, after: number, to: number, limit = counted): Array<DueNext> => {
  const found: Array<DueNext> = []
  const { everyMillis } = due
  const missed = everyMillis === null ? 0 : Math.max(0, Math.floor((after - due.at) / everyMillis) + 1)
  for (let at = due.at + missed * (everyMillis ?? 0); at <= to && found.length < limit; at += everyMillis) {
    if (at > after) found.push({ name: `venue.${due.name}`, subject: `market:${due.symbol}`, dueAt: at })
    if (everyMillis === null) break
  }
  return found
}

interface JobsDue {
  /** The number of jobs that are due and have not begun, by name. */
  readonly jobs: ReadonlyArray<{ readonly name: string; readonly count: number }>
  /** The due times of jobs in the interval. */
  readonly due: ReadonlyArray<DueNext>
}

/** The jobs for equities and statements from `from` (exclusive) to `to`, Unix ms of business time. */
export const jobsDueBy = (stored: RowReads["Service"], from: number, to: number): Effect.Effect<JobsDue, Unavailable> =>
  Effect.gen(function* () {
    const place = yield* jobsPlace(stored)
    const due: Array<DueNext> = []
    for (let day = midnight(from) + dayMillis; day <= to; day += dayMillis) due.push({ ...equitiesJob, dueAt: day })
    if (place === null) return { jobs: [], due }
    const statements = jobsIn(place, Number.NEGATIVE_INFINITY, to)
    // One job stores the equities of all past midnights, and precedes the statements that use them.
    const equities = equitiesDue(to, yield* equitiesKept(stored))
    const jobs = countsOf([...(equities === null ? [] : [jobNamed(equities)]), ...statements.map(({ name }) => name)])
    return { jobs, due: [...due, ...statements.filter(({ dueAt }) => dueAt > from)] }
  })

export const countsOf = (names: ReadonlyArray<string>): JobsDue["jobs"] =>
  [...Map.groupBy(names, (name) => name)].map(([name, all]) => ({ name, count: all.length }))

/** The due work that an event of the venue reports at `at` (Unix ms); null: it reports none. */
export const dueOfFact = (fact: AccountFact, at: number): DueNext | null => {
  if (fact.type === "funding") {
    return { name: "venue.funding", subject: `market:${fact.funding.symbol}`, dueAt: fact.funding.settledAt }
  }
  if (fact.type === "contract" && fact.contract.state === "EXPIRED") {
    return { name: "venue.expiry", subject: `market:${fact.contract.symbol}`, dueAt: fact.contract.endedAt ?? at }
  }
  if (fact.type !== "swap" || at < fact.swap.maturityAt) return null
  const name = at === fact.swap.maturityAt ? "venue.maturity" : "venue.payment"
  return { name, subject: `market:${fact.swap.symbol}`, dueAt: at }
}

/** Work that became due in a jump, with the number of its objects. */
interface BecameDue extends DueNext {
  readonly count: number
}

export interface BecameList {
  /** The first due items, earliest first. */
  readonly became: ReadonlyArray<BecameDue>
  /** Number of further items. */
  readonly becameMore: number
}

const mostBecame = 200
/** The most different items that are kept during a jump; later ones are only counted. */
const mostKept = 20_000

/** The work that became due in a jump: collected in any order, listed in the order of time. */
export class Became {
  private readonly kept = new Map<string, BecameDue>()
  private beyond = 0

  readonly add = (due: DueNext): void => {
    const key = `${due.dueAt} ${due.name} ${due.subject}`
    const { count } = this.kept.get(key) ?? { count: 0 }
    if (count === 0 && this.kept.size === mostKept) this.beyond++
    else this.kept.set(key, { ...due, count: count + 1 })
  }

  list(): BecameList {
    const all = [...this.kept.values()].toSorted(byTime)
    return { became: all.slice(0, mostBecame), becameMore: Math.max(0, all.length - mostBecame) + this.beyond }
  }
}

/** The work that a jump from `from` to `to` (Unix ms) would make due. */
export const wouldBecome = (
  timers: ReadonlyArray<{ readonly name: string; readonly subject: string; readonly dueAt: number }>,
  jobs: ReadonlyArray<DueNext>,
  venue: ReadonlyArray<VenueDue>,
  from: number,
  to: number
): BecameList => {
  const became = new Became()
  for (const timer of timers) became.add({ ...timer, name: handlerOf(timer.name) })
  for (const due of [...jobs, ...venue.flatMap((due) => venueDue(due, from, to))]) became.add(due)
  return became.list()
}
