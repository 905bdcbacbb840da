/**
 * How every table maps to its columns: the one list that the journals, the loader, the row decoder and the
 * encryption rotation all walk. A column is named in camel case here and in snake case in the database.
 */
import { depositColumns, pendingNotices } from "./depositTables.ts"
import { contentColumns, documentColumns, liveDocuments } from "./documentTables.ts"
import { isOpenWithdrawal } from "../../machines/withdrawal/WithdrawalRequest.ts"
import type { TableName, Tables } from "./Rows.ts"
import { passColumns, presentImports, runningPasses, watchEntryColumns, watchImportColumns } from "./screeningTables.ts"
import { bulkPartColumns, interfirmColumns, settlementItemColumns } from "./settlementTables.ts"
import {
  assessmentAttemptColumns,
  blockPayloadColumns,
  dispositionColumns,
  identitySessionColumns,
  kycRevisionColumns,
  reportingRecordColumns,
  screeningRunColumns
} from "./verificationTables.ts"

/**
 * `id`: bigint as a number (ids, Unix ms) · `money`: bigint minor units · `text` · `bool` · `json`: jsonb ·
 * `sealed`: any JSON value, encrypted at rest (bytea) · `sealedText`: a string, encrypted at rest (bytea).
 */
export type ColumnType = "id" | "money" | "text" | "bool" | "json" | "sealed" | "sealedText"

/** Which mailbox holds the table's rows in memory, and the column that names the subject. */
export interface Residence {
  readonly subject: "client" | "partner" | "system"
  readonly column: string | null
  /** Only rows in this condition are held (SQL over the table, and the same test over a row). */
  readonly only?: { readonly sql: string; readonly test: (row: never) => boolean }
}

export interface TableSpec<T extends TableName = TableName> {
  readonly table: T
  readonly sqlName: string
  readonly key: ReadonlyArray<string>
  /** `upsert` replaces the row of the same key; `insert` is for rows that never change; `claim` loses to an existing key. */
  readonly mode: "upsert" | "insert" | "claim"
  readonly columns: ReadonlyArray<{ readonly name: string; readonly sqlName: string; readonly type: ColumnType }>
  readonly residence: Residence | null
}

export const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const machine = { state: "text", version: "text", context: "json" } as const

const table = <T extends TableName>(
  name: T,
  key: ReadonlyArray<keyof Tables[T] & string>,
  mode: "upsert" | "insert" | "claim",
  columns: { readonly [C in keyof Tables[T]]: ColumnType },
  residence: Residence | null = null
): TableSpec<T> => ({
  table: name,
  sqlName: snake(name),
  key,
  mode,
  columns: Object.entries<ColumnType>(columns).map(([column, type]) => ({
    name: column,
    sqlName: snake(column),
    type
  })),
  residence
})

const ofClient: Residence = { subject: "client", column: "clientId" }
const ofPartner: Residence = { subject: "partner", column: "partnerId" }
const ofSystem: Residence = { subject: "system", column: null }
const openRows = { sql: "state = 'OPEN'", test: (row: { readonly state: string }) => row.state === "OPEN" }

