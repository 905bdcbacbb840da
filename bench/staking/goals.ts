/** What account reads have to reach beside the reference of the same run. */
import type { Goal } from "../goals.ts"
import type { StakingFindings } from "./stakingRounds.ts"
import type { ReadKind } from "./protocol.ts"

/** Times the reference's rate. */
const times = 1.5
/** How much slower an account with very much behind it may be read: what slices of one run differ by. */
const alike = 0.8

export const stakingGoals = ({ reads: { reads } }: StakingFindings): ReadonlyArray<Goal> => [
  ...reads.map(({ kind, behind, rows: { service, tuned } }) => ({
    sentence: `${kind} with ${behind.toLocaleString("en")} trades behind them: at least ${times} times`,
    figure: `${(service.rate.median / Math.max(1e-9, tuned.rate.median)).toFixed(2)} times`,
    reached: service.rate.median >= times * tuned.rate.median
  })),
  ...(["balances", "overview"] as const).map((kind) => equalGoal(kind, reads))
]

const equalGoal = (kind: ReadKind, reads: StakingFindings["reads"]["reads"]): Goal => {
  const [few, many] = reads.filter((row) => row.kind === kind).map(({ rows }) => rows.service.rate.median)
  const share = (many ?? 0) / Math.max(1e-9, few ?? 0)
  return {
    sentence: `${kind}: as fast with very many trades as with few`,
    figure: `${share.toFixed(2)} of it`,
    reached: share >= alike
  }
}
