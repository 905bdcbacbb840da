/**
 * The rows this service keeps, one interface a table, in the shapes the code uses: ids and times are numbers
 * (64-bit in the database, below 2^53 here), money is bigint minor units, `json` is plain JSON, `sealed` values
 * are plain here and encrypted in the database. `Catalogue.ts` says how each maps to columns.
 */
import type { Json, JsonObject } from "../../machines/Effects.ts"
import type { DocumentContentRow, DocumentRow } from "./documentTables.ts"

/** What every machine-backed row carries: its state, machine version and JSON context. */
export interface MachineRow {
  readonly state: string
  readonly version: string
  readonly context: JsonObject
}

export interface PartnerRow extends MachineRow {
  readonly id: number
  readonly code: string
  readonly name: string
  readonly legalName: string
  readonly country: string
  readonly licence: string
  readonly sandbox: boolean
  readonly custodyModel: "BROKER" | "PARTNER"
  readonly collateralAsset: string
  readonly uidPrefix: string
  readonly readPerMinute: number
  readonly tradePerMinute: number
  readonly allowedCidrs: ReadonlyArray<string>
  /** Raised by every partner commit that clients' decisions rest on; commits computed under an older one are refused. */
  readonly epoch: number
  readonly createdAt: number
}

export interface RelianceRow extends MachineRow {
  readonly partnerId: number
}

export interface ApiKeyRow extends MachineRow {
  readonly id: number
  readonly partnerId: number
  readonly hash: string
  readonly prefix: string
  readonly label: string
  readonly scope: "READ" | "TRADE"
  readonly createdAt: number
}

export interface OperatorKeyRow extends MachineRow {
  readonly id: number
  readonly hash: string
  readonly prefix: string
  readonly label: string
  readonly role: "ADMIN" | "FINANCE" | "COMPLIANCE" | "SUPPORT"
  readonly createdAt: number
}

export interface ClientRow extends MachineRow {
  readonly id: number
  readonly partnerId: number
  readonly shard: number
  readonly uid: string
  readonly partnerClientRef: string
  readonly email: string
  readonly displayName: string
  readonly level: "NONE" | "MICA" | "MICA_MIFID"
  readonly categorization: "RETAIL" | "PROFESSIONAL"
  readonly residencyCountry: string
  readonly onboardingSource: string
  /** Keyed hash of names, birth date and document number: finds the same person again without storing them readably. */
  readonly personKey: string
  readonly createdAt: number
}

export interface BlockRow extends MachineRow {
  readonly clientId: number
  readonly code: string
  readonly partnerId: number
  readonly shard: number
}

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
  readonly outcome: string
  readonly listVersion: number
  readonly candidates: Json
  readonly ranAt: number
}

export interface WatchEntryRow {
  readonly id: number
  readonly list: "SANCTIONS" | "PEP"
  readonly name: string
  readonly dob: string | null
  readonly country: string | null
  readonly source: string
  readonly addedAt: number
  readonly removedAt: number | null
}

export interface DispositionRow {
  readonly clientId: number
  readonly entryId: number
  readonly partnerId: number
  readonly disposition: "FALSE_POSITIVE" | "TRUE_MATCH"
  readonly decidedAt: number
  readonly decidedBy: string
}

export interface DecisionRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly decision: string
  readonly reason: string
  readonly decidedBy: string
  readonly decidedAt: number
}

export interface CaseRow extends MachineRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly shard: number
  readonly reason: string
  /** What compliance needs to decide: candidates, run ids, the duplicate's client id. Never KYC payloads. */
  readonly details: JsonObject
  readonly openedAt: number
  readonly closedAt: number | null
}

export interface CollateralReportRow extends MachineRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly shard: number
  readonly createdAt: number
}

export interface LedgerTransactionRow {
  readonly txId: number
  readonly key: string
  readonly type: string
  readonly actor: string
  readonly reason: string | null
  readonly clientId: number | null
  readonly partnerId: number
  readonly refs: JsonObject
  readonly ts: number
}

export interface PostingRow {
  readonly postingId: number
  readonly txId: number
  readonly account: string
  readonly clientId: number | null
  readonly partnerId: number
  readonly currency: string
  readonly kind: "cash" | "reserved"
  readonly amount: bigint
}

