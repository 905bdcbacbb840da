/**
 * The turn of a PUT .../kyc that onboards a client again after its reliance was rejected. It writes every MiCA block
 * again, the next revision, a new identity session, and the grant of POST /clients. The MiFID blocks stay as they are
 * until the partner writes them. Pure except for the turn's draft and ids (doc 1, Rules of POST /clients and PUT
 * .../kyc 8; D1, D2, D3; A1-28).
 */
import { type CaseReason, partnerReason } from "../../../../machines/compliance/Case.ts"
import type { ReonboardingResult } from "../../../../machines/client/KycWire.ts"
import { requirements } from "../../../../machines/verification/requirements.ts"
import { sourceOfWealthDue } from "../../../../machines/verification/sourceOfWealth.ts"
import type { BlockStatuses } from "../../../../machines/verification/Blocks.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { PackageRow } from "../../../tables/kyc.ts"
import { type ClientTurn, mifidFacts } from "./clientDecisions.ts"
import { blockStatuses, clientContext, lifetimeDeposits } from "../../account/clientState.ts"
import type { KycUpdatePlan } from "../kyc/KycUpdatePlan.ts"
import { openCase, writeGrant, writeReportingRecord, writeScreening, writeSections } from "../kyc/kycDecisions.ts"
import { move, named, updateAnswer, writeClaims, writeNextRevision } from "../kyc/reviseClient.ts"
import type { ScreenedAgain } from "../screening/rescreening.ts"

export interface Reonboarding {
  readonly plan: KycUpdatePlan
  readonly screened: ScreenedAgain
  /** The reasons why compliance must review the client; empty: the grant succeeds, unless a case already holds the client. */
  readonly reasons: ReadonlyArray<CaseReason>
  /** Lifetime deposits, micro-USDC, from which the source of wealth is required (F25). */
  readonly threshold: bigint
}

export const reonboardClient = (
  at: ClientTurn,
  client: ClientRow,
  kyc: PackageRow,
  { plan, screened, reasons, threshold }: Reonboarding
): ReonboardingResult => {
  const { turn } = at
  const { request } = plan
  const revision = plan.base.revision + 1
  const review = reviewOf(at, client, reasons)
  const granted = review === null
  const written = writeSections(at, client, request.kyc, request.identityCheck)
  const before = blockStatuses(turn.state)
  const statuses: BlockStatuses = { get: (code) => written.get(code) ?? before.get(code) }
  if (granted) writeGrant(at, client)
  const next = move(at, named(client, plan), {
    type: "REONBOARD",
    at: turn.now,
    granted,
    reason: review?.reason ?? null,
    caseId: review?.caseId ?? null,
    kycPackageId: kyc.id,
    ...mifidFacts(statuses, turn.state.one("assessments"))
  })
  writeClaims(at, client, plan.claims)
  const status = writeNextRevision(at, client, kyc, plan, {
    type: "REONBOARD",
    at: turn.now,
    kycPackageId: kyc.id,
    revision,
    granted
  })
  const screeningRunId = writeScreening(at, client, "KYC_REVISION", screened)
  writeReportingRecord(at, client, plan.sections, revision)
  if (review !== null && reasons.length > 0) {
    const { caseId } = review
    const { clientId: duplicateOf, refused } = plan.claims.same ?? { clientId: null, refused: [] }
    openCase(at, client, { caseId, reasons, screeningRunId, candidates: screened.candidates, duplicateOf, refused })
  }
  const eddDue = sourceOfWealthDue({ kind: "WITHDRAWAL", booked: lifetimeDeposits(turn.state) }, threshold)
  return {
    ...updateAnswer(next, kyc, plan, status),
    reonboarded: true,
    grant: granted ? "ACTIVE" : "PENDING_REVIEW",
    review,
    requirements: requirements(statuses, next.level, eddDue)
  }
}

/**
 * The case that the grant waits for: the case of this onboarding, otherwise the newest one that already holds the
 * client. Null: there is none (D1).
 */
const reviewOf = (
  { turn }: ClientTurn,
  client: ClientRow,
  [first]: ReadonlyArray<CaseReason>
): ReonboardingResult["review"] => {
  if (first !== undefined) return { reason: partnerReason(first), caseId: turn.nextId("case") }
  const held = clientContext(client).openCases.at(-1)
  if (held === undefined) return null
  const row = turn.state.all("cases").find(({ id }) => id === held)
  if (row === undefined) throw new Error(`case ${held} holds the client and is not open`)
  return { reason: partnerReason(row.reason as CaseReason), caseId: held }
}
