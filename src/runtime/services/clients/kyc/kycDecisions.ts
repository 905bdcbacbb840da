/**
 * Writes the rows that POST /clients and PUT .../kyc have in common, inside the client's turn: blocks with their data,
 * the revision, the identity session, the screening run, the reporting record, cases and the grant. Pure except for the
 * turn's draft and ids (doc 1, Rules of POST /clients and PUT .../kyc 4 to 8; D2, D3).
 */
import type { Json } from "../../../../machines/shared/Json.ts"
import type { CaseReason } from "../../../../machines/compliance/Case.ts"
import type { ReceivedSections } from "../../../../machines/kyc/KycUpdateBody.ts"
import { kycSectionNames } from "../../../../machines/kyc/OnboardingBody.ts"
import { buildReportingRecord } from "../../../../machines/reporting/ReportingRecord.ts"
import type { ScreeningCandidate, ScreeningResult } from "../../../../machines/screening/screen.ts"
import type { PassTrigger } from "../../../../machines/screening/ScreeningPass.ts"
import type { BlockCode, BlockStatus } from "../../../../machines/verification/Blocks.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { RevisionRow } from "../../../tables/kyc.ts"
import { type ClientTurn, moveBlock, writeDecision } from "../client/clientDecisions.ts"
import { setExpiryTimer } from "../document/documentExpiry.ts"
import { documentExpiryOf, expirationOf, type PersonSections, reportingFacts } from "./sectionValues.ts"
import type { ScreenedAgain } from "../screening/rescreening.ts"
import type { SettingsShape } from "../../../Settings.ts"
import { start } from "../../../effects/advance.ts"

/** The block of each of six sections of the request body. The data of IDENTITY_CHECK come from identityCheck. */
export const sectionBlocks = {
  personalInfo: "PERSONAL_INFO",
  identification: "IDENTIFICATION",
  taxResidency: "TAX_RESIDENCY",
  fatca: "FATCA",
  pep: "PEP",
  declarationsMica: "DECLARATIONS_MICA"
} as const satisfies Record<string, BlockCode>

/**
 * The reasons why the automatic grant fails, the most important one first. The reason of a duplicate is added once a
 * claim reveals it (A1-28).
 */
export const reviewReasons = (
  declared: { readonly pep: boolean; readonly high: boolean },
  screened: ScreeningResult,
  settings: Pick<SettingsShape, "reviewDeclaredPep" | "reviewHighRating">
): ReadonlyArray<CaseReason> => [...screeningReasons(screened), ...declaredReasons(declared, settings)]

/** The reasons from a declared public function and from the partner's risk rating (A1-28). */
export const declaredReasons = (
  declared: { readonly pep: boolean; readonly high: boolean },
  settings: Pick<SettingsShape, "reviewDeclaredPep" | "reviewHighRating">
): ReadonlyArray<CaseReason> => [
  ...(settings.reviewDeclaredPep && declared.pep ? (["PEP_DECLARED"] as const) : []),
  ...(settings.reviewHighRating && declared.high ? (["HIGH_RISK_RATING"] as const) : [])
]

/** The reason for a case from the outcome of a screening: a hit or a possible match. Empty for a clear result. */
export const screeningReasons = ({ outcome }: ScreeningResult): ReadonlyArray<CaseReason> => {
  if (outcome === "HIT") return ["SCREENING_HIT"]
  return outcome === "POSSIBLE" ? ["SCREENING_POSSIBLE_MATCH"] : []
}

/**
 * Writes the blocks of the given sections, and IDENTITY_CHECK if there is an identity check. Each moves to SUBMITTED
 * and then to APPROVED, with the data as received and the timer of its document (D3). Returns the new statuses.
 */
