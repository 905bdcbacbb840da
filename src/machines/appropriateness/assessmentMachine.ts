/**
 * Appropriateness assessment, one per client. An attempt is scored, a WARN waits for acknowledgement, and every attempt
 * starts a cooling period that no transition ends early. After a WARN or a FAIL, the end of the period is notified in the
 * client's feed. The verification block APPROPRIATENESS takes its event in the same commit (doc 1, Appropriateness; D19,
 * A1-40, A2-64).
 */
import { assertEvent, setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import { appropriatenessCoolingMillis } from "../shared/Limits.ts"
import {
  type AssessmentContext,
  type AssessmentEvent,
  type AssessmentInput,
  type AssessmentState,
  retakeTimer
} from "./Assessment.ts"
import type { Outcome } from "./scoring.ts"

/**
 * A guard of an attempt with this outcome. It also refuses an attempt on another version than the current one, and one
 * within the cooling period.
 */
const allows = (outcome: Outcome) => {
  return ({ event, context }: { readonly event: AssessmentEvent; readonly context: AssessmentContext }): boolean => {
    assertEvent(event, "SUBMIT")
    const current = event.version === event.currentVersion
    return current && event.at >= (context.retakeAt ?? 0) && event.outcome === outcome
  }
}

const assessment = setup({
  types: {
    context: {} as AssessmentContext,
    events: {} as AssessmentEvent,
    emitted: {} as MachineEffect,
    input: {} as AssessmentInput
  },
  guards: {
    passes: allows("PASS"),
    warns: allows("WARN"),
    fails: allows("FAIL"),
    coolingOver: ({ event, context }) => {
      assertEvent(event, "RETAKE_DUE")
      return context.retakeAt !== null && event.at >= context.retakeAt
    },
    notInFuture: ({ event }) => {
      assertEvent(event, "ACKNOWLEDGE")
      return event.attestedAt <= event.at
    }
  }
})

const scored = assessment.assign(({ context, event }) => {
  assertEvent(event, "SUBMIT")
  return {
    attempt: context.attempt + 1,
    version: event.version,
    outcome: event.outcome,
    score: event.score,
    takenAt: event.at,
    retakeAt: event.at + appropriatenessCoolingMillis,
    acknowledgedAt: null,
    attestedAt: null
  }
})

const publishResult = assessment.emit(({ context: { version, outcome, score, attempt, retakeAt } }) => ({
  type: "event",
  name: "appropriateness.result",
  data: { version, outcome, score, attempt, retakeAt, requiresAcknowledgement: outcome === "WARN" }
}))

const acknowledged = assessment.assign(({ event }) => {
  assertEvent(event, "ACKNOWLEDGE")
  return { acknowledgedAt: event.at, attestedAt: event.attestedAt }
})

const note = (action: string, before: AssessmentState, after: AssessmentState) =>
  assessment.emit(({ event }) => ({
    type: "audit",
    action,
    before,
    after,
    reason: "reason" in event ? event.reason : null
  }))

/** Sets the timer for the end of the cooling period, after a result that another attempt can improve. */
const awaitRetake = assessment.emit(({ context }) => ({
  type: "timer.set",
  name: retakeTimer,
  at: context.retakeAt ?? 0
}))

/** Clears the timer: no further attempt is needed, so the end of the period sends no notice. */
const forgetRetake = assessment.emit({ type: "timer.clear", name: retakeTimer })

const result = (from: AssessmentState, to: AssessmentState) => [
  scored,
  publishResult,
  to === "PASSED" ? forgetRetake : awaitRetake,
  note("appropriateness.submit", from, to)
]

const retakeDue = (state: "WARNED" | "FAILED") =>
  ({
    guard: "coolingOver",
    actions: [
      assessment.emit(({ context }) => ({
        type: "notify",
        kind: "APPROPRIATENESS_RETAKE",
        ref: String(context.clientId)
      })),
      note("appropriateness.retakeDue", state, state)
    ]
  }) as const

const submit = (from: AssessmentState) =>
  [
    { guard: "passes", target: "PASSED", actions: result(from, "PASSED") },
    { guard: "warns", target: "WARNED", actions: result(from, "WARNED") },
    { guard: "fails", target: "FAILED", actions: result(from, "FAILED") }
  ] as const

const rejected = (from: AssessmentState) =>
  ({ target: "IDLE", actions: [forgetRetake, note("appropriateness.void", from, "IDLE")] }) as const

const downgraded = (from: AssessmentState) =>
  ({ target: "IDLE", actions: note("appropriateness.downgraded", from, "IDLE") }) as const

export const assessmentMachine = assessment.createMachine({
  id: "assessment",
  version: "2",
  context: ({ input }) => ({
    ...input,
    attempt: 0,
    version: null,
    outcome: null,
    score: null,
    takenAt: null,
    retakeAt: null,
    acknowledgedAt: null,
    attestedAt: null
  }),
  initial: "IDLE",
  states: {
    IDLE: {
      description: "No attempt has been made, or none counts any more; a cooling period still runs to its end.",
      on: { SUBMIT: submit("IDLE") }
    },
    PASSED: {
      description: "The products are appropriate; no further attempt is taken.",
      on: { DOWNGRADED: downgraded("PASSED"), RELIANCE_REJECTED: rejected("PASSED") }
    },
    WARNED: {
      description: "The warning has to be acknowledged, or the test taken again after the cooling period.",
      on: {
        ACKNOWLEDGE: {
          guard: "notInFuture",
          target: "ACKNOWLEDGED",
          actions: [acknowledged, forgetRetake, note("appropriateness.acknowledge", "WARNED", "ACKNOWLEDGED")]
        },
        SUBMIT: submit("WARNED"),
        RETAKE_DUE: retakeDue("WARNED"),
        RELIANCE_REJECTED: rejected("WARNED")
      }
    },
    FAILED: {
      description: "The products are not appropriate; the test can be taken again after the cooling period.",
      on: { SUBMIT: submit("FAILED"), RETAKE_DUE: retakeDue("FAILED"), RELIANCE_REJECTED: rejected("FAILED") }
    },
    ACKNOWLEDGED: {
      description: "The warning was acknowledged; no further attempt is taken.",
      on: { DOWNGRADED: downgraded("ACKNOWLEDGED"), RELIANCE_REJECTED: rejected("ACKNOWLEDGED") }
    }
  }
})
