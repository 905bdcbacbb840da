/** The staking part, each row on a data directory of its own: account reads, takes, very many maturities at one instant. */
import { type MaturityFindings, type MaturityPlan, measureMaturities } from "./maturityRounds.ts"
import { measureReads, type ReadFindings, type ReadPlan } from "./readRounds.ts"
import { measureTakes, type TakeFindings, type TakePlan } from "./takeRounds.ts"

/** Rows that can be requested by name. */
export const stakingRows = ["reads", "takes", "maturities"] as const
type StakingRow = (typeof stakingRows)[number]

export interface StakingPlan {
  readonly rows: ReadonlySet<StakingRow>
  readonly reads: Omit<ReadPlan, "progress">
  readonly takes: Omit<TakePlan, "progress">
  readonly maturities: Omit<MaturityPlan, "progress">
  readonly progress: ReadPlan["progress"]
}

/** Null: not measured. */
export interface StakingFindings {
  readonly reads: ReadFindings | null
  readonly takes: TakeFindings | null
  readonly maturities: MaturityFindings | null
}

export const measureStaking = async (plan: StakingPlan): Promise<StakingFindings> => {
  const { rows, progress } = plan
  return {
    reads: rows.has("reads") ? await measureReads({ ...plan.reads, progress }) : null,
    takes: rows.has("takes") ? await measureTakes({ ...plan.takes, progress }) : null,
    maturities: rows.has("maturities") ? await measureMaturities({ ...plan.maturities, progress }) : null
  }
}
