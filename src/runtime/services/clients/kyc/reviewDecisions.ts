/**
 * Compliance's review of a KYC package inside the client's turn: requesting the underlying documents, taking a sample,
 * and the final refusal of the person. Pure except for the turn's draft and ids (D1, D2; A1-34, A1-48; F26).
 */
import type { CaseReason } from "../../../../machines/compliance/Case.ts"
import { accept, conflict, refuse, type Refusal, type Verdict } from "../../../../machines/shared/Refusal.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { PackageRow } from "../../../tables/kyc.ts"
import { closeCase, type ClientTurn, moveClient, movePackage, writeDecision } from "../client/clientDecisions.ts"
import { remember } from "../../screening/dispositions.ts"
import { openCase } from "./kycDecisions.ts"
import { shownCandidates, withOutcome } from "../screening/rescreening.ts"

/** Opens a case without a screening and returns its id; the client machine decides whether it holds the client. */
export const openPlainCase = (at: ClientTurn, client: ClientRow, reason: CaseReason): number => {
  const caseId = at.turn.nextId("case")
  openCase(at, client, { caseId, reasons: [reason], screeningRunId: null, candidates: [], duplicateOf: null })
  return caseId
}

/**
 * The package that a review concerns, if the client is active or held. The review of a refused or closed client is
 * refused.
 */
const reviewable = (at: ClientTurn, client: ClientRow): PackageRow | Refusal => {
  if (client.state === "CLOSED" || client.state === "KYC_REJECTED") {
    return conflict("WRONG_STATE", `The client is ${client.state}, so its KYC package is not reviewed any more.`)
  }
  return at.turn.state.one("kycPackages") ?? conflict("NO_KYC_PACKAGE", "The client has no KYC package.")
}

const isRefusal = (value: PackageRow | Refusal): value is Refusal => "_tag" in value

/**
 * Requests the underlying documents. The partner reads the note, which names them. The client's state does not change.
 * If no case is open, this opens one that does not hold the client, so that compliance finds the request in its list of
 * cases.
 */
export const requestDocuments = (at: ClientTurn, client: ClientRow, note: string): Verdict<ClientRow> => {
  const kyc = reviewable(at, client)
  if (isRefusal(kyc)) return refuse(kyc)
  if (kyc.state === "DOCUMENTS_REQUESTED") return refuse(conflict("ALREADY", "Documents are requested already."))
  if (kyc.state === "REJECTED") return refuse(conflict("ALREADY", "Reliance on this package is rejected already."))
  movePackage(at, kyc, { type: "REQUEST_DOCUMENTS", at: at.turn.now, by: at.by, note })
  if (at.turn.state.all("cases").length === 0) openPlainCase(at, client, "SPOT_CHECK")
  writeDecision(at, client, "DOCUMENTS_REQUESTED", note)
  return accept(client)
}

/** Selects an accepted package as a sample. This opens a case for compliance, without consequences for the client (D2). */
export const sampleClient = (at: ClientTurn, client: ClientRow): Verdict<ClientRow> => {
  const kyc = reviewable(at, client)
  if (isRefusal(kyc)) return refuse(kyc)
  if (kyc.state !== "ACCEPTED") {
    return refuse(
      conflict("WRONG_STATE", `The package is ${kyc.state}: only an accepted one can be taken as a sample.`)
    )
  }
  movePackage(at, kyc, { type: "SAMPLE", at: at.turn.now })
  openPlainCase(at, client, "SPOT_CHECK")
  return accept(client)
}

/**
 * Refuses the person for good: level NONE, package and open cases rejected. The candidates of the cases are stored as
 * true matches. `blockers`: the results of the zero check.
 */
export const rejectPerson = (
  at: ClientTurn,
  client: ClientRow,
  reason: string,
  blockers: ReadonlyArray<string>
): Verdict<ClientRow> => {
  const { turn } = at
  const next = moveClient(at, client, { type: "REJECT_PERSON", at: turn.now, reason, blockers })
  if (next === null) {
    const held = client.state === "KYC_PENDING" || client.state === "RESTRICTED"
    return refuse(
      held
        ? conflict("BLOCKED", "The person can't be rejected yet.", { blockers })
        : conflict("WRONG_STATE", `The client is ${client.state}, so the person can't be rejected.`)
    )
  }
  const kyc = turn.state.one("kycPackages")
  if (kyc !== undefined) movePackage(at, kyc, { type: "REJECT_PERSON", at: turn.now, by: at.by })
  for (const open of turn.state.all("cases"))
    closeCase(at, open, { type: "REJECT", at: turn.now, by: at.by, note: reason })
  const pairs = shownCandidates(turn.state).map(withOutcome)
  remember(turn, at.by, client, { disposition: "TRUE_MATCH", identityKey: null, pairs })
  writeDecision(at, client, "PERSON_REJECTED", reason)
  return accept(next)
}
