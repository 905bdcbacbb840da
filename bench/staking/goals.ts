/** The goals of staking against the references of the same run; rows that were not measured are not judged. */
import type { Goal } from "../goals.ts"
import type { MaturityFindings } from "./maturityRounds.ts"
import { type ReadKind, readKinds } from "./protocol.ts"
import type { ReadFindings } from "./readRounds.ts"
import type { StakingFindings } from "./stakingRounds.ts"
import type { TakeFindings, TakeRow } from "./takeRounds.ts"

/** The service's rate as a multiple of the reference's. */
const times = { typical: 5, tuned: 2.5, plain: 5 } as const
/**
 * The least rate of reads of an account with a long history, relative to an account with a short one. Slices of one run
 * differ by this share anyway.
 */
const alike = 0.8
const maturitySeconds = 60
const callerMillis = 250

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

export const stakingGoals = ({ reads, takes, maturities }: StakingFindings): ReadonlyArray<Goal> => [
  ...(reads === null ? [] : readGoals(reads)),
  ...(takes === null ? [] : takeGoals(takes)),
  ...(maturities === null ? [] : maturityGoals(maturities))
]

const readGoals = ({ reads }: ReadFindings): ReadonlyArray<Goal> => readKinds.map((kind) => equalGoal(kind, reads))

const equalGoal = (kind: ReadKind, reads: ReadFindings["reads"]): Goal => {
  const [few, many] = reads.filter((row) => row.kind === kind).map(({ row }) => row.rate.median)
  const share = (many ?? 0) / Math.max(1e-9, few ?? 0)
  return {
    sentence: `${kind}: as fast with very many trades as with few`,
    figure: `${share.toFixed(2)} of it`,
    reached: share >= alike
  }
}

const takeGoals = ({ rows: { service, typical, tuned } }: TakeFindings): ReadonlyArray<Goal> => {
  const beside = (other: TakeRow, wanted: number): ReadonlyArray<Goal> => [
    atLeast(`takes, ${other.system}`, wanted, service.rate.median, other.rate.median),
    {
      sentence: `takes, ${other.system}: a lower p99`,
      figure: `${service.p99.median.toFixed(1)} against ${other.p99.median.toFixed(1)} ms`,
      reached: service.p99.median < other.p99.median
    }
  ]
  return [...beside(typical, times.typical), ...beside(tuned, times.tuned)]
}

const maturityGoals = ({ swaps, seconds, rate, plain, beside }: MaturityFindings): ReadonlyArray<Goal> => [
  atLeast(`${swaps} maturities at one instant, plain SQL, one statement a swap`, times.plain, rate, plain.rate.median),
  atMost(`${swaps} maturities at one instant`, maturitySeconds, seconds, "s"),
  atMost("callers' reads meanwhile, p99", callerMillis, beside.reads.p99Millis, "ms"),
  atMost("and their reports, p99", callerMillis, beside.reports.p99Millis, "ms")
]