export const writeSections = (
  at: ClientTurn,
  client: ClientRow,
  kyc: ReceivedSections,
  identityCheck: Json
): ReadonlyMap<BlockCode, BlockStatus> => {
  const statuses = new Map<BlockCode, BlockStatus>()
  const write = (code: BlockCode, data: Json): void => {
    statuses.set(code, moveBlock(at, client, code, { type: "PARTNER_WRITE", at: at.turn.now }))
    at.turn.draft.put("blockPayloads", { clientId: client.id, code, partnerId: client.partnerId, data })
  }
  for (const name of kycSectionNames) {
    const section = kyc[name]
    if (section !== undefined) write(sectionBlocks[name], section)
  }
  if (kyc.identification !== undefined) setExpiryTimer(at.turn, "IDENTIFICATION", expirationOf(kyc.identification))
  if (identityCheck !== null) {
    write("IDENTITY_CHECK", identityCheck)
    setExpiryTimer(at.turn, "IDENTITY_CHECK", documentExpiryOf(identityCheck))
    writeIdentitySession(at, client, identityCheck)
  }
  return statuses
}

/** Writes the session of an identity check, which counts as verified by provider "partner" (doc 1, identityCheck). */
const writeIdentitySession = ({ turn }: ClientTurn, client: ClientRow, data: Json): void =>
  turn.draft.put("identitySessions", {
    id: turn.nextId("session"),
    partnerId: client.partnerId,
    clientId: client.id,
    provider: "partner",
    status: "VERIFIED",
    data,
    createdAt: turn.now
  })

/** Stores the revision as received. It contains only the sections of its request (A1-32). */
export const writeRevision = (
  { turn }: ClientTurn,
  client: ClientRow,
  revision: Pick<RevisionRow, "packageId" | "revision" | "payload" | "attestation">
): void =>
  turn.draft.put("kycRevisions", {
    ...revision,
    partnerId: client.partnerId,
    clientId: client.id,
    receivedAt: turn.now
  })

/** Stores a screening run and returns its id. `passId`: the pass over stored clients that caused the run, if any. */
export const writeScreening = (
  { turn }: ClientTurn,
  client: ClientRow,
  trigger: "ONBOARDING" | "KYC_REVISION" | PassTrigger,
  { outcome, listVersion, listVersions, candidates }: ScreenedAgain,
  passId: number | null = null
): number => {
  const id = turn.nextId("screeningRun")
  turn.draft.put("screeningRuns", {
    id,
    partnerId: client.partnerId,
    clientId: client.id,
    trigger,
    passId,
    outcome,
    listVersion,
    listVersions,
    candidates,
    ranAt: turn.now
  })
  return id
}

/** Builds the transaction-reporting record from the sections after this revision (F27). */
export const writeReportingRecord = (
  { turn }: ClientTurn,
  client: ClientRow,
  sections: PersonSections,
  revision: number
): void => {
  const record = buildReportingRecord(reportingFacts(sections), turn.now, revision)
  turn.draft.put("reportingRecords", {
    clientId: client.id,
    partnerId: client.partnerId,
    fromRevision: revision,
    complete: record.complete,
    record,
    builtAt: turn.now
  })
}

/** The content of a case for compliance. */
export interface CaseFacts {
  readonly caseId: number
  /** At least one. The first becomes the reason of the case. */
  readonly reasons: ReadonlyArray<CaseReason>
  readonly screeningRunId: number | null
  readonly candidates: ReadonlyArray<ScreeningCandidate>
  /** Another client that is the same person, or null. */
  readonly duplicateOf: number | null
  /** Clients refused for good that may be the same person. */
  readonly refused?: ReadonlyArray<number>
}

/** Opens a case; the client machine decides whether it holds the client. */
export const openCase = (at: ClientTurn, client: ClientRow, facts: CaseFacts): void => {
  const { caseId, reasons, screeningRunId, candidates, duplicateOf, refused = [] } = facts
  const { turn } = at
  const reason = reasons[0] as CaseReason
  start(turn, "cases", {
    of: at.instance,
    input: { caseId, reason, openedAt: turn.now },
    columns: {
      id: caseId,
      partnerId: client.partnerId,
      clientId: client.id,
      shard: client.shard,
      reason,
      details: {
        reasons,
        screeningRunId,
        candidates,
        duplicateOf,
        ...(refused.length === 0 ? {} : { refused })
      },
      openedAt: turn.now
    }
  })
}

/** The decision row of a grant, in the specification's words (doc 1, Client lifecycle and level). */
export const writeGrant = (at: ClientTurn, client: ClientRow): void =>
  writeDecision({ ...at, by: "SYSTEM" }, client, "GRANT_MICA", "reliance onboarding")
