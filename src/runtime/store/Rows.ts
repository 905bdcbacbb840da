/**
 * The rows this service keeps, by name: ids and times are numbers (64-bit in the database, below 2^53 here), money is
 * bigint minor units, `json` is plain JSON, `sealed` values are plain here and encrypted in the database.
 */
export type { TableName, Tables } from "./Catalogue.ts"
export type { MachineRow } from "./Table.ts"
export type { AssessmentRow, AssessmentAttemptRow, QuestionnaireRow } from "./tables/appropriateness.ts"
export type { ClientRow, DecisionRow } from "./tables/client.ts"
export type { CollateralReportRow } from "./tables/collateral.ts"
export type { CaseRow } from "./tables/compliance.ts"
export type { DepositNoticeRow } from "./tables/deposit.ts"
export type { DocumentRow, DocumentContentRow } from "./tables/document.ts"
export type { AuditRow, SealRow, TimerRow, AnswerRow } from "./tables/engine.ts"
export type { PackageRow, RevisionRow, IdentitySessionRow } from "./tables/kyc.ts"
export type { LedgerTransactionRow, PostingRow, BalanceRow } from "./tables/ledger.ts"
export type { OperatorKeyRow, ApprovalRow } from "./tables/operator.ts"
export type { PartnerRow, CustodyChangeRow, RelianceRow, ApiKeyRow } from "./tables/partner.ts"
export type { ReconBreakRow } from "./tables/reconciliation.ts"
export type { ReportingRecordRow } from "./tables/reporting.ts"
export type {
  WatchEntryRow,
  WatchImportRow,
  ScreeningPassRow,
  ScreeningRunRow,
  DispositionRow
} from "./tables/screening.ts"
export type { SettlementItemRow, InterfirmRow, BulkPartRow } from "./tables/settlement.ts"
export type { BlockRow, BlockPayloadRow } from "./tables/verification.ts"
export type { EventRow, EndpointRow, DeliveryRow, NotificationRow } from "./tables/webhook.ts"
export type { WithdrawalRow } from "./tables/withdrawal.ts"
