/**
 * The two halves of level MICA_MIFID inside the client's turn: the four blocks that the partner writes, and the
 * assessment. The commit of the second half also moves the level, so that it moves exactly once. Pure except for the
 * turn's draft and ids (doc 1, MiFID blocks and Appropriateness; D1, D3, D19; A1-40..A1-43).
 */
import type {
  AcknowledgeResult,
  AssessmentEvent,
  AssessmentResult
} from "../../../../machines/appropriateness/Assessment.ts"
import { decodeAcknowledgement, type SubmissionBody } from "../../../../machines/appropriateness/AppropriatenessBody.ts"
import { scoreAnswers } from "../../../../machines/appropriateness/scoring.ts"
import type { MifidResult } from "../../../../machines/client/ClientWire.ts"
import type { Json } from "../../../../machines/shared/Json.ts"
import { mifidSectionNames, type MifidBody, mifidSections } from "../../../../machines/mifid/MifidBody.ts"
import { accept, conflict, refuse, type Refusal, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { invalidBody, invalidWhole, notAnObject } from "../../../../machines/shared/RequestBody.ts"
import type { BlockCode, BlockStatus, BlockStatuses } from "../../../../machines/verification/Blocks.ts"
import { requirements } from "../../../../machines/verification/requirements.ts"
import { sourceOfWealthDue } from "../../../../machines/verification/sourceOfWealth.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import type { AssessmentRow } from "../../../tables/appropriateness.ts"
import type { ClientRow } from "../../../tables/client.ts"
import { type ClientTurn, mifidFacts, moveAssessment, moveBlock, moveClient } from "../client/clientDecisions.ts"
import { appropriatenessOf, blockStatuses, lifetimeDeposits } from "../../account/clientState.ts"
import type { CurrentQuestionnaire } from "../appropriateness/Questionnaires.ts"

const closed = refuse(conflict("ACCOUNT_CLOSED", "The account is closed."))

/** The refusal (400 code 4000) of a body with wrong fields. Its sentence is that of the first wrong field. */
export const refusalByFirst = (errors: Readonly<Record<string, string>>): Refusal =>
  invalidBody({ sentence: Object.values(errors)[0] ?? notAnObject, errors })

/**
 * Raises the level if both halves are complete. Returns the unchanged row if a half is missing, or if the level was raised
 * before.
 */
const grant = (at: ClientTurn, client: ClientRow, statuses: BlockStatuses, assessment?: AssessmentRow): ClientRow => {
  const { appropriateness } = mifidFacts(statuses, assessment)
  if (appropriateness === null) return client
  return moveClient(at, client, { type: "MIFID_COMPLETE", at: at.turn.now, appropriateness }) ?? client
}

const withStatus = (at: ClientTurn, changed: ReadonlyMap<BlockCode, BlockStatus>): BlockStatuses => {
  const before = blockStatuses(at.turn.state)
  return { get: (code) => changed.get(code) ?? before.get(code) }
}

/** PUT .../mifid: moves the four blocks to SUBMITTED and then to APPROVED, and stores their data sealed (A1-43, A1-44). */
export const writeMifid = (
  at: ClientTurn,
  client: ClientRow,
  sections: MifidBody,
  threshold: bigint
): Verdict<MifidResult> => {
  if (client.state === "CLOSED") return closed
  const { turn } = at
  const changed = new Map<BlockCode, BlockStatus>()
  for (const section of mifidSectionNames) {
    const code = mifidSections[section]
    changed.set(code, moveBlock(at, client, code, { type: "PARTNER_WRITE", at: turn.now }))
    turn.draft.put("blockPayloads", {
      clientId: client.id,
      code,
      partnerId: client.partnerId,
      data: sections[section] as Json
    })
  }
  const after = [...changed.keys()].join(" ")
  applyEffects(turn, { ...at.instance, object: `client:${client.id}` }, [
    { type: "audit", action: "client.mifid", before: null, after, reason: null }
  ])
  const statuses = withStatus(at, changed)
  const assessment = turn.state.one("assessments")
  const next = grant(at, client, statuses, assessment)
  const eddDue = sourceOfWealthDue({ kind: "WITHDRAWAL", booked: lifetimeDeposits(turn.state) }, threshold)
  return accept({
    clientId: client.id,
    clientUid: client.uid,
    verificationLevel: next.level,
    lifecycleState: next.state,
    granted: next.level !== client.level,
    appropriateness: appropriatenessOf(assessment),
    requirements: requirements(statuses, next.level, eddDue)
  })
}

/** POST .../appropriateness. Its checks run in the order of A1-41: closed, version, block, cooling period, answers. */
export const submitAssessment = (
  at: ClientTurn,
  client: ClientRow,
  { version, answers }: SubmissionBody,
  questionnaire: CurrentQuestionnaire
): Verdict<AssessmentResult> => {
  const { turn } = at
  if (client.state === "CLOSED") return closed
  if (version !== questionnaire.version) {
    return refuse(
      conflict("STALE_VERSION", "This version of the questionnaire is not the current one.", {
        currentVersion: questionnaire.version
      })
    )
  }
  if (blockStatuses(turn.state).get("APPROPRIATENESS") === "APPROVED") {
    return refuse(conflict("APPROVED_ALREADY", "The appropriateness block is approved already."))
  }
  const { retakeAt } = appropriatenessOf(turn.state.one("assessments"))
  if (retakeAt !== null && turn.now < retakeAt) return refuse({ _tag: "RetakeTooEarly", retakeAt })
  const scored = scoreAnswers(questionnaire.content, answers)
  if (!scored.ok) return refuse(refusalByFirst({ [scored.path]: scored.sentence }))
  const { score, outcome } = scored.result
  const event = {
    type: "SUBMIT",
    at: turn.now,
    version,
    currentVersion: questionnaire.version,
    score,
    outcome
  } as const
  const { row, context } = moved(at, client, event)
  const { attempt } = context
  turn.draft.put("assessmentAttempts", {
    clientId: client.id,
    attempt,
    partnerId: client.partnerId,
    questionnaire: version,
    outcome,
    score,
    answers: scored.answers,
    takenAt: turn.now
  })
  const next = judged(at, client, row, { type: "ASSESSED", at: turn.now, outcome })
  return accept({
    version,
    outcome,
    score,
    requiresAcknowledgement: outcome === "WARN",
    retakeAt: context.retakeAt as number,
    attempt,
    verificationLevel: next.level,
    granted: next.level !== client.level
  })
}

/** POST .../acknowledge: a pending WARN counts as a PASS from now on (A1-42). */
export const acknowledgeAssessment = (at: ClientTurn, client: ClientRow, body: unknown): Verdict<AcknowledgeResult> => {
  const { turn } = at
  const decoded = decodeAcknowledgement(body, { now: turn.now })
  if (!decoded.ok) return refuse(refusalByFirst(decoded.errors))
  if (client.state === "CLOSED") return closed
  const state = turn.state.one("assessments")?.state
  if (state === "ACKNOWLEDGED") return refuse(conflict("ACKNOWLEDGED_ALREADY", "The warning is acknowledged already."))
  if (state !== "WARNED") {
    return refuse(invalidWhole("NO_WARNING", "There is no warning to acknowledge."))
  }
  const { attestedAt } = decoded
  const { row } = moved(at, client, { type: "ACKNOWLEDGE", at: turn.now, attestedAt })
  const next = judged(at, client, row, { type: "ACKNOWLEDGED", at: turn.now })
  return accept({
    acknowledgedAt: turn.now,
    attestedAt,
    // Always WARN, because no other outcome can be acknowledged.
    outcome: "WARN",
    verificationLevel: next.level,
    granted: next.level !== client.level
  })
}

/** Applies an event to the assessment. Earlier checks have established that its state accepts the event. */
const moved = (at: ClientTurn, client: ClientRow, event: AssessmentEvent) => {
  const row = moveAssessment(at, client, event)
  if (row === null) throw new Error(`an assessment refused ${event.type}`)
  return { row, context: row.context }
}

/** Applies the result of the assessment to its block, and raises the level if the other half is complete. */
const judged = (
  at: ClientTurn,
  client: ClientRow,
  assessment: AssessmentRow,
  event: Extract<Parameters<typeof moveBlock>[3], { readonly type: "ASSESSED" | "ACKNOWLEDGED" }>
): ClientRow => {
  const status = moveBlock(at, client, "APPROPRIATENESS", event)
  return grant(at, client, withStatus(at, new Map([["APPROPRIATENESS", status]])), assessment)
}
