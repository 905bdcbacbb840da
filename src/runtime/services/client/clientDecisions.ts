/**
 * What compliance does to a client, inside the client's turn: the client, its package, its blocks and its cases each take
 * their event in one commit (D1, D2, D3; A1-28, A1-48, A3-10). Pure but for the turn's draft and ids.
 */
import type { Json, JsonObject } from "../../../machines/Effects.ts"
import { type AssessmentContext, type AssessmentEvent, factsOf } from "../../../machines/appropriateness/Assessment.ts"
import { assessmentMachine } from "../../../machines/appropriateness/assessmentMachine.ts"
import type { AppropriatenessFacts, ClientContext, ClientEvent } from "../../../machines/client/Client.ts"
import { clientMachine } from "../../../machines/client/clientMachine.ts"
import type { Restriction } from "../../../machines/client/Restriction.ts"
import type { CaseContext, CaseEvent } from "../../../machines/compliance/Case.ts"
import { caseMachine } from "../../../machines/compliance/caseMachine.ts"
import type { KycPackageContext, KycPackageEvent } from "../../../machines/kyc/KycPackage.ts"
import { kycMachine } from "../../../machines/kyc/kycMachine.ts"
import { accept, conflict, refuse, type Verdict } from "../../../machines/shared/Refusal.ts"
import type { BlockContext, BlockEvent, RoleLabel } from "../../../machines/verification/Block.ts"
import { blockMachine } from "../../../machines/verification/blockMachine.ts"
import {
  type BlockCode,
  blockCodes,
  type BlockStatus,
  type BlockStatuses,
  micaBlockCodes,
  mifidBlockCodes
} from "../../../machines/verification/Blocks.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { begin, step, versionOf } from "../../engine/machine/decide.ts"
import { applyEffects, type Instance } from "../../effects/Interpreter.ts"
import { keyOf } from "../../store/Catalogue.ts"
import type { AssessmentRow, BlockRow, CaseRow, ClientRow, PackageRow } from "../../store/Rows.ts"
import { blockStatuses } from "./clientState.ts"
import { remember, trueMatches } from "../screening/dispositions.ts"
import { noteFinding, type Rescreening, shownCandidates, withOutcome } from "../screening/rescreening.ts"

/** The turn of one client, with whom its effects belong to and the role that decides. */
export interface ClientTurn {
  readonly turn: Turn
  readonly instance: Instance
  readonly by: RoleLabel
}

/** Sets a restriction; refused where the machine does not take it (closed, rejected, set already). */
export const restrictClient = (
  at: ClientTurn,
  row: ClientRow,
  restriction: Restriction,
  reason: string
): Verdict<ClientRow> => {
  const next = moveClient(at, row, { type: "RESTRICT", at: at.turn.now, restriction, reason })
  if (next !== null) return accept(next)
  const set = contextOf(row).restrictions.includes(restriction)
  return refuse(
    conflict(set ? "This restriction is set already." : `The client is ${row.state}, so it can't be restricted.`)
  )
}

/** Lifts a restriction; the last hold to go makes the client ACTIVE again. */
export const liftRestriction = (
  at: ClientTurn,
  row: ClientRow,
  restriction: Restriction,
  reason: string
): Verdict<ClientRow> => {
  const next = moveClient(at, row, { type: "LIFT", at: at.turn.now, restriction, reason })
  if (next !== null) return accept(next)
  const set = contextOf(row).restrictions.includes(restriction)
  return refuse(
    conflict(set ? `The client is ${row.state}, so no restriction can be lifted.` : "This restriction is not set.")
  )
}

/**
 * Compliance has no doubt left: the open cases are cleared, what screening finds for the client as it is now is remembered
 * as false positives of this identity, the package is accepted, and the grant runs again over the approved blocks.
 *
 * One refusal writes: candidates that nobody has seen as they are now join the case with an audit row, or the officer who
 * is told to look at the case again would find nothing there.
 */
