/**
 * The rows this service keeps, one interface a table, in the shapes the code uses: ids and times are numbers
 * (64-bit in the database, below 2^53 here), money is bigint minor units, `json` is plain JSON, `sealed` values
 * are plain here and encrypted in the database. `Catalogue.ts` says how each maps to columns.
 */
import type { JsonObject } from "../../machines/Effects.ts"
import type { DepositNoticeRow } from "./depositTables.ts"
import type { DocumentContentRow, DocumentRow } from "./documentTables.ts"
import type { ScreeningPassRow, WatchEntryRow, WatchImportRow } from "./screeningTables.ts"
import type { BulkPartRow, InterfirmRow, SettlementItemRow } from "./settlementTables.ts"
import type {
  AssessmentAttemptRow,
  AssessmentRow,
  BlockPayloadRow,
  DispositionRow,
  IdentitySessionRow,
  PackageRow,
  QuestionnaireRow,
  ReportingRecordRow,
  RevisionRow,
  ScreeningRunRow
} from "./verificationTables.ts"

export type {
  AssessmentAttemptRow,
  AssessmentRow,
  BlockPayloadRow,
  DispositionRow,
  IdentitySessionRow,
  PackageRow,
  QuestionnaireRow,
  ReportingRecordRow,
  RevisionRow,
  ScreeningRunRow
} from "./verificationTables.ts"

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

/** A change of a partner's custody model: a fact, never changed (document 3, Changing the custody model). */
export interface CustodyChangeRow {
  /** A number of the ledger's transactions: those below it were booked before the change, those above it after. */
  readonly id: number
  readonly partnerId: number
  readonly before: "BROKER" | "PARTNER"
  readonly after: "BROKER" | "PARTNER"
  readonly collateralAsset: string
  readonly reason: string
  readonly changedBy: string
  readonly changedAt: number
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

export interface WithdrawalRow extends MachineRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly shard: number
  readonly currency: string
  /** Minor units, more than zero. */
  readonly amount: bigint
  /** Where to pay, as the partner sent it: personal data, so it is sealed and in no machine's context. */
  readonly destination: JsonObject | null
  readonly createdAt: number
  /** When it was paid; null before (A3-41: reports sum by it). */
  readonly paidAt: number | null
}

/** A reconciliation break; `partnerId` and `clientId` name its scope (A3-11). */
export interface ReconBreakRow extends MachineRow {
  readonly id: number
  readonly scope: "ALL" | "PARTNER" | "CLIENT"
  readonly partnerId: number | null
  readonly clientId: number | null
  readonly currency: string
  /** Signed; never zero. */
  readonly amount: bigint
  readonly openedAt: number
  readonly closedAt: number | null
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
}

/** The chain over the rows that never change, a link a batch (engine/seal). Each names the last row it holds. */
export interface SealRow {
  readonly number: number
  /** SHA-256, hex. */
  readonly hash: string
  readonly auditTo: number
  readonly decisionTo: number
  readonly transactionTo: number
  readonly postingTo: number
  readonly interfirmTo: number
  readonly custodyTo: number
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
  readonly custodyChanges: CustodyChangeRow
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
  readonly watchImports: WatchImportRow
  readonly screeningPasses: ScreeningPassRow
  readonly dispositions: DispositionRow
  readonly decisions: DecisionRow
  readonly cases: CaseRow
  readonly depositNotices: DepositNoticeRow
  readonly collateralReports: CollateralReportRow
  readonly settlementItems: SettlementItemRow
  readonly interfirmRecords: InterfirmRow
  readonly withdrawalRequests: WithdrawalRow
  readonly reconBreaks: ReconBreakRow
  readonly bulkReportParts: BulkPartRow
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
  readonly seals: SealRow
  readonly timers: TimerRow
  readonly answers: AnswerRow
  readonly approvals: ApprovalRow
}
export type TableName = keyof Tables
