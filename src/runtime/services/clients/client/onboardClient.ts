/**
 * The turn that creates a client. It drives the machines and writes the rows. Pure except for the turn's draft and ids
 * (doc 1, Rules of POST /clients 3 to 6).
 */
import type { Json } from "../../../../machines/shared/Json.ts"
import type { OnboardingResult } from "../../../../machines/client/ClientWire.ts"
import { type CaseReason, partnerReason } from "../../../../machines/compliance/Case.ts"
import type { ReceivedSections } from "../../../../machines/kyc/KycUpdateBody.ts"
import { personClaims } from "../../../../machines/kyc/personKey.ts"
import type { OnboardingBody } from "../../../../machines/kyc/OnboardingBody.ts"
import type { ScreeningResult } from "../../../../machines/screening/screen.ts"
import { clientUidOf } from "../../../../machines/shared/Ids.ts"
import { requirements } from "../../../../machines/verification/requirements.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { Instance } from "../../../effects/Instance.ts"
import type { ClientRow } from "../../../tables/client.ts"
import { shardOf } from "../../../store/shard.ts"
import type { ClientTurn } from "./clientDecisions.ts"
import type { PartnerView } from "../../partners/Directory.ts"
import { displayNameOf, type PersonSections } from "../kyc/sectionValues.ts"
import {
  openCase,
  writeGrant,
  writeReportingRecord,
  writeRevision,
  writeScreening,
  writeSections
} from "../kyc/kycDecisions.ts"
import { start } from "../../../effects/advance.ts"

/** The input of the turn, computed beforehand. */
export interface OnboardingPlan {
  readonly partner: PartnerView
  readonly request: OnboardingBody
  readonly clientId: number
  /** Keyed hashes of the person (A1-28). */
  readonly personKey: string
  readonly screened: ScreeningResult
  readonly listVersion: number
  readonly listVersions: Readonly<Record<string, string>>
  /** The reasons why compliance must review the client; empty: the grant succeeds. */
  readonly reasons: ReadonlyArray<CaseReason>
  /**
   * Another client that is the same person, or a client refused for good that may be the same person. Null: the search
   * found neither.
   */
  readonly duplicateOf: number | null
  /** Clients refused for good that may be the same person. */
  readonly refused: ReadonlyArray<number>
  readonly threshold: bigint
}

/**
 * The unique facts that a new client claims. Only the first client of a person claims the person; a duplicate goes to
 * review without that claim.
 */
export const onboardingClaims = ({
  partner,
  request,
  personKey,
  duplicateOf
}: OnboardingPlan): ReadonlyArray<string> => [
  `ref:${partner.row.id}:${request.partnerClientRef}`,
  `email:${request.email}`,
  ...(duplicateOf === null ? personClaims(personKey) : [])
]

export const onboardClient = (turn: Turn, plan: OnboardingPlan): OnboardingResult => {
  const { request, clientId, reasons } = plan
  const partnerId = plan.partner.row.id
  const uid = clientUidOf(plan.partner.row.uidPrefix, clientId)
  const kycPackageId = turn.nextId("package")
  const granted = reasons.length === 0
  const caseId = granted ? null : turn.nextId("case")
  const reason = reasons[0] === undefined ? null : partnerReason(reasons[0])
  const instance: Instance = {
    partnerId,
    clientId,
    clientUid: uid,
    partnerClientRef: request.partnerClientRef,
    endpoint: plan.partner.endpoint
  }
  const at: ClientTurn = { turn, instance, by: "PARTNER" }

  for (const name of onboardingClaims(plan)) turn.draft.claim(name, clientId)

  const kyc = request.received.kyc as ReceivedSections
  const sections = kyc as PersonSections & ReceivedSections
  const client = start(turn, "clients", {
    of: instance,
    input: { clientId },
    event: {
      type: "ONBOARD",
      at: turn.now,
      granted,
      reason,
      caseId,
      kycPackageId,
      mifidReady: false,
      appropriateness: null
    },
    columns: {
      id: clientId,
      partnerId,
      shard: shardOf(clientId),
      uid,
      partnerClientRef: request.partnerClientRef,
      email: request.email,
      displayName: displayNameOf(sections.personalInfo),
      categorization: "RETAIL",
      residencyCountry: request.residencyCountry,
      onboardingSource: "PARTNER_RELIANCE",
      personKey: plan.personKey,
      createdAt: turn.now
    }
  })
  const statuses = writeSections(at, client, kyc, request.received.identityCheck as Json)
  writePackage(at, client, kycPackageId, granted, request)
  const screeningRunId = writeScreening(at, client, "ONBOARDING", {
    ...plan.screened,
    listVersion: plan.listVersion,
    listVersions: plan.listVersions
  })
  writeReportingRecord(at, client, sections, 1)
  if (caseId !== null) {
    const { candidates } = plan.screened
    const { duplicateOf, refused } = plan
    openCase(at, client, { caseId, reasons, screeningRunId, candidates, duplicateOf, refused })
  }
  if (granted) writeGrant(at, client)
  return {
    clientId,
    clientUid: uid,
    partnerClientRef: request.partnerClientRef,
    verificationLevel: client.level,
    lifecycleState: client.state,
    status: granted ? "ACTIVE" : "PENDING_REVIEW",
    kycPackageId,
    requirements: requirements(statuses, client.level, false),
    review: caseId === null || reason === null ? null : { reason, caseId }
  }
}

/** Writes the KYC package with its first revision (rule 5; D2). */
const writePackage = (
  at: ClientTurn,
  client: ClientRow,
  id: number,
  granted: boolean,
  { received }: OnboardingBody
): void => {
  const { turn } = at
  start(turn, "kycPackages", {
    of: at.instance,
    input: { kycPackageId: id, revision: 1 },
    event: { type: "STORE", at: turn.now, granted },
    columns: { id, partnerId: client.partnerId, clientId: client.id, shard: client.shard, receivedAt: turn.now }
  })
  writeRevision(at, client, {
    packageId: id,
    revision: 1,
    payload: received.kyc as Json,
    attestation: received.attestation as Json
  })
}