export const clearClient = (
  at: ClientTurn,
  row: ClientRow,
  note: string | null,
  again: Rescreening | null
): Verdict<ClientRow> => {
  const { turn } = at
  const kyc = turn.state.one("kycPackages")
  const cases = turn.state.all("cases").toSorted((a, b) => a.id - b.id)
  if (kyc === undefined || row.state === "CLOSED" || row.state === "KYC_REJECTED") {
    return refuse(conflict(`The client is ${row.state}, so there is nothing to clear.`))
  }
  if (kyc.state === "REJECTED") {
    return refuse(
      conflict("Reliance on this package was rejected: only the partner's re-onboarding leaves that state.")
    )
  }
  const held = row.state === "KYC_PENDING"
  if (cases.length === 0 && (held || kyc.state === "ACCEPTED")) return refuse(conflict("The client has no open case."))
  const missing = held ? missingBlocks(at, row) : []
  if (missing.length > 0) {
    return refuse(
      conflict("The client can't be granted: blocks of level MICA are missing.", { missingBlocks: missing })
    )
  }
  const unseen = noteScreening(at, row, cases, again)
  if (unseen > 0) {
    return refuse(
      conflict(
        `Screening finds ${unseen} ${unseen === 1 ? "candidate" : "candidates"} for this client that nobody has seen like this: look at the case again before clearing it.`,
        { unseenCandidates: unseen }
      )
    )
  }
  const matches = trueMatches(turn.state)
  if (matches.length > 0 && note === null) {
    return refuse(
      conflict("Compliance has found this client to be a listed person: a note must say why that no longer holds.", {
        trueMatches: matches
      })
    )
  }
  movePackage(at, kyc, { type: "ACCEPT", at: turn.now, by: at.by })
  if (held) for (const code of micaBlockCodes) moveBlock(at, row, code, { type: "APPROVE", at: turn.now, by: at.by })
  let client = row
  for (const open of cases) {
    closeCase(at, open, { type: "CLEAR", at: turn.now, by: at.by, note })
    client = clearHold(at, client, open.id, kyc.id)
  }
  remember(turn, at.by, row, {
    disposition: "FALSE_POSITIVE",
    identityKey: again?.identityKey ?? null,
    pairs: again?.found ?? shownCandidates(turn.state).map(withOutcome)
  })
  // The partner was asked for documents: it is told the outcome even where no hold fell with the review (rule 6).
  if (kyc.state === "DOCUMENTS_REQUESTED" && client === row) {
    applyEffects(turn, at.instance, [{ type: "notify", kind: "VERIFICATION_DECISION", ref: String(row.id) }])
  }
  decide(at, row, "REVIEW_CLEARED", note ?? "cleared by compliance")
  return accept(client)
}

/** Stores the screening of this moment; candidates nobody has seen like this join the newest open case. Their number. */
const noteScreening = (
  at: ClientTurn,
  row: ClientRow,
  cases: ReadonlyArray<CaseRow>,
  again: Rescreening | null
): number => {
  if (again === null) return 0
  const { turn } = at
  const screeningRunId = turn.nextId("screeningRun")
  turn.draft.put("screeningRuns", {
    id: screeningRunId,
    partnerId: row.partnerId,
    clientId: row.id,
    trigger: "COMPLIANCE_CLEAR",
    passId: null,
    outcome: again.outcome,
    listVersion: again.listVersion,
    listVersions: again.listVersions,
    candidates: again.candidates as unknown as Json,
    ranAt: turn.now
  })
  const { outcome, candidates } = again
  const newest = cases.at(-1)
  if (candidates.length > 0 && newest !== undefined) {
    noteFinding(turn, at.instance, newest, { outcome, candidates, screeningRunId })
  }
  return candidates.length
}

