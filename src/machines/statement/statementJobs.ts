/**
 * The scheduled jobs of statements and their due times: the equities of each midnight, the executions of the day before, the
 * assets of the quarter, and costs and tax of the year. Due times are London's for British tax and UTC for the others. Unix
 * ms (A2-68, STS-26, STS-28, STS-29).
 */
import type { StatementKind } from "./statementTokens.ts"
import { type RequestedPeriod, calendarYear, type Period, quarterOf, taxPeriod } from "./statementPeriod.ts"

/** Jobs due at the same moment run in this order. */
export const statementJobNames = [
  "EQUITIES",
  "TRANSACTIONS",
  "CLIENT_ASSETS",
  "COSTS",
  "TAX",
  "TAX_GB",
  "TAX_GB_FINAL"
] as const
export type StatementJobName = (typeof statementJobNames)[number]
export type StatementMakingJob = Exclude<StatementJobName, "EQUITIES">

/** A job as it is stored. For equities, the period includes both midnights. */
export interface JobPlan extends Period {
  readonly name: StatementJobName
  readonly dueAt: number
}

const dayMillis = 86_400_000
const halfPast = 30 * 60_000

/** The start of the UTC day that contains a moment, Unix ms. */
export const midnight = (at: number): number => at - (at % dayMillis)
const yearAt = (at: number): number => new Date(at).getUTCFullYear()

interface Schedule {
  readonly kind: StatementKind
  /** The first job of this kind that is due after a moment. */
  readonly next: (after: number) => Omit<JobPlan, "name">
  /** True when a period gets only one statement. False when changed content makes a new version. */
  readonly once: boolean
}

/** A yearly job. `of` makes the plan of a year; `next` is the first plan due after a moment. */
const yearly =
  (of: (year: number) => Omit<JobPlan, "name">) =>
  (after: number): Omit<JobPlan, "name"> => {
    const year = yearAt(after)
    const due = of(year)
    return due.dueAt > after ? due : of(year + 1)
  }

/** 00:30 in London during summer time, which begins in March and ends in October. */
const londonSummer = (year: number, month: number, day: number): number =>
  Date.UTC(year, month, day) + halfPast - 3_600_000

const nextNight = (after: number): Omit<JobPlan, "name"> => {
  const due = midnight(after) + halfPast
  const dueAt = due > after ? due : due + dayMillis
  return { dueAt, from: midnight(dueAt) - dayMillis, to: midnight(dueAt) }
}

/** The first quarterly job that is due after a moment: on the second day after the quarter's end. */
const nextQuarter = (after: number): Omit<JobPlan, "name"> => {
  const year = yearAt(after)
  for (const [of, number] of [
    [year - 1, 4],
    [year, 1],
    [year, 2],
    [year, 3]
  ] as const) {
    const period = quarterOf(of, number)
    const dueAt = period.to + dayMillis + halfPast
    if (dueAt > after) return { dueAt, ...period }
  }
  const period = quarterOf(year, 4)
  return { dueAt: period.to + dayMillis + halfPast, ...period }
}

const fifthOfJanuary = (year: number) => ({ dueAt: Date.UTC(year, 0, 5) + halfPast, ...calendarYear(year - 1) })

export const schedules: { readonly [J in StatementMakingJob]: Schedule } = {
  TRANSACTIONS: { kind: "TRANSACTIONS", next: nextNight, once: true },
  CLIENT_ASSETS: { kind: "CLIENT_ASSETS", next: nextQuarter, once: true },
  COSTS: { kind: "COSTS", next: yearly(fifthOfJanuary), once: true },
  TAX: { kind: "TAX", next: yearly(fifthOfJanuary), once: true },
  TAX_GB: {
    kind: "TAX",
    next: yearly((year) => ({ dueAt: londonSummer(year, 3, 7), ...taxPeriod(year - 1, true) })),
    once: true
  },
  TAX_GB_FINAL: {
    kind: "TAX",
    next: yearly((year) => ({ dueAt: londonSummer(year, 4, 6), ...taxPeriod(year - 1, true) })),
    once: false
  }
}

const makingJobs = statementJobNames.filter((name): name is StatementMakingJob => name !== "EQUITIES")

/** The place in the sequence of jobs that make statements, given by the last job that was begun. */
export type JobPlace = Pick<JobPlan, "name" | "dueAt">

const isBefore = (one: JobPlace, other: JobPlace): boolean =>
  one.dueAt < other.dueAt || (one.dueAt === other.dueAt && orderOf(one) < orderOf(other))
const orderOf = ({ name }: JobPlace): number => statementJobNames.indexOf(name)

/** The job that follows a place, in the order of due times; jobs due at the same moment follow `statementJobNames`. */
export const jobAfter = (place: JobPlace): JobPlan => {
  const plans = makingJobs.map((name): JobPlan => {
    const { next } = schedules[name]
    const same = { name, ...next(place.dueAt - 1) }
    return isBefore(place, same) ? same : { name, ...next(place.dueAt) }
  })
  return plans.reduce((first, plan) => (isBefore(plan, first) ? plan : first))
}

/** The first position of a service that has never made a scheduled statement: the last midnight. */
export const firstPlace = (day: number): JobPlace => ({ name: "EQUITIES", dueAt: day })

/**
 * The job for the equities of all past midnights after `kept`; null when there are none. With `kept` null, only the last
 * midnight.
 */
export const equitiesDue = (now: number, kept: number | null): JobPlan | null => {
  const to = midnight(now)
  const from = kept === null ? to : kept + dayMillis
  return from > to ? null : { name: "EQUITIES", dueAt: to, from, to }
}

/** The period for which a job makes statements. Throws for EQUITIES, which makes no statements. */
export const periodOfJob = ({ name, from, to }: Pick<JobPlan, "name" | "from" | "to">): RequestedPeriod => {
  if (name === "EQUITIES") throw new Error("equities are no statement")
  const { kind } = schedules[name]
  const isBritish = name === "TAX_GB" || name === "TAX_GB_FINAL"
  return { kind, from, to, cutFrom: null, taxYear: kind === "TAX" ? yearAt(from) : null, isBritish }
}

/** The midnights whose equities a job stores, Unix ms: from `from` to `to`, both included. */
export const daysOf = ({ from, to }: Period): ReadonlyArray<number> =>
  Array.from({ length: (to - from) / dayMillis + 1 }, (_, n) => from + n * dayMillis)

const minute = 60_000
/**
 * The pause before the next attempt for a client whose statement failed: one minute, doubled after each attempt, at most six
 * hours.
 */
export const retryAfter = (tries: number): number => Math.min(minute * 2 ** Math.min(tries - 1, 20), 360 * minute)
