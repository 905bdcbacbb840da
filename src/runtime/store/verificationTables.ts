/** Rows of verification: what partners sent, how it was judged and what compliance decided (document 1; D2, D3, D19). */
import type { Json, JsonObject } from "../../machines/Effects.ts"
import type { ScreeningOutcome } from "../../machines/screening/screen.ts"
import type { Columns } from "./documentTables.ts"
import type { MachineRow } from "./Rows.ts"

/** What was sent for a block, apart from its state: read only by compliance, never held in memory. */
export interface BlockPayloadRow {
  readonly clientId: number
  readonly code: string
  readonly partnerId: number
  readonly data: Json
}

/** The client's latest attempt at the appropriateness test. */
export interface AssessmentRow extends MachineRow {
  readonly clientId: number
  readonly partnerId: number
  readonly shard: number
}

/** One attempt with its answers: read only by compliance, never held in memory. */
export interface AssessmentAttemptRow {
  readonly clientId: number
  readonly attempt: number
  readonly partnerId: number
  /** Of the questionnaire. */
  readonly questionnaire: number
  readonly outcome: string
  readonly score: number
  readonly answers: Json
  readonly takenAt: number
}

/** A published version of the appropriateness questionnaire. */
export interface QuestionnaireRow {
  readonly version: number
  readonly content: JsonObject
  readonly publishedAt: number
}

export interface PackageRow extends MachineRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly shard: number
  readonly receivedAt: number
}

export interface RevisionRow {
  readonly packageId: number
  readonly revision: number
  readonly partnerId: number
  readonly clientId: number
  readonly payload: Json
  readonly attestation: Json
  readonly receivedAt: number
}

export interface IdentitySessionRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly provider: string
  readonly status: string
  readonly data: Json
  readonly createdAt: number
}

export interface ReportingRecordRow {
  readonly clientId: number
  readonly partnerId: number
  readonly fromRevision: number
  readonly complete: boolean
  readonly record: Json
  readonly builtAt: number
}

export interface ScreeningRunRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly trigger: string
  /** The pass that screened a stored client; null where something that came in was screened. */
  readonly passId: number | null
  readonly outcome: string
  /** Time of the last change of any list, Unix ms. */
  readonly listVersion: number
  /** Version of every imported list by its source. */
  readonly listVersions: Readonly<Record<string, string>>
  readonly candidates: Json
  readonly ranAt: number
}

/** One finding about an entry: what the client's identity was then, and how like the two were. Never changed. */
export interface DispositionRow {
  readonly clientId: number
  readonly entryId: number
  /** Of the findings about this entry, from 1. */
  readonly number: number
  readonly partnerId: number
  readonly disposition: "FALSE_POSITIVE" | "TRUE_MATCH"
  /** Keyed hash of names, birth date and citizenships; null when only the likeness is known. */
  readonly identityKey: string | null
  /** Null, like the score, in findings older than these columns. */
  readonly outcome: ScreeningOutcome | null
  /** Millionths. */
  readonly score: number | null
  readonly decidedAt: number
  readonly decidedBy: string
}

export const blockPayloadColumns: Columns<BlockPayloadRow> = {
  clientId: "id",
  code: "text",
  partnerId: "id",
  data: "sealed"
}

export const assessmentAttemptColumns: Columns<AssessmentAttemptRow> = {
  clientId: "id",
  attempt: "id",
  partnerId: "id",
  questionnaire: "id",
  outcome: "text",
  score: "id",
  answers: "sealed",
  takenAt: "id"
}

export const kycRevisionColumns: Columns<RevisionRow> = {
  packageId: "id",
  revision: "id",
  partnerId: "id",
  clientId: "id",
  payload: "sealed",
  attestation: "sealed",
  receivedAt: "id"
}

export const identitySessionColumns: Columns<IdentitySessionRow> = {
  id: "id",
  partnerId: "id",
  clientId: "id",
  provider: "text",
  status: "text",
  data: "sealed",
  createdAt: "id"
}

export const reportingRecordColumns: Columns<ReportingRecordRow> = {
  clientId: "id",
  partnerId: "id",
  fromRevision: "id",
  complete: "bool",
  record: "sealed",
  builtAt: "id"
}

export const screeningRunColumns: Columns<ScreeningRunRow> = {
  id: "id",
  partnerId: "id",
  clientId: "id",
  trigger: "text",
  passId: "id",
  outcome: "text",
  listVersion: "id",
  listVersions: "json",
  candidates: "json",
  ranAt: "id"
}

export const dispositionColumns: Columns<DispositionRow> = {
  clientId: "id",
  entryId: "id",
  number: "id",
  partnerId: "id",
  disposition: "text",
  identityKey: "text",
  outcome: "text",
  score: "id",
  decidedAt: "id",
  decidedBy: "text"
}