/** One case gone from the client: the first leaves KYC_PENDING with the grant, later ones only lift the hold. */
const clearHold = (at: ClientTurn, client: ClientRow, caseId: number, kycPackageId: number): ClientRow => {
  // A case that never held the client (a sample of an ACTIVE one) leaves the lifecycle alone.
  if (!contextOf(client).openCases.includes(caseId)) return client
  const event: ClientEvent =
    client.state === "KYC_PENDING"
      ? {
          type: "COMPLIANCE_APPROVE",
          at: at.turn.now,
          kycPackageId,
          caseId,
          blocksApproved: true,
          ...mifidFacts(blockStatuses(at.turn.state), at.turn.state.one("assessments"))
        }
      : { type: "COMPLIANCE_CLEAR", at: at.turn.now, caseId }
  const next = moveClient(at, client, event)
  if (next === null) throw new Error(`a ${client.state} client refused ${event.type} of its own case`)
  return next
}

/** Compliance refuses to rely on the partner's KYC: level NONE, package and all twelve blocks REJECTED. */
export const rejectReliance = (at: ClientTurn, row: ClientRow, reason: string): Verdict<ClientRow> => {
  const { turn } = at
  const kyc = turn.state.one("kycPackages")
  if (kyc === undefined) return refuse(conflict("The client has no KYC package."))
  if (kyc.state === "REJECTED") return refuse(conflict("Reliance on this package is rejected already."))
  const { revision } = kyc.context as unknown as KycPackageContext
  const next = moveClient(at, row, { type: "REJECT_RELIANCE", at: turn.now, kycPackageId: kyc.id, revision, reason })
  if (next === null) return refuse(conflict(`The client is ${row.state}, so reliance can't be rejected.`))
  movePackage(at, kyc, { type: "REJECT_RELIANCE", at: turn.now, by: at.by, note: reason })
  for (const code of blockCodes) {
    moveBlock(at, row, code, { type: "REJECT_RELIANCE", at: turn.now, by: at.by, reason })
  }
  moveAssessment(at, row, { type: "RELIANCE_REJECTED", at: turn.now, reason })
  for (const open of turn.state.all("cases"))
    closeCase(at, open, { type: "REJECT", at: turn.now, by: at.by, note: reason })
  decide(at, row, "RELIANCE_REJECTED", reason)
  return accept(next)
}

const contextOf = (row: ClientRow): ClientContext => row.context as unknown as ClientContext

/** The two halves of level MICA_MIFID: all five blocks approved, and the assessment they rest on (D1). */
export const mifidFacts = (
  statuses: BlockStatuses,
  assessment: Pick<AssessmentRow, "state" | "context"> | undefined
): { readonly mifidReady: boolean; readonly appropriateness: AppropriatenessFacts | null } => {
  const facts =
    assessment === undefined ? null : factsOf(assessment.state, assessment.context as unknown as AssessmentContext)
  const ready = facts !== null && mifidBlockCodes.every((code) => statuses.get(code) === "APPROVED")
  return { mifidReady: ready, appropriateness: ready ? facts : null }
}

/** The client after an event, or null when its state does not take it. */
export const moveClient = (at: ClientTurn, row: ClientRow, event: ClientEvent): ClientRow | null => {
  const decided = step(clientMachine, { state: row.state, context: contextOf(row) }, event)
  if (!decided.changed) return null
  const context = decided.context as ClientContext
  const next: ClientRow = {
    ...row,
    state: decided.state,
    version: versionOf("client"),
    context: context as unknown as JsonObject,
    level: context.level
  }
  at.turn.draft.put("clients", next)
  applyEffects(at.turn, { ...at.instance, object: `client:${row.id}` }, decided.effects)
  if (next.level === "MICA_MIFID" && row.level !== "MICA_MIFID") {
    decide({ ...at, by: "SYSTEM" }, next, "GRANT_MICA_MIFID", "MiFID blocks and appropriateness in place")
  }
  return next
}

