/** The goals of statements; rows that were not measured are not judged. */
import type { PacedLatency } from "../contracts/protocol.ts"
import type { Goal } from "../goals.ts"
import { type FileFindings, type Step, steps } from "./fileRounds.ts"
import type { NightFindings } from "./nightRounds.ts"
import type { StatementFindings } from "./statementRounds.ts"

const reach = {
  /** Limits on the increase of peak memory, MB. */
  memory: { model: 96, csv: 64, pdf: 256 } satisfies Record<Step, number>,
  timesCalm: 1.5,
  timesLoop: 3,
  nightSeconds: 600,
  /** Limit on the time for ten times the clients, as a multiple of the time for all clients. */
  growth: 11
} as const

const atLeast = (what: string, wanted: number, own: number, other: number): Goal => ({
  sentence: `${what}: at least ${wanted} times`,
  figure: `${(own / Math.max(1e-9, other)).toFixed(2)} times`,
  reached: own >= wanted * other
})

const atMost = (what: string, wanted: number, found: number, unit: string): Goal => ({
  sentence: `${what}: at most ${wanted} ${unit}`,
  figure: `${found.toFixed(1)} ${unit}`,
  reached: found <= wanted
})

export const statementGoals = ({ files, night, nights }: StatementFindings): ReadonlyArray<Goal> => [
  ...(files === null ? [] : fileGoals(files)),
  ...(night === null ? [] : nightGoals(night)),
  ...(night === null || nights === null
    ? []
    : [
        atMost(
          `a night of ${nights.clients} clients, beside ${night.clients}`,
          reach.growth,
          nights.seconds / night.seconds,
          "times as long"
        )
      ])
]

const fileGoals = ({ of, beside, without }: FileFindings): ReadonlyArray<Goal> => [
  ...steps.map((step) => atMost(`${step}, memory added`, reach.memory[step], of[step].memory, "MB")),
  calmGoal("another partner's reads beside four builds, p99", beside.reads, without.reads),
  calmGoal("and its reports, p99", beside.reports, without.reports)
]

const calmGoal = (what: string, beside: PacedLatency, without: PacedLatency): Goal =>
  atMost(what, reach.timesCalm, beside.p99Millis / Math.max(1e-9, without.p99Millis), "times as long")

const nightGoals = ({ clients, seconds, rate, plain }: NightFindings): ReadonlyArray<Goal> => [
  ...(plain === null
    ? []
    : [atLeast(`a night of ${clients} clients, a loop over them`, reach.timesLoop, rate, plain.rate)]),
  atMost(`a night of ${clients} clients`, reach.nightSeconds, seconds, "s")
]
