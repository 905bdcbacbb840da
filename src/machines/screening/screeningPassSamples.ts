/** Events on both sides of every guard of the pass machine: path tests and diagrams use them (F26). */
import type { ScreeningPassEvent, ScreeningPassInput } from "./ScreeningPass.ts"

const begun = { passId: 1, rules: 1, toEntry: 20, startedAt: 0 } as const

export const screeningPassInputs: ReadonlyArray<ScreeningPassInput> = [
  { ...begun, trigger: "LIST", scope: "CHANGES", fromEntry: 10 },
  { ...begun, trigger: "NIGHTLY", scope: "ALL", fromEntry: 0 }
]

export const screeningPassSamples: ReadonlyArray<ScreeningPassEvent> = [
  { type: "ADVANCE", at: 1, after: 128, screened: 128 },
  { type: "ADVANCE", at: 2, after: 0, screened: 1 },
  { type: "FINISH", at: 3 },
  { type: "SUPERSEDE", at: 4 }
]
