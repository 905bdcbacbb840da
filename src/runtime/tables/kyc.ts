/** KYC packages with their revisions, and identity sessions (doc 1, KYC package statuses; D2). */
import type { Json } from "../../machines/shared/Json.ts"
import { type MachineRow, machineColumns, ofClient, table } from "./Table.ts"

export interface PackageRow extends MachineRow<"kycPackage"> {
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

export const kycTables = {
  kycPackages: table<PackageRow>()({
    title: "KYC package",
    machine: "kycPackage",
    // Version 2 added the refusal and the reopening of a package together with its person; rows are unchanged.
    upcasters: [(row) => row],
    key: ["id"],
    mode: "upsert",
    open: null,
    columns: { id: "id", partnerId: "id", clientId: "id", shard: "id", ...machineColumns, receivedAt: "id" },
    unique: [["clientId"]],
    residence: ofClient,
    id: ["package", "usual"]
  }),
  kycRevisions: table<RevisionRow>()({
    title: "KYC revision",
    machine: null,
    key: ["packageId", "revision"],
    mode: "insert",
    columns: {
      packageId: "id",
      revision: "id",
      partnerId: "id",
      clientId: "id",
      payload: "sealed",
      attestation: "sealed",
      receivedAt: "id"
    }
  }),
  identitySessions: table<IdentitySessionRow>()({
    title: "identity session",
    machine: null,
    key: ["id"],
    mode: "insert",
    columns: {
      id: "id",
      partnerId: "id",
      clientId: "id",
      provider: "text",
      status: "text",
      data: "sealed",
      createdAt: "id"
    },
    id: ["session", "usual"]
  })
}
