/** An end client, and the decisions taken on it (doc 1, Client lifecycle and level). */
import { type MachineRow, machineColumns, table } from "./Table.ts"

export interface ClientRow extends MachineRow<"client"> {
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
  /** Keyed hashes that recognise the same person without readable data (`personKeyOf`). */
  readonly personKey: string
  readonly createdAt: number
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

export const clientTables = {
  clients: table<ClientRow>()({
    title: "client",
    machine: "client",
    // Version 2 added the findings of screenings of stored clients, on which no state depends.
    upcasters: [(row) => row],
    mirrors: ({ level }) => ({ level }),
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      partnerId: "id",
      shard: "id",
      ...machineColumns,
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
    unique: [["uid"], ["partnerId", "partnerClientRef"]],
    residence: { subject: "client", column: "id" },
    id: ["client", "usual"]
  }),
  decisions: table<DecisionRow>()({
    title: "decision",
    machine: null,
    key: ["id"],
    mode: "insert",
    columns: {
      id: "id",
      partnerId: "id",
      clientId: "id",
      decision: "text",
      reason: "text",
      decidedBy: "text",
      decidedAt: "id"
    },
    id: ["decision", "usual"]
  })
}
