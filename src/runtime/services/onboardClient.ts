/**
 * The turn that creates a client: machines decide, rows follow. Pure apart from the turn's draft and ids
 * (document 1, Rules of POST /clients 3 to 6).
 */
import type { Json, JsonObject } from "../../machines/Effects.ts"
import type { ClientContext, LifecycleState } from "../../machines/client/Client.ts"
import { clientMachine } from "../../machines/client/clientMachine.ts"
import type { OnboardingResult } from "../../machines/client/ClientWire.ts"
import { type CaseReason, partnerReason } from "../../machines/compliance/Case.ts"
import { caseMachine } from "../../machines/compliance/caseMachine.ts"
import { kycMachine } from "../../machines/kyc/kycMachine.ts"
import type { OnboardingRequest } from "../../machines/kyc/OnboardingRequest.ts"
import { buildReportingRecord } from "../../machines/reporting/ReportingRecord.ts"
import type { ScreeningResult } from "../../machines/screening/screen.ts"
import { clientUidOf } from "../../machines/shared/Ids.ts"
import { blockMachine } from "../../machines/verification/blockMachine.ts"
import { type BlockCode, type BlockStatus, micaBlockCodes } from "../../machines/verification/Blocks.ts"
import { requirements } from "../../machines/verification/requirements.ts"
import type { Turn } from "../engine/ActorHost.ts"
import { begin, create, step, versionOf } from "../engine/decide.ts"
import { applyEffects, type Instance } from "../engine/Interpreter.ts"
import { setExpiryTimers } from "./documentExpiry.ts"
import type { PartnerView } from "./Directory.ts"
import { shardOf } from "../store/shard.ts"

/** Everything the turn needs, worked out before it. */
export interface OnboardingPlan {
  readonly partner: PartnerView
  readonly request: OnboardingRequest
  readonly clientId: number
  /** Keyed hash of the person (A1-28). */
  readonly personKey: string
  readonly screened: ScreeningResult
  readonly listVersion: number
  /** Why compliance must look; empty: the grant succeeds. */
  readonly reasons: ReadonlyArray<CaseReason>
  /** The client that is the same person, once a first attempt has found it. */
  readonly duplicateOf: number | null
  readonly threshold: bigint
}

/**
 * The unique facts a new client claims. The first client of a person holds that claim; a duplicate goes to review
 * without it.
 */
export const onboardingClaims = ({
  partner,
  request,
  personKey,
  duplicateOf
}: OnboardingPlan): ReadonlyArray<string> => [
  `ref:${partner.row.id}:${request.partnerClientRef}`,
  `email:${request.email}`,
  ...(duplicateOf === null ? [`person:${personKey}`] : [])
]

/** Body key and block of the six sections; IDENTITY_CHECK comes from identityCheck. */
const sectionBlocks = {
  personalInfo: "PERSONAL_INFO",
  identification: "IDENTIFICATION",
  taxResidency: "TAX_RESIDENCY",
  fatca: "FATCA",
  pep: "PEP",
  declarationsMica: "DECLARATIONS_MICA"
} as const satisfies Record<string, BlockCode>

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
  const owner = { partnerId, clientId, shard: shardOf(clientId) }

  for (const name of onboardingClaims(plan)) turn.draft.claim(name, clientId)

  const client = create(
    clientMachine,
    { clientId },
    { type: "ONBOARD", at: turn.now, granted, reason, caseId, kycPackageId, mifidReady: false, appropriateness: null }
  )
  const context = client.context as ClientContext
  applyEffects(turn, { ...instance, object: `client:${clientId}` }, client.effects)
  turn.draft.put("clients", {
    id: clientId,
    ...owner,
    partnerId,
    state: client.state,
    version: versionOf("client"),
    context: context as unknown as JsonObject,
    uid,
    partnerClientRef: request.partnerClientRef,
    email: request.email,
    displayName: displayNameOf(request),
    level: context.level,
    categorization: "RETAIL",
    residencyCountry: request.residencyCountry,
    onboardingSource: "PARTNER_RELIANCE",
    personKey: plan.personKey,
    createdAt: turn.now
  } as never)
  const statuses = writeBlocks(turn, instance, owner, request)
  writePackage(turn, instance, owner, kycPackageId, granted, request)
  writeChecks(turn, instance, owner, plan, caseId)
  setExpiryTimers(turn, request.kyc.identification.expiration_date, request.identityCheck.documentExpiry ?? null)
  if (granted) {
    turn.draft.put("decisions", {
      id: turn.nextId("decision"),
      partnerId,
      clientId,
      decision: "GRANT_MICA",
      reason: "reliance onboarding",
      decidedBy: "SYSTEM",
      decidedAt: turn.now
    })
  }
  return {
    clientId,
    clientUid: uid,
    partnerClientRef: request.partnerClientRef,
    verificationLevel: context.level,
    lifecycleState: client.state as LifecycleState,
    status: granted ? "ACTIVE" : "PENDING_REVIEW",
    kycPackageId,
    requirements: requirements(statuses, context.level, false),
    review: caseId === null || reason === null ? null : { reason, caseId }
  }
}

