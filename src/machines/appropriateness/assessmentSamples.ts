/** One event per side of every guard of the assessment machine: path tests and diagrams use them (D19). */
import { appropriatenessCoolingMillis } from "../shared/Limits.ts"
import type { AssessmentEvent, AssessmentInput } from "./Assessment.ts"

export const assessmentInput: AssessmentInput = { clientId: 1 }

const submit = { type: "SUBMIT", at: 1, version: 1, currentVersion: 1 } as const
const later = { ...submit, at: 1 + appropriatenessCoolingMillis }

export const assessmentSamples: ReadonlyArray<AssessmentEvent> = [
  { ...submit, score: 100, outcome: "PASS" },
  { ...submit, score: 60, outcome: "WARN" },
  { ...submit, score: 10, outcome: "FAIL" },
  { ...submit, currentVersion: 2, score: 100, outcome: "PASS" },
  { ...later, score: 100, outcome: "PASS" },
  { ...later, score: 60, outcome: "WARN" },
  { ...later, score: 10, outcome: "FAIL" },
  { type: "ACKNOWLEDGE", at: 2, attestedAt: 2 },
  { type: "ACKNOWLEDGE", at: 2, attestedAt: 3 },
  { type: "RETAKE_DUE", at: 1 + appropriatenessCoolingMillis },
  { type: "RETAKE_DUE", at: appropriatenessCoolingMillis },
  { type: "DOWNGRADED", at: 3, reason: "asked by the client" },
  { type: "RELIANCE_REJECTED", at: 3, reason: "The attestation is false." }
]
