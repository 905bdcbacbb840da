/** The margin part. The file of each row describes its measure, and each row can be run alone. */
import { join } from "node:path"
import { type CloseOutFindings, measureCloseOuts } from "./closeOutRounds.ts"
import { type FundingFindings, measureFunding } from "./fundingRounds.ts"
import { type MarkFindings, measureMarks } from "./markRounds.ts"
import { measurePositionStarts, type StartFindings } from "./startRounds.ts"
import { measureReplay, type ReplayFindings } from "./replay.ts"

/** Rows that can be requested by name. `growth` takes longer than all others together, so it runs only on request. */
export const marginRows = ["mark", "looks", "one", "crowd", "funding", "start", "growth"] as const
export type MarginRow = (typeof marginRows)[number]
/** The rows of a run that names none. */
export const usualMarginRows: ReadonlyArray<MarginRow> = ["mark", "looks", "one", "crowd", "funding", "start"]

export interface MarginPlan {
  readonly dataDirectory: string
  readonly rows: ReadonlySet<MarginRow>
  readonly progress: (line: string) => void
  readonly marks: { readonly clients: number; readonly rounds: number }
  readonly replay: { readonly accounts: number; readonly ticks: number }
  readonly closeOuts: { readonly others: number; readonly singles: number; readonly crowd: number }
  readonly funding: {
    readonly others: number
    readonly holders: number
    readonly stamps: number
    readonly plain: number
  }
  readonly starts: { readonly clients: number; readonly rounds: number }
}

export interface MarginFindings {
  readonly marks: MarkFindings | null
  readonly replay: ReplayFindings | null
  readonly closeOuts: CloseOutFindings | null
  readonly funding: FundingFindings | null
  readonly starts: StartFindings | null
  /** The funding row with ten times the holders, without plain SQL. */
  readonly growth: FundingFindings | null
}

export const measureMargin = async (plan: MarginPlan): Promise<MarginFindings> => {
  const { rows, dataDirectory, progress } = plan
  const { others, singles, crowd } = plan.closeOuts
  const replay = rows.has("looks") ? measureReplay({ ...plan.replay, progress }) : null
  const marks = rows.has("mark") ? measureMarks({ ...plan.marks, progress }) : null
  const closeOuts =
    rows.has("one") || rows.has("crowd")
      ? await measureCloseOuts({
          dataDirectory: join(dataDirectory, "close-outs"),
          progress,
          others,
          singles: rows.has("one") ? singles : 0,
          crowd: rows.has("crowd") ? crowd : 0
        })
      : null
  const funding = rows.has("funding")
    ? await measureFunding({ ...plan.funding, progress, dataDirectory: join(dataDirectory, "funding") })
    : null
  const starts = rows.has("start")
    ? await measurePositionStarts({ ...plan.starts, progress, dataDirectory: join(dataDirectory, "starts") })
    : null
  const ofGrowth = { ...plan.funding, holders: 10 * plan.funding.holders, stamps: 1, plain: 0 }
  const growth = rows.has("growth")
    ? await measureFunding({ ...ofGrowth, progress, dataDirectory: join(dataDirectory, "growth") })
    : null
  return { marks, replay, closeOuts, funding, starts, growth }
}
