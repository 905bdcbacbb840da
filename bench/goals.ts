/** The goals of the service against the references of the same run, at 64 connections. */
import type { Findings } from "./Findings.ts"

export interface Goal {
  readonly sentence: string
  readonly figure: string
  readonly reached: boolean
}

const goalConnections = 64

export const judgeGoals = (findings: Findings): ReadonlyArray<Goal> => {
  const reports = findings.reports.find(({ connections }) => connections === goalConnections)
  if (reports === undefined) return []
  const { service, typical, tuned } = reports.rows
  const rate = service.rate.median
  const p99 = service.p99.median
  const atLeast = (times: number, name: string, other: number): Goal => ({
    sentence: `at least ${times} times the durable writes of ${name}`,
    figure: `${(rate / other).toFixed(1)} times`,
    reached: rate >= times * other
  })
  const lower = (name: string, other: number): Goal => ({
    sentence: `a lower p99 than ${name}`,
    figure: `${p99.toFixed(1)} ms against ${other.toFixed(1)} ms`,
    reached: p99 < other
  })
  const reads = findings.reads.rows
  return [
    ...(typical === null
      ? []
      : [atLeast(8, "(a) typical", typical.rate.median), lower("(a) typical", typical.p99.median)]),
    atLeast(4, "(b) tuned", tuned.rate.median),
    lower("(b) tuned", tuned.p99.median),
    {
      sentence: "at least the reads of Fastify + pg",
      figure: `${(reads.service.rate.median / reads.tuned.rate.median).toFixed(1)} times`,
      reached: reads.service.rate.median >= reads.tuned.rate.median
    }
  ]
}
