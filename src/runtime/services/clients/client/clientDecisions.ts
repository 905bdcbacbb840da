/**
 * Decisions of compliance on a client, inside the client's turn. The client, its package, its blocks and its cases take
 * their events in one commit. Pure except for the turn's draft and ids (D1, D2, D3; A1-28, A1-48, A3-10).
 */
import { type AssessmentEvent, factsOf } from "../../../../machines/appropriateness/Assessment.ts"
import type { AppropriatenessFacts, ClientEvent } from "../../../../machines/client/Client.ts"
import { openingRestriction } from "../../../../machines/client/openingRisk.ts"
import type { Restriction } from "../../../../machines/client/Restriction.ts"
import type { CaseEvent } from "../../../../machines/compliance/Case.ts"
import type { KycPackageEvent } from "../../../../machines/kyc/KycPackage.ts"
import type { ScreeningOutcome } from "../../../../machines/screening/screen.ts"
import { accept, conflict, type Refusal, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import type { BlockEvent, RoleLabel } from "../../../../machines/verification/Block.ts"
import {
  type BlockCode,
  blockCodes,
  type BlockStatus,
  type BlockStatuses,
  micaBlockCodes,
  mifidBlockCodes
} from "../../../../machines/verification/Blocks.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import type { Instance } from "../../../effects/Instance.ts"
import { keyOf } from "../../../tables/Catalogue.ts"
import type { AssessmentRow } from "../../../tables/appropriateness.ts"
import type { BlockRow } from "../../../tables/verification.ts"
import type { CaseRow } from "../../../tables/compliance.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { PackageRow } from "../../../tables/kyc.ts"
import { blockStatuses, clientContext } from "../../account/clientState.ts"
import { cancelOpeningRequests } from "../../trading/rfq/rfqDecisions.ts"
import { remember, trueMatches } from "../../screening/dispositions.ts"
import { candidatesOf, noteFinding, type Rescreening, shownCandidates, withOutcome } from "../screening/rescreening.ts"
import { advance } from "../../../effects/advance.ts"
import { firstRow } from "../../../effects/machineRow.ts"
import { plural } from "../../../../machines/shared/Text.ts"

/** What a decision on one client needs: the client's turn, the owner of its effects, and the role that decides. */
export interface ClientTurn {
  readonly turn: Turn
  readonly instance: Instance
  readonly by: RoleLabel
}

/** Sets a restriction; refused if the machine rejects it (closed, rejected, set already). */
export const restrictClient = (
  at: ClientTurn,
  row: ClientRow,
  restriction: Restriction,
  reason: string
): Verdict<ClientRow> => {
  const next = moveClient(at, row, { type: "RESTRICT", at: at.turn.now, restriction, reason })
  if (next !== null) return accept(next)
  const set = row.context.restrictions.includes(restriction)
  return refuse(
    set
      ? conflict("ALREADY", "This restriction is set already.")
      : conflict("WRONG_STATE", `The client is ${row.state}, so it can't be restricted.`)
  )
}

/** Lifts a restriction. Once no hold is left, the client becomes ACTIVE again. */
export const liftRestriction = (
  at: ClientTurn,
  row: ClientRow,
  restriction: Restriction,
  reason: string
): Verdict<ClientRow> => {
  const next = moveClient(at, row, { type: "LIFT", at: at.turn.now, restriction, reason })
  if (next !== null) return accept(next)
  const set = row.context.restrictions.includes(restriction)
  return refuse(
    set
      ? conflict("WRONG_STATE", `The client is ${row.state}, so no restriction can be lifted.`)
      : conflict("ALREADY", "This restriction is not set.")
  )
}

/**
 * Clears the client: closes the open cases, stores the present candidates of screening as false positives of this
 * identity, accepts the package, and runs the grant again over the approved blocks.
 *
 * One refusal writes rows. Candidates that compliance has not seen in their present form are added to the case, with an
 * audit row. The officer finds them when reading the case again.
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
    return refuse(conflict("WRONG_STATE", `The client is ${row.state}, so there is nothing to clear.`))
  }
  if (kyc.state === "REJECTED") {
    return refuse(
      conflict(
        "RELIANCE_REJECTED",
        "Reliance on this package was rejected: only the partner's re-onboarding leaves that state."
      )
    )
  }
  const held = row.state === "KYC_PENDING"
  if (cases.length === 0 && (held || kyc.state === "ACCEPTED"))
    return refuse(conflict("NO_OPEN_CASE", "The client has no open case."))
  const missing = held ? missingBlocks(at, row) : []
  if (missing.length > 0) {
    return refuse(
      conflict("BLOCKS_MISSING", "The client can't be granted: blocks of level MICA are missing.", {
        missingBlocks: missing
      })
    )
  }
  const unseen = noteScreening(at, row, cases, again)
  if (unseen > 0) {
    return refuse(
      conflict(
        "FILE_CHANGED",
        `Screening finds ${plural(unseen, "candidate")} for this client that changed since the case was read: read the case again before clearing it.`,
        { unseenCandidates: unseen }
      )
    )
  }
  const wanted = note === null ? noteWanted(at, cases) : null
  if (wanted !== null) return refuse(wanted)
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
  // The partner received the request for documents, so it is notified of the outcome too, even if the review did not hold
  // the client (rule 6).
  if (kyc.state === "DOCUMENTS_REQUESTED" && client === row) {
    applyEffects(turn, at.instance, [{ type: "notify", kind: "VERIFICATION_DECISION", ref: String(row.id) }])
  }
  writeDecision(at, row, "REVIEW_CLEARED", note ?? "cleared by compliance")
  return accept(client)
}

/**
 * The refusal of a clearance without a note: compliance must explain why it clears a listed person or a similar one
 * (F26). Null: no note is needed.
 */
const noteWanted = ({ turn }: ClientTurn, cases: ReadonlyArray<CaseRow>): Refusal | null => {
  const trueOnes = trueMatches(turn.state)
  const hits = shownAs("HIT", cases)
  const possible = shownAs("POSSIBLE", cases)
  const found = { hits, ...(possible.length === 0 ? {} : { possibleMatches: possible }) }
  if (trueOnes.length > 0) {
    return conflict(
      "NOTE_NEEDED",
      "Compliance has found this client to be a listed person: a note must say why that no longer holds.",
      { trueMatches: trueOnes, ...found }
    )
  }
  if (hits.length + possible.length === 0) return null
  return conflict(
    "NOTE_NEEDED",
    hits.length > 0
      ? "Screening has found this client on a sanctions list: a note must say why it is another person."
      : "Screening has found a possible match of this client: a note must say why it is another person.",
    found
  )
}

/** Case id, entry and score of each candidate with this outcome in the open cases, for the data of a refusal. */
const shownAs = (outcome: ScreeningOutcome, cases: ReadonlyArray<CaseRow>) =>
  cases.flatMap((open) =>
    candidatesOf(open)
      .filter((candidate) => withOutcome(candidate).outcome === outcome)
      .map(({ entryId, score }) => ({ caseId: open.id, entryId, score }))
  )

/**
 * Stores the present screening. Candidates that compliance has not seen in their present form are added to the newest
 * open case. Returns their number.
 */
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
    candidates: again.candidates,
    ranAt: turn.now
  })
  const { outcome, candidates } = again
  const newest = cases.at(-1)
  if (candidates.length > 0 && newest !== undefined) {
    noteFinding(turn, at.instance, newest, { outcome, candidates, screeningRunId })
  }
  return candidates.length
}