/** The assessment after an event, as a row of the draft; null when it does not take it. A first one starts IDLE. */
export const moveAssessment = (at: ClientTurn, client: ClientRow, event: AssessmentEvent): AssessmentRow | null => {
  const known = at.turn.state.one("assessments")
  const before =
    known === undefined
      ? begin(assessmentMachine, { clientId: client.id })
      : { state: known.state, context: known.context as unknown as AssessmentContext }
  const decided = step(assessmentMachine, before, event)
  if (!decided.changed) return null
  const next: AssessmentRow = {
    clientId: client.id,
    partnerId: client.partnerId,
    shard: client.shard,
    state: decided.state,
    version: versionOf("assessment"),
    context: decided.context as unknown as JsonObject
  }
  at.turn.draft.put("assessments", next)
  applyEffects(at.turn, { ...at.instance, object: `assessment:${client.id}` }, decided.effects)
  return next
}

/** The package after an event; one it does not take changes nothing. */
export const movePackage = (at: ClientTurn, row: PackageRow, event: KycPackageEvent): void => {
  const stored = { state: row.state, context: row.context as unknown as KycPackageContext }
  const decided = step(kycMachine, stored, event)
  if (!decided.changed) return
  at.turn.draft.put("kycPackages", { ...row, state: decided.state, context: decided.context as unknown as JsonObject })
  applyEffects(at.turn, { ...at.instance, object: `kycPackage:${row.id}` }, decided.effects)
}

const blockOf = (at: ClientTurn, clientId: number, code: BlockCode): BlockRow | undefined =>
  at.turn.state.get("verificationBlocks", keyOf("verificationBlocks", { clientId, code }))

/** Writes the block's answer to an event and tells its status; a block nobody has written starts from NOT_STARTED. */
export const moveBlock = (at: ClientTurn, client: ClientRow, code: BlockCode, event: BlockEvent): BlockStatus => {
  const known = blockOf(at, client.id, code)
  const before =
    known === undefined
      ? begin(blockMachine, { code })
      : { state: known.state, context: known.context as unknown as BlockContext }
  const decided = step(blockMachine, before, event)
  if (!decided.changed) return before.state as BlockStatus
  const owner = known ?? { clientId: client.id, code, partnerId: client.partnerId, shard: client.shard }
  at.turn.draft.put("verificationBlocks", {
    ...owner,
    state: decided.state,
    version: versionOf("verificationBlock"),
    context: decided.context as unknown as JsonObject
  })
  applyEffects(at.turn, { ...at.instance, object: `verificationBlock:${client.id}:${code}` }, decided.effects)
  return decided.state as BlockStatus
}

/** The MiCA blocks that are neither approved nor waiting for compliance to approve them, in their order. */
const missingBlocks = (at: ClientTurn, client: ClientRow): ReadonlyArray<BlockCode> =>
  micaBlockCodes.filter((code) => !["APPROVED", "SUBMITTED"].includes(blockOf(at, client.id, code)?.state ?? ""))

/** Ends an open case; a refusal here is a defect. */
export const closeCase = (at: ClientTurn, row: CaseRow, event: CaseEvent): void => {
  const decided = step(caseMachine, { state: row.state, context: row.context as unknown as CaseContext }, event)
  if (!decided.changed) throw new Error(`an open case refused ${event.type}`)
  at.turn.draft.put("cases", {
    ...row,
    state: decided.state,
    context: decided.context as unknown as JsonObject,
    closedAt: at.turn.now
  })
  applyEffects(at.turn, { ...at.instance, object: `case:${row.id}` }, decided.effects)
}

/** The row of a decision, which nothing ever changes. */
export const decide = (at: ClientTurn, client: ClientRow, decision: string, reason: string): void =>
  at.turn.draft.put("decisions", {
    id: at.turn.nextId("decision"),
    partnerId: client.partnerId,
    clientId: client.id,
    decision,
    reason,
    decidedBy: at.by,
    decidedAt: at.turn.now
  })
