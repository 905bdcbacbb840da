/** The answer to "would this write be taken?": every gate with its result, without writing. */
import type { GateResult } from "../../../machines/shared/Gates.ts"
import type { Refusal } from "../../../machines/shared/Refusal.ts"

export const explainedWrites = ["collateral", "deposit", "withdrawal"] as const
export type ExplainedWrite = (typeof explainedWrites)[number]

export interface Explanation {
  readonly write: ExplainedWrite | "rfq" | "order" | "take"
  /** REPLAYED: the reference is filed already, and its original is what the write answers. */
  readonly outcome: "ACCEPTED" | "REPLAYED" | "REFUSED"
  /** What the write would answer when it is refused. */
  readonly refusal: Refusal | null
  readonly gates: ReadonlyArray<GateResult>
}