export interface BalanceRow {
  readonly clientId: number
  readonly currency: string
  readonly partnerId: number
  readonly cash: bigint
  readonly reserved: bigint
  /** Lifetime deposits valued in USDC minor units when booked (F25). */
  readonly deposited: bigint
}

export interface SettlementItemRow extends MachineRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly shard: number
  readonly type: string
  readonly currency: string
  /** Signed from the client's view; never zero. */
  readonly amount: bigint
  readonly txId: number
  readonly occurredAt: number
}

export interface EventRow {
  readonly partnerId: number
  /** Gap-free per partner, in commit order; given when the batch is written. */
  readonly seq: number
  readonly name: string
  readonly clientId: number | null
  readonly data: JsonObject
  readonly ts: number
}

export interface EndpointRow extends MachineRow {
  readonly partnerId: number
  readonly url: string
  readonly secret: string
  readonly createdAt: number
  readonly updatedAt: number
}

export interface DeliveryRow extends MachineRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number | null
  readonly event: string
  readonly body: string
  readonly ts: number
  /** When the next attempt is due; in SENT and FAILED when the delivery ended (retention counts from it). */
  readonly nextAt: number
  /** Who is trying it now, and since when (business time): written by the delivery workers alone. */
  readonly claimToken: string | null
  readonly claimedAt: number | null
}

export interface NotificationRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly kind: string
  readonly ref: string
  readonly ts: number
  readonly writtenAt: number
}

export interface AuditRow {
  readonly id: number
  readonly ts: number
  readonly role: string
  readonly keyLabel: string
  readonly requestId: string
  readonly partnerId: number | null
  readonly clientId: number | null
  /** What the action was done to, as kind:id; null when it is no single object. */
  readonly object: string | null
  readonly action: string
  readonly before: string | null
  readonly after: string | null
  readonly reason: string | null
  /** SHA-256 over the previous row's hash and this row; given when the batch is written. */
  readonly hash: string
}

export interface TimerRow {
  readonly subject: string
  readonly name: string
  readonly dueAt: number
}

export interface AnswerRow {
  readonly partnerId: number
  readonly key: string
  /** SHA-256 of method, path and canonical body: the same key with another one is a conflict. */
  readonly fingerprint: string
  readonly status: number
  readonly body: string
  readonly answeredAt: number
}

export interface ApprovalRow extends MachineRow {
  readonly id: number
  readonly command: string
  readonly args: JsonObject
  readonly requestedBy: number
  readonly requestedAt: number
}

export interface Tables {
  readonly partners: PartnerRow
  readonly reliances: RelianceRow
  readonly apiKeys: ApiKeyRow
  readonly operatorKeys: OperatorKeyRow
  readonly clients: ClientRow
  readonly verificationBlocks: BlockRow
  readonly blockPayloads: BlockPayloadRow
  readonly assessments: AssessmentRow
  readonly assessmentAttempts: AssessmentAttemptRow
  readonly questionnaires: QuestionnaireRow
  readonly kycPackages: PackageRow
  readonly kycRevisions: RevisionRow
  readonly identitySessions: IdentitySessionRow
  readonly reportingRecords: ReportingRecordRow
  readonly screeningRuns: ScreeningRunRow
  readonly watchEntries: WatchEntryRow
  readonly dispositions: DispositionRow
  readonly decisions: DecisionRow
  readonly cases: CaseRow
  readonly collateralReports: CollateralReportRow
  readonly settlementItems: SettlementItemRow
  readonly documents: DocumentRow
  readonly documentContents: DocumentContentRow
  readonly ledgerTransactions: LedgerTransactionRow
  readonly postings: PostingRow
  readonly balances: BalanceRow
  readonly events: EventRow
  readonly webhookEndpoints: EndpointRow
  readonly webhookDeliveries: DeliveryRow
  readonly notifications: NotificationRow
  readonly audit: AuditRow
  readonly timers: TimerRow
  readonly answers: AnswerRow
  readonly approvals: ApprovalRow
}
export type TableName = keyof Tables
