/**
 * A client's appropriateness assessment: the machine's context for the latest attempt, and its shapes on the wire. The answers
 * are encrypted rows beside the machine (doc 1, Appropriateness; D19, A1-40, D3).
 */
import { Schema } from "effect"
import type { AppropriatenessFacts } from "../client/Client.ts"
import { verificationLevels } from "../verification/Blocks.ts"
import { type AppropriatenessSummary, noAssessment } from "../client/ClientWire.ts"
import { type Outcome, outcomes } from "./scoring.ts"

export type AssessmentState = "IDLE" | "PASSED" | "WARNED" | "FAILED" | "ACKNOWLEDGED"

export interface AssessmentInput {
  readonly clientId: number
}

/** Facts of the latest attempt; null before the first. Times in Unix ms. */
export interface AssessmentContext extends AssessmentInput {
  readonly attempt: number
  readonly version: number | null
  readonly outcome: Outcome | null
  readonly score: number | null
  readonly takenAt: number | null
  readonly retakeAt: number | null
  readonly acknowledgedAt: number | null
  /** The time of the client's acknowledgement according to the partner. */
  readonly attestedAt: number | null
}

export type AssessmentEvent =
  | {
      readonly type: "SUBMIT"
      readonly at: number
      readonly version: number
      /** Version of the questionnaire that is served now. */
      readonly currentVersion: number
      readonly score: number
      readonly outcome: Outcome
    }
  | { readonly type: "ACKNOWLEDGE"; readonly at: number; readonly attestedAt: number }
  /** The timer of the cooling period has fired. */
  | { readonly type: "RETAKE_DUE"; readonly at: number }
  | { readonly type: "DOWNGRADED"; readonly at: number; readonly reason: string }
  /**
   * The operator rejected reliance: all blocks of the client become REJECTED, and no earlier result counts any more.
   */
  | { readonly type: "RELIANCE_REJECTED"; readonly at: number; readonly reason: string }

/** The durable timer that ends the cooling period; its subject is the client. */
export const retakeTimer = "appropriateness.retake"

/** The states on which a MiFID grant may be based: a PASS, or an acknowledged WARN. */
export const countingStates: ReadonlyArray<string> = ["PASSED", "ACKNOWLEDGED"] satisfies ReadonlyArray<AssessmentState>

/** The facts in client.level_changed; null while the assessment does not count. */
export const factsOf = (state: string, context: AssessmentContext): AppropriatenessFacts | null => {
  const { version, outcome, score, attempt } = context
  if (!countingStates.includes(state) || version === null || outcome === null || score === null) return null
  return { version, outcome, score, attempt }
}

/** The assessment as verification views show it; before the first attempt, the summary without an assessment. */
export const summaryOf = (state: string, context: AssessmentContext): AppropriatenessSummary => {
  if (context.attempt === 0) return noAssessment
  const { version, outcome, score, takenAt, acknowledgedAt, retakeAt, attempt } = context
  return {
    version,
    outcome,
    score,
    takenAt,
    acknowledgedAt,
    retakeAt,
    requiresAcknowledgement: state === "WARNED",
    attempt
  }
}

const level = Schema.Literals(verificationLevels)
const granted = Schema.Boolean.annotate({ description: "True on the call that moved the level to MICA_MIFID." })
const millis = (description: string) => Schema.Int.annotate({ description: `${description}, Unix milliseconds.` })

/** The data of the answer to POST .../appropriateness. */
export const AssessmentResult = Schema.Struct({
  version: Schema.Int,
  outcome: Schema.Literals(outcomes),
  score: Schema.Int,
  requiresAcknowledgement: Schema.Boolean,
  retakeAt: millis("When the next attempt may be made"),
  attempt: Schema.Int,
  verificationLevel: level,
  granted
}).annotate({ identifier: "AppropriatenessResult" })
export type AssessmentResult = typeof AssessmentResult.Type

/** The data of the answer to POST .../appropriateness/acknowledge. */
export const AcknowledgeResult = Schema.Struct({
  acknowledgedAt: millis("When the service took it in"),
  attestedAt: millis("The time that was sent"),
  outcome: Schema.Literals(outcomes),
  verificationLevel: level,
  granted
}).annotate({ identifier: "AcknowledgeResult" })
export type AcknowledgeResult = typeof AcknowledgeResult.Type