/** Clears one case of a client. The first case ends KYC_PENDING with the grant; later cases only lift their hold. */
const clearHold = (at: ClientTurn, client: ClientRow, caseId: number, kycPackageId: number): ClientRow => {
  // A case that never held the client, such as a sample, does not affect the client's state.
  if (!client.context.openCases.includes(caseId)) return client
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

/** Ends the reliance on the partner's KYC: level NONE, and the package and all twelve blocks become REJECTED. */
export const rejectReliance = (at: ClientTurn, row: ClientRow, reason: string): Verdict<ClientRow> => {
  const { turn } = at
  const kyc = turn.state.one("kycPackages")
  if (kyc === undefined) return refuse(conflict("NO_KYC_PACKAGE", "The client has no KYC package."))
  if (kyc.state === "REJECTED") return refuse(conflict("ALREADY", "Reliance on this package is rejected already."))
  const { revision } = kyc.context
  const next = moveClient(at, row, { type: "REJECT_RELIANCE", at: turn.now, kycPackageId: kyc.id, revision, reason })
  if (next === null)
    return refuse(conflict("WRONG_STATE", `The client is ${row.state}, so reliance can't be rejected.`))
  movePackage(at, kyc, { type: "REJECT_RELIANCE", at: turn.now, by: at.by, note: reason })
  for (const code of blockCodes) {
    moveBlock(at, row, code, { type: "REJECT_RELIANCE", at: turn.now, by: at.by, reason })
  }
  moveAssessment(at, row, { type: "RELIANCE_REJECTED", at: turn.now, reason })
  for (const open of turn.state.all("cases"))
    closeCase(at, open, { type: "REJECT", at: turn.now, by: at.by, note: reason })
  writeDecision(at, row, "RELIANCE_REJECTED", reason)
  return accept(next)
}

/** The facts of level MICA_MIFID: whether all five blocks are approved, and the assessment behind them. */
export const mifidFacts = (
  statuses: BlockStatuses,
  assessment: Pick<AssessmentRow, "state" | "context"> | undefined
): { readonly mifidReady: boolean; readonly appropriateness: AppropriatenessFacts | null } => {
  const facts = assessment === undefined ? null : factsOf(assessment.state, assessment.context)
  const ready = facts !== null && mifidBlockCodes.every((code) => statuses.get(code) === "APPROVED")
  return { mifidReady: ready, appropriateness: ready ? facts : null }
}

/**
 * Applies an event to the client; null: its state does not accept the event. A client that may no longer take new risk
 * loses its open requests (A2-101).
 */
export const moveClient = (at: ClientTurn, row: ClientRow, event: ClientEvent): ClientRow | null => {
  const next = advance(at.turn, "clients", row, event, { of: at.instance })
  if (next?.level === "MICA_MIFID" && row.level !== "MICA_MIFID") {
    writeDecision({ ...at, by: "SYSTEM" }, next, "GRANT_MICA_MIFID", "MiFID blocks and appropriateness in place")
  }
  const refused = next === null ? null : openingRestriction(next.state, clientContext(next).restrictions)
  if (refused !== null) cancelOpeningRequests(at.turn, refused)
  return next
}

/**
 * Applies an event to the assessment, and writes its row; null: its state does not accept the event. The first event
 * starts the assessment in IDLE.
 */
export const moveAssessment = (at: ClientTurn, client: ClientRow, event: AssessmentEvent): AssessmentRow | null => {
  const { id: clientId, partnerId, shard } = client
  const before =
    at.turn.state.one("assessments") ?? firstRow("assessments", { clientId }, { clientId, partnerId, shard }).row
  return advance(at.turn, "assessments", before, event, { of: at.instance })
}

/** Applies an event to the package; an event that its state does not accept changes nothing. */
export const movePackage = (at: ClientTurn, row: PackageRow, event: KycPackageEvent): void => {
  advance(at.turn, "kycPackages", row, event, { of: at.instance })
}

const blockOf = (at: ClientTurn, clientId: number, code: BlockCode): BlockRow | undefined =>
  at.turn.state.get("verificationBlocks", keyOf("verificationBlocks", { clientId, code }))

/** Applies an event to a block and returns its status; a block without a row starts from NOT_STARTED. */
export const moveBlock = (at: ClientTurn, client: ClientRow, code: BlockCode, event: BlockEvent): BlockStatus => {
  const { id: clientId, partnerId, shard } = client
  const before =
    blockOf(at, clientId, code) ?? firstRow("verificationBlocks", { code }, { clientId, code, partnerId, shard }).row
  return (advance(at.turn, "verificationBlocks", before, event, { of: at.instance }) ?? before).state
}

/** The MiCA blocks that keep the client from level MICA: neither approved nor submitted, in the order of the blocks. */
const missingBlocks = (at: ClientTurn, client: ClientRow): ReadonlyArray<BlockCode> =>
  micaBlockCodes.filter((code) => !["APPROVED", "SUBMITTED"].includes(blockOf(at, client.id, code)?.state ?? ""))

/** Ends an open case; an event that its state does not accept is a defect. */
export const closeCase = (at: ClientTurn, row: CaseRow, event: CaseEvent): void => {
  if (advance(at.turn, "cases", row, event, { of: at.instance }) === null) {
    throw new Error(`an open case refused ${event.type}`)
  }
}

/** Writes a decision into the client's list of decisions, whose rows never change. */
export const writeDecision = (at: ClientTurn, client: ClientRow, decision: string, reason: string): void =>
  at.turn.draft.put("decisions", {
    id: at.turn.nextId("decision"),
    partnerId: client.partnerId,
    clientId: client.id,
    decision,
    reason,
    decidedBy: at.by,
    decidedAt: at.turn.now
  })
