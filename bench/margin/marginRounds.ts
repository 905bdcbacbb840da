/** The margin part: what each row measures is in the file that it is made by; any of them can be measured alone. */
import { type CloseOutFindings, measureCloseOuts } from "./closeOutRounds.ts"

/** Rows that can be asked for by name; `growth` takes longer than all others together and has to be. */
export const marginRows = ["one", "crowd"] as const
export type MarginRow = (typeof marginRows)[number]
/** What is measured where no row is named. */
export const usualMarginRows: ReadonlyArray<MarginRow> = ["one", "crowd"]

export interface MarginPlan {
  readonly dataDirectory: string
  readonly rows: ReadonlySet<MarginRow>
  readonly progress: (line: string) => void
  readonly closeOuts: { readonly others: number; readonly singles: number; readonly crowd: number }
}

export interface MarginFindings {
  readonly closeOuts: CloseOutFindings | null
}

export const measureMargin = async (plan: MarginPlan): Promise<MarginFindings> => {
  const { rows, dataDirectory, progress } = plan
  const { others, singles, crowd } = plan.closeOuts
  const closeOuts =
    rows.has("one") || rows.has("crowd")
      ? await measureCloseOuts({
          dataDirectory,
          progress,
          others,
          singles: rows.has("one") ? singles : 0,
          crowd: rows.has("crowd") ? crowd : 0
        })
      : null
  return { closeOuts }
}