export const catalogue: { readonly [T in TableName]: TableSpec<T> } = {
  partners: table(
    "partners",
    ["id"],
    "upsert",
    {
      id: "id",
      ...machine,
      code: "text",
      name: "text",
      legalName: "text",
      country: "text",
      licence: "text",
      sandbox: "bool",
      custodyModel: "text",
      collateralAsset: "text",
      uidPrefix: "text",
      readPerMinute: "id",
      tradePerMinute: "id",
      allowedCidrs: "json",
      epoch: "id",
      createdAt: "id"
    },
    { subject: "partner", column: "id" }
  ),
  custodyChanges: table("custodyChanges", ["id"], "insert", {
    id: "id",
    partnerId: "id",
    before: "text",
    after: "text",
    collateralAsset: "text",
    reason: "text",
    changedBy: "text",
    changedAt: "id"
  }),
  reliances: table("reliances", ["partnerId"], "upsert", { partnerId: "id", ...machine }, ofPartner),
  apiKeys: table(
    "apiKeys",
    ["id"],
    "upsert",
    {
      id: "id",
      partnerId: "id",
      ...machine,
      hash: "text",
      prefix: "text",
      label: "text",
      scope: "text",
      createdAt: "id"
    },
    ofPartner
  ),
  operatorKeys: table(
    "operatorKeys",
    ["id"],
    "upsert",
    { id: "id", ...machine, hash: "text", prefix: "text", label: "text", role: "text", createdAt: "id" },
    ofSystem
  ),
  clients: table(
    "clients",
    ["id"],
    "upsert",
    {
      id: "id",
      partnerId: "id",
      shard: "id",
      ...machine,
      uid: "text",
      partnerClientRef: "text",
      email: "text",
      displayName: "text",
      level: "text",
      categorization: "text",
      residencyCountry: "text",
      onboardingSource: "text",
      personKey: "text",
      createdAt: "id"
    },
    { subject: "client", column: "id" }
  ),
  verificationBlocks: table(
    "verificationBlocks",
    ["clientId", "code"],
    "upsert",
    { clientId: "id", code: "text", partnerId: "id", shard: "id", ...machine },
    ofClient
  ),
  blockPayloads: table("blockPayloads", ["clientId", "code"], "upsert", blockPayloadColumns),
  assessments: table(
    "assessments",
    ["clientId"],
    "upsert",
    { clientId: "id", partnerId: "id", shard: "id", ...machine },
    ofClient
  ),
  assessmentAttempts: table("assessmentAttempts", ["clientId", "attempt"], "insert", assessmentAttemptColumns),
  questionnaires: table(
    "questionnaires",
    ["version"],
    "insert",
    { version: "id", content: "json", publishedAt: "id" },
    ofSystem
  ),
  kycPackages: table(
    "kycPackages",
    ["id"],
    "upsert",
    { id: "id", partnerId: "id", clientId: "id", shard: "id", ...machine, receivedAt: "id" },
    ofClient
  ),
  kycRevisions: table("kycRevisions", ["packageId", "revision"], "insert", kycRevisionColumns),
  identitySessions: table("identitySessions", ["id"], "insert", identitySessionColumns),
  reportingRecords: table("reportingRecords", ["clientId"], "upsert", reportingRecordColumns),
  screeningRuns: table("screeningRuns", ["id"], "insert", screeningRunColumns),
  watchEntries: table("watchEntries", ["id"], "upsert", watchEntryColumns),
  watchImports: table("watchImports", ["id"], "upsert", watchImportColumns, { ...ofSystem, only: presentImports }),
  screeningPasses: table("screeningPasses", ["id"], "upsert", passColumns, { ...ofSystem, only: runningPasses }),
  dispositions: table("dispositions", ["clientId", "entryId", "number"], "insert", dispositionColumns, ofClient),
  decisions: table("decisions", ["id"], "insert", {
    id: "id",
    partnerId: "id",
    clientId: "id",
    decision: "text",
    reason: "text",
    decidedBy: "text",
    decidedAt: "id"
  }),
  cases: table(
    "cases",
    ["id"],
    "upsert",
    {
      id: "id",
      partnerId: "id",
      clientId: "id",
      shard: "id",
      ...machine,
      reason: "text",
      details: "json",
      openedAt: "id",
      closedAt: "id"
    },
    { ...ofClient, only: openRows }
  ),
  depositNotices: table("depositNotices", ["id"], "upsert", depositColumns, { ...ofClient, only: pendingNotices }),
  collateralReports: table("collateralReports", ["id"], "insert", {
    id: "id",
    partnerId: "id",
    clientId: "id",
    shard: "id",
    ...machine,
    createdAt: "id"
  }),
  withdrawalRequests: table(
    "withdrawalRequests",
    ["id"],
    "upsert",
    {
      id: "id",
      partnerId: "id",
      clientId: "id",
      shard: "id",
      ...machine,
      currency: "text",
      amount: "money",
      destination: "sealed",
      createdAt: "id",
      paidAt: "id"
    },
    {
      ...ofClient,
      only: {
        sql: "state IN ('REQUESTED', 'APPROVED')",
        test: (row: { readonly state: string }) => isOpenWithdrawal(row.state)
      }
    }
  ),
  reconBreaks: table(
    "reconBreaks",
    ["id"],
    "upsert",
    {
      id: "id",
      ...machine,
      scope: "text",
      partnerId: "id",
      clientId: "id",
      currency: "text",
      amount: "money",
      openedAt: "id",
      closedAt: "id"
    },
    { ...ofSystem, only: openRows }
  ),
  settlementItems: table("settlementItems", ["id"], "upsert", settlementItemColumns),
  interfirmRecords: table("interfirmRecords", ["id"], "insert", interfirmColumns),
  bulkReportParts: table("bulkReportParts", ["partnerId", "key", "clientId"], "upsert", bulkPartColumns),
  documents: table("documents", ["id"], "upsert", documentColumns, { ...ofClient, only: liveDocuments }),
  documentContents: table("documentContents", ["documentId"], "upsert", contentColumns),
  ledgerTransactions: table("ledgerTransactions", ["txId"], "insert", {
    txId: "id",
    key: "text",
    type: "text",
    actor: "text",
    reason: "text",
    clientId: "id",
    partnerId: "id",
    refs: "json",
    ts: "id"
  }),
  postings: table("postings", ["postingId"], "insert", {
    postingId: "id",
    txId: "id",
    account: "text",
    clientId: "id",
    partnerId: "id",
    currency: "text",
    kind: "text",
    amount: "money"
  }),
  balances: table(
    "balances",
    ["clientId", "currency"],
    "upsert",
    { clientId: "id", currency: "text", partnerId: "id", cash: "money", reserved: "money", deposited: "money" },
    ofClient
  ),
  events: table("events", ["partnerId", "seq"], "insert", {
    partnerId: "id",
    seq: "id",
    name: "text",
    clientId: "id",
    data: "json",
    ts: "id"
  }),
  webhookEndpoints: table(
    "webhookEndpoints",
    ["partnerId"],
    "upsert",
    { partnerId: "id", ...machine, url: "text", secret: "sealedText", createdAt: "id", updatedAt: "id" },
    ofPartner
  ),
  webhookDeliveries: table("webhookDeliveries", ["id"], "upsert", {
    id: "id",
    partnerId: "id",
    clientId: "id",
    event: "text",
    ...machine,
    body: "text",
    ts: "id",
    nextAt: "id",
    claimToken: "text",
    claimedAt: "id"
  }),
  notifications: table("notifications", ["id"], "insert", {
    id: "id",
    partnerId: "id",
    clientId: "id",
    kind: "text",
    ref: "text",
    ts: "id",
    writtenAt: "id"
  }),
  audit: table("audit", ["id"], "insert", {
    id: "id",
    ts: "id",
    role: "text",
    keyLabel: "text",
    requestId: "text",
    partnerId: "id",
    clientId: "id",
    object: "text",
    action: "text",
    before: "text",
    after: "text",
    reason: "text"
  }),
  seals: table("seals", ["number"], "insert", {
    number: "id",
    hash: "text",
    auditTo: "id",
    decisionTo: "id",
    transactionTo: "id",
    postingTo: "id",
    interfirmTo: "id",
    custodyTo: "id"
  }),
  timers: table("timers", ["subject", "name"], "upsert", { subject: "text", name: "text", dueAt: "id" }),
  answers: table("answers", ["partnerId", "key"], "claim", {
    partnerId: "id",
    key: "text",
    fingerprint: "text",
    status: "id",
    body: "sealedText",
    answeredAt: "id"
  }),
  approvals: table(
    "approvals",
    ["id"],
    "upsert",
    {
      id: "id",
      ...machine,
      command: "text",
      args: "json",
      requestedBy: "id",
      requestedAt: "id"
    },
    {
      ...ofSystem,
      only: { sql: "state = 'PENDING'", test: (row: { readonly state: string }) => row.state === "PENDING" }
    }
  )
}

export const tableNames = Object.keys(catalogue) as ReadonlyArray<TableName>

/** The value that identifies a row inside its table, for maps. Keys have one or two columns. */
export const keyOf = (table: TableName, row: object): string => {
  const [first, second] = catalogue[table].key as readonly [string, string?]
  const values = row as Record<string, unknown>
  return second === undefined ? String(values[first]) : `${values[first]}\u0000${values[second]}`
}
