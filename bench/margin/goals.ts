/** What margin has to reach; rows that were not measured are not judged. */
import type { Goal } from "../goals.ts"
import type { MarginFindings } from "./marginRounds.ts"

const reach = {
  singleMillis: 100,
  crowdSeconds: 30,
  callerMillis: 250
} as const

const atMost = (sentence: string, wanted: number, found: number, unit: string): Goal => ({
  sentence: `${sentence}: at most ${wanted} ${unit}`,
  figure: `${found.toFixed(1)} ${unit}`,
  reached: found <= wanted
})

const closeOutGoals = ({ closeOuts }: MarginFindings): ReadonlyArray<Goal> => {
  const { singles, crowd } = closeOuts ?? { singles: null, crowd: null }
  return [
    ...(singles === null
      ? []
      : [
          atMost(
            "mark to close-out order at the venue, one account not in memory, p99",
            reach.singleMillis,
            singles.p99Millis,
            "ms"
          )
        ]),
    ...(crowd === null
      ? []
      : [
          atMost(`${crowd.clients} accounts at one mark, last order out`, reach.crowdSeconds, crowd.lastSeconds, "s"),
          atMost("another partner's reads meanwhile, p99", reach.callerMillis, crowd.beside.reads.p99Millis, "ms"),
          atMost("and its reports, p99", reach.callerMillis, crowd.beside.reports.p99Millis, "ms")
        ])
  ]
}

export const marginGoals = (findings: MarginFindings): ReadonlyArray<Goal> => closeOutGoals(findings)
