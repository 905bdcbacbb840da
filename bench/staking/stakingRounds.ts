/** The staking part on a data directory of its own: account reads. */
import { measureReads, type ReadFindings, type ReadPlan } from "./readRounds.ts"

export interface StakingPlan {
  readonly reads: Omit<ReadPlan, "progress">
  readonly progress: ReadPlan["progress"]
}

export interface StakingFindings {
  readonly reads: ReadFindings
}

export const measureStaking = async ({ reads, progress }: StakingPlan): Promise<StakingFindings> => ({
  reads: await measureReads({ ...reads, progress })
})