interface Owner {
  readonly partnerId: number
  readonly clientId: number
  readonly shard: number
}

/** First, middle and last name joined by one space, NFC (A1-10). */
const displayNameOf = ({ kyc: { personalInfo } }: OnboardingRequest): string =>
  [personalInfo.first_name, personalInfo.middle_name, personalInfo.last_name].filter(Boolean).join(" ").normalize("NFC")

/** The six MiCA blocks and IDENTITY_CHECK, written SUBMITTED then APPROVED with the data as received. */
const writeBlocks = (
  turn: Turn,
  instance: Instance,
  owner: Owner,
  request: OnboardingRequest
): ReadonlyMap<BlockCode, BlockStatus> => {
  const payloads = new Map<BlockCode, unknown>(
    Object.entries(sectionBlocks).map(([section, code]) => [code, request.received.kyc[section]])
  )
  payloads.set("IDENTITY_CHECK", request.received.identityCheck)
  const statuses = new Map<BlockCode, BlockStatus>()
  for (const code of micaBlockCodes) {
    const block = step(blockMachine, begin(blockMachine, { code }), { type: "PARTNER_WRITE", at: turn.now })
    applyEffects(turn, { ...instance, object: `verificationBlock:${owner.clientId}:${code}` }, block.effects)
    turn.draft.put("verificationBlocks", {
      code,
      ...owner,
      state: block.state,
      version: versionOf("verificationBlock"),
      context: block.context as unknown as JsonObject
    })
    turn.draft.put("blockPayloads", {
      clientId: owner.clientId,
      code,
      partnerId: owner.partnerId,
      data: payloads.get(code) as Json
    })
    statuses.set(code, block.state as BlockStatus)
  }
  return statuses
}

const writePackage = (
  turn: Turn,
  instance: Instance,
  owner: Owner,
  id: number,
  granted: boolean,
  request: OnboardingRequest
): void => {
  const kyc = create(kycMachine, { kycPackageId: id, revision: 1 }, { type: "STORE", at: turn.now, granted })
  applyEffects(turn, { ...instance, object: `kycPackage:${id}` }, kyc.effects)
  turn.draft.put("kycPackages", {
    id,
    ...owner,
    state: kyc.state,
    version: versionOf("kycPackage"),
    context: kyc.context as unknown as JsonObject,
    receivedAt: turn.now
  })
  turn.draft.put("kycRevisions", {
    packageId: id,
    revision: 1,
    partnerId: owner.partnerId,
    clientId: owner.clientId,
    payload: request.received.kyc as Json,
    attestation: request.received.attestation as Json,
    receivedAt: turn.now
  })
}

/** Screening run, identity session, reporting record and, when compliance must look, the case. */
const writeChecks = (
  turn: Turn,
  instance: Instance,
  owner: Owner,
  plan: OnboardingPlan,
  caseId: number | null
): void => {
  const { partnerId, clientId } = owner
  const { request, screened } = plan
  const runId = turn.nextId("screeningRun")
  turn.draft.put("screeningRuns", {
    id: runId,
    partnerId,
    clientId,
    trigger: "ONBOARDING",
    outcome: screened.outcome,
    listVersion: plan.listVersion,
    candidates: screened.candidates as unknown as Json,
    ranAt: turn.now
  })
  turn.draft.put("identitySessions", {
    id: turn.nextId("session"),
    partnerId,
    clientId,
    provider: "partner",
    status: "VERIFIED",
    data: request.received.identityCheck as Json,
    createdAt: turn.now
  })
  const { personalInfo, identification, taxResidency } = request.kyc
  const record = buildReportingRecord(
    {
      citizenships: personalInfo.citizenships,
      firstName: personalInfo.first_name,
      middleName: personalInfo.middle_name ?? null,
      lastName: personalInfo.last_name,
      dateOfBirth: personalInfo.date_of_birth,
      identification,
      taxResidencies: taxResidency.tax_residencies.map(({ country, tin }) => ({ country, tin: tin ?? null }))
    },
    turn.now,
    1
  )
  turn.draft.put("reportingRecords", {
    clientId,
    partnerId,
    fromRevision: 1,
    complete: record.complete,
    record: record as unknown as Json,
    builtAt: turn.now
  })
  if (caseId === null) return
  const reason = plan.reasons[0] as CaseReason
  const opened = begin(caseMachine, { caseId, reason, openedAt: turn.now })
  applyEffects(turn, { ...instance, object: `case:${caseId}` }, opened.effects)
  turn.draft.put("cases", {
    id: caseId,
    ...owner,
    state: opened.state,
    version: versionOf("case"),
    context: opened.context as unknown as JsonObject,
    reason,
    details: {
      reasons: plan.reasons,
      screeningRunId: runId,
      candidates: screened.candidates as unknown as Json,
      duplicateOf: plan.duplicateOf
    },
    openedAt: turn.now,
    closedAt: null
  })
}
