/** A partner firm: its settings, custody changes, reliance and keys (doc 1, Partner status; doc 3, Custody models). */
import { type MachineRow, machineColumns, ofPartner, table } from "./Table.ts"

export interface PartnerRow extends MachineRow<"partner"> {
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
  /** Raised by every partner commit that decisions on clients depend on; commits decided under an older epoch are refused. */
  readonly epoch: number
  readonly createdAt: number
}

/** A change of a partner's custody model: a fact, never changed (doc 3, Changing the custody model). */
export interface CustodyChangeRow {
  /** A transaction number of the ledger: lower numbers were booked before the change, higher ones after. */
  readonly id: number
  readonly partnerId: number
  readonly before: "BROKER" | "PARTNER"
  readonly after: "BROKER" | "PARTNER"
  readonly collateralAsset: string
  readonly reason: string
  readonly changedBy: string
  readonly changedAt: number
}

export interface RelianceRow extends MachineRow<"reliance"> {
  readonly partnerId: number
}

export interface ApiKeyRow extends MachineRow<"apiKey"> {
  readonly id: number
  readonly partnerId: number
  readonly hash: string
  readonly prefix: string
  readonly label: string
  readonly scope: "READ" | "TRADE"
  readonly createdAt: number
}

const maxRate = 1_000_000_000
const isRate = (rate: number): boolean => rate >= 1 && rate <= maxRate
const isModel = (model: string): boolean => model === "BROKER" || model === "PARTNER"

export const partnerTables = {
  partners: table<PartnerRow>()({
    title: "partner",
    machine: "partner",
    // Version 2 added the change of the custody model, on which no state depends.
    upcasters: [(row) => row],
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      ...machineColumns,
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
    unique: [["code"], ["uidPrefix"]],
    check: (row) => isModel(row.custodyModel) && isRate(row.readPerMinute) && isRate(row.tradePerMinute),
    residence: { subject: "partner", column: "id" },
    id: ["partner", "rare"]
  }),
  custodyChanges: table<CustodyChangeRow>()({
    title: "change of custody",
    machine: null,
    key: ["id"],
    mode: "insert",
    columns: {
      id: "id",
      partnerId: "id",
      before: "text",
      after: "text",
      collateralAsset: "text",
      reason: "text",
      changedBy: "text",
      changedAt: "id"
    },
    check: (row) => isModel(row.before) && isModel(row.after) && row.before !== row.after
  }),
  reliances: table<RelianceRow>()({
    title: "reliance",
    machine: "reliance",
    key: ["partnerId"],
    mode: "upsert",
    columns: { partnerId: "id", ...machineColumns },
    residence: ofPartner
  }),
  apiKeys: table<ApiKeyRow>()({
    title: "API key",
    machine: "apiKey",
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      partnerId: "id",
      ...machineColumns,
      hash: "text",
      prefix: "text",
      label: "text",
      scope: "text",
      createdAt: "id"
    },
    unique: [["hash"]],
    check: (row) => row.scope === "READ" || row.scope === "TRADE",
    residence: ofPartner,
    id: ["key", "rare"]
  })
}
