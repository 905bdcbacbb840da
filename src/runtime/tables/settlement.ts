/** Settlement items, bulk reports under way and payments between the firms (doc 3, Settlement item; D12). */
import type { PlacedRow } from "../../machines/settlement/BulkReportBody.ts"
import { type MachineRow, machineColumns, table } from "./Table.ts"

export interface SettlementItemRow extends MachineRow<"settlementItem"> {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly shard: number
  readonly type: string
  readonly currency: string
  /** The item's amount in minor units, signed from the client's view; never zero. */
  readonly amount: bigint
  readonly txId: number
  readonly occurredAt: number
}

/** A payment between the firms (doc 3, Interfirm settlement record): a fact, never changed. */
export interface InterfirmRow {
  readonly id: number
  readonly partnerId: number
  readonly currency: string
  readonly periodFrom: number
  readonly periodTo: number
  /** The paid amount in minor units: positive if the service paid the partner, negative if the partner paid; never zero. */
  readonly amount: bigint
  readonly txRef: string
  readonly note: string | null
  readonly recordedBy: string
  readonly recordedAt: number
}

/** The results of a keyed bulk report for one client: kept until its whole answer is no longer replayed (A1-53). */
export interface BulkPartRow {
  readonly partnerId: number
  readonly key: string
  readonly clientId: number
  readonly fingerprint: string
  /** Pairs of the entry's position in the request and its row of the answer. */
  readonly results: ReadonlyArray<PlacedRow>
  readonly decidedAt: number
}

export const settlementTables = {
  settlementItems: table<SettlementItemRow>()({
    title: "settlement item",
    machine: "settlementItem",
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      partnerId: "id",
      clientId: "id",
      shard: "id",
      ...machineColumns,
      type: "text",
      currency: "text",
      amount: "money",
      txId: "id",
      occurredAt: "id"
    },
    unique: [["txId", "type"]],
    check: (row) => row.amount !== 0n,
    open: {
      states: ["PENDING", "FAILED"],
      ofClient: "Settlement items are not settled",
      ofPartner: "Settlement items are not settled",
      one: "item",
      clear: () => "POST /settlement/items/{itemId}/report with status SETTLED"
    },
    // An item only records a posting that has already changed the cash, so no money is still to return.
    returns: null,
    id: ["settlementItem", "hot"]
  }),
  interfirmRecords: table<InterfirmRow>()({
    title: "interfirm record",
    machine: null,
    key: ["id"],
    mode: "insert",
    columns: {
      id: "id",
      partnerId: "id",
      currency: "text",
      periodFrom: "id",
      periodTo: "id",
      amount: "money",
      txRef: "text",
      note: "text?",
      recordedBy: "text",
      recordedAt: "id"
    },
    unique: [["partnerId", "txRef"]],
    check: (row) => row.amount !== 0n && row.periodFrom >= 0 && row.periodFrom <= row.periodTo,
    id: ["interfirm", "rare"]
  }),
  bulkReportParts: table<BulkPartRow>()({
    title: "part of a bulk report",
    machine: null,
    key: ["partnerId", "key", "clientId"],
    mode: "upsert",
    columns: {
      partnerId: "id",
      key: "text",
      clientId: "id",
      fingerprint: "text",
      results: "json",
      decidedAt: "id"
    }
  })
}
