/** The result of a dry run of a write: every gate with its result. Nothing is written. */
import type { GateResult } from "../../../machines/shared/Gates.ts"
import type { NounWrite } from "../../../machines/venue/venueNouns.ts"
import type { Refusal } from "../../../machines/shared/Refusal.ts"

export const explainedWrites = ["collateral", "deposit", "withdrawal"] as const
export type ExplainedWrite = (typeof explainedWrites)[number]

export interface Explanation {
  readonly write: ExplainedWrite | "rfq" | "order" | NounWrite
  /** REPLAYED: the reference is already filed, and the write returns the stored original. */
  readonly outcome: "ACCEPTED" | "REPLAYED" | "REFUSED"
  /** The refusal that the write would return; null when it would be accepted or replayed. */
  readonly refusal: Refusal | null
  readonly gates: ReadonlyArray<GateResult>
}
