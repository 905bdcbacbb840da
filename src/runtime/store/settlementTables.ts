/** Rows of settlement items, bulk reports under way and payments between the firms (document 3, Settlement item). */
import type { Json } from "../../machines/Effects.ts"
import type { Columns } from "./documentTables.ts"
import type { MachineRow } from "./Rows.ts"

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

/** What the firms have paid each other (doc 3, Interfirm settlement record): a fact, never changed. */
export interface InterfirmRow {
  readonly id: number
  readonly partnerId: number
  readonly currency: string
  readonly periodFrom: number
  readonly periodTo: number
  /** Positive: paid to the partner; never zero. */
  readonly amount: bigint
  readonly txRef: string
  readonly note: string | null
  readonly recordedBy: string
  readonly recordedAt: number
}

/** What a keyed bulk report has come to for one client: kept until its whole answer is no longer replayed (A1-53). */
export interface BulkPartRow {
  readonly partnerId: number
  readonly key: string
  readonly clientId: number
  readonly fingerprint: string
  /** Pairs of the entry's place in the request and its row of the answer. */
  readonly results: ReadonlyArray<Json>
  readonly decidedAt: number
}

export const settlementItemColumns: Columns<SettlementItemRow> = {
  id: "id",
  partnerId: "id",
  clientId: "id",
  shard: "id",
  state: "text",
  version: "text",
  context: "json",
  type: "text",
  currency: "text",
  amount: "money",
  txId: "id",
  occurredAt: "id"
}

export const interfirmColumns: Columns<InterfirmRow> = {
  id: "id",
  partnerId: "id",
  currency: "text",
  periodFrom: "id",
  periodTo: "id",
  amount: "money",
  txRef: "text",
  note: "text",
  recordedBy: "text",
  recordedAt: "id"
}

export const bulkPartColumns: Columns<BulkPartRow> = {
  partnerId: "id",
  key: "text",
  clientId: "id",
  fingerprint: "text",
  results: "json",
  decidedAt: "id"
}
