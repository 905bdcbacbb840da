/**
 * The turn of a stored client after a pass has screened it. A finding that compliance has not seen opens a case and
 * restricts the client; a hit freezes it. An unchanged result writes nothing, so passes may repeat a client any number
 * of times. Pure except for the turn's draft and ids (F26; D1; A3-10).
 */
import type { PassTrigger } from "../../../../machines/screening/ScreeningPass.ts"
import { type findAll, resultOf, type ScreeningOutcome } from "../../../../machines/screening/screen.ts"
import type { ClientRow } from "../../../tables/client.ts"
import { type ClientTurn, moveClient } from "../client/clientDecisions.ts"
import { clientContext } from "../../account/clientState.ts"
import { openCase, screeningReasons, writeScreening } from "../kyc/kycDecisions.ts"
import { clearedFor } from "../../screening/dispositions.ts"
import { newFinding, noteWorse, seenBy, shownCandidates } from "./rescreening.ts"
import type { ListVersions } from "../../screening/Screening.ts"

export interface PassFinding {
  /** All entries with a score at or above their threshold for the stored name. */
  readonly found: ReturnType<typeof findAll>
  /** Fingerprint of the identity that was screened. */
  readonly identityKey: string
  readonly lists: ListVersions
  readonly trigger: PassTrigger
  /** Null: no pass caused this. The list changed between the screening of a submission and its commit. */
  readonly passId: number | null
}

export const rescreenClient = (at: ClientTurn, client: ClientRow, finding: PassFinding): void => {
  const { turn } = at
  if (client.state === "CLOSED" || client.state === "KYC_REJECTED") return
  const cleared = clearedFor(turn.state.all("dispositions"), finding.identityKey)
  const shown = shownCandidates(turn.state)
  const screened = resultOf(finding.found, cleared)
  const unseen = resultOf(finding.found, seenBy(cleared, shown))
  const fresh = newFinding(clientContext(client).openCases.length > 0, shown, screened, unseen)
  if (fresh === null && unseen.candidates.length === 0) return
  const { outcome } = fresh ?? unseen
  if (needsNothing(at, client, outcome)) return
  const screeningRunId = writeScreening(at, client, finding.trigger, { ...screened, ...finding.lists }, finding.passId)
  if (fresh === null) noteWorse(turn, at.instance, { ...unseen, screeningRunId })
  const caseId = fresh === null ? null : turn.nextId("case")
  const reasons = screeningReasons({ outcome, candidates: [] })
  if (fresh !== null && caseId !== null) {
    openCase(at, client, { caseId, reasons, screeningRunId, candidates: fresh.candidates, duplicateOf: null })
  }
  // A candidate that a case already shows had its consequence when the case opened. Only a candidate that has become
  // a hit since then has a further consequence.
  if (caseId === null && outcome !== "HIT") return
  moveClient(at, client, {
    type: "MATCHED",
    at: turn.now,
    caseId,
    restriction: outcome === "HIT" ? "FROZEN" : "NO_NEW_RISK",
    reason: reasons[0] ?? "COMPLIANCE_REVIEW"
  })
}

/**
 * True if the finding needs no action now. After a rejected reliance only money can still move, so only a hit acts: it
 * freezes the client once. The partner's re-onboarding screens the client again, and before it no case could be cleared
 * (D1, D2).
 */
const needsNothing = ({ turn }: ClientTurn, client: ClientRow, outcome: ScreeningOutcome): boolean =>
  turn.state.one("kycPackages")?.state === "REJECTED" &&
  (outcome !== "HIT" || clientContext(client).restrictions.includes("FROZEN"))
