/** The goals of the margin part; rows that were not measured are not judged. */
import type { Goal } from "../goals.ts"
import type { StampFindings } from "./fundingRounds.ts"
import type { MarginFindings } from "./marginRounds.ts"

const reach = {
  timesScan: 1_000,
  looks: 6,
  singleMillis: 100,
  crowdSeconds: 30,
  callerMillis: 250,
  timesPlain: 5,
  fundingSeconds: 30,
  /**
   * Limit on the time per holder in the last tenth of ten times the holders, relative to the average time per holder of
   * the usual number.
   */
  growth: 1.5,
  bytes: 200,
  startSeconds: 30
} as const

const atMost = (sentence: string, wanted: number, found: number, unit: string): Goal => ({
  sentence: `${sentence}: at most ${wanted} ${unit}`,
  figure: `${found.toFixed(1)} ${unit}`,
  reached: found <= wanted
})

const markGoals = ({ marks }: MarginFindings): ReadonlyArray<Goal> => {
  if (marks === null) return []
  const { index, scan } = marks
  return [
    {
      sentence: `a mark that crosses no line, full scan in memory: at least ${reach.timesScan} times less processor time`,
      figure: `${(scan.median / index.median).toFixed(0)} times`,
      reached: scan.median >= reach.timesScan * index.median
    }
  ]
}

const lookGoals = ({ replay }: MarginFindings): ReadonlyArray<Goal> => {
  if (replay === null) return []
  const { looks, shares, changes, notified } = replay
  return [
    atMost(
      "looks on a replayed path, shares of the index among them, for each change of what is recorded",
      reach.looks,
      (looks + shares) / (changes + notified),
      "looks"
    )
  ]
}

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

const fundingGoals = ({ funding, growth }: MarginFindings): ReadonlyArray<Goal> => {
  if (funding === null) return []
  const { holders, stamps, rate, plain } = funding
  return [
    ...(plain === null
      ? []
      : [
          {
            sentence: `funding of ${holders} holders, plain SQL per holder: at least ${reach.timesPlain} times`,
            figure: `${(rate.median / plain.rate.median).toFixed(2)} times`,
            reached: rate.median >= reach.timesPlain * plain.rate.median
          }
        ]),
    atMost(`funding of ${holders} holders`, reach.fundingSeconds, holders / rate.median, "s"),
    atMost(
      "callers' reads meanwhile, p99",
      reach.callerMillis,
      worstOf(stamps, ({ beside }) => beside.reads.p99Millis),
      "ms"
    ),
    atMost(
      "and their reports, p99",
      reach.callerMillis,
      worstOf(stamps, ({ beside }) => beside.reports.p99Millis),
      "ms"
    ),
    ...(growth === null
      ? []
      : [
          atMost(
            `the last ${growth.holders / 10} of ${growth.holders} holders, beside ${holders} alone`,
            reach.growth,
            (worstOf(growth.stamps, ({ lastTenth }) => lastTenth) / (growth.holders / 10)) * rate.median,
            "times as long"
          )
        ])
  ]
}

const startGoals = ({ starts }: MarginFindings): ReadonlyArray<Goal> => {
  if (starts === null) return []
  const { positions, bytes, without } = starts
  const more = (starts.with.median - without.median) / 1_000
  return [
    atMost("memory of a watched position", reach.bytes, bytes, "bytes"),
    atMost(`start with ${positions} positions, more than without`, reach.startSeconds, more, "s")
  ]
}

const worstOf = (stamps: ReadonlyArray<StampFindings>, of: (stamp: StampFindings) => number): number =>
  Math.max(...stamps.map(of))

export const marginGoals = (findings: MarginFindings): ReadonlyArray<Goal> => [
  ...markGoals(findings),
  ...lookGoals(findings),
  ...closeOutGoals(findings),
  ...fundingGoals(findings),
  ...startGoals(findings)
]
