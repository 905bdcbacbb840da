/** The twelve blocks of a client's verification, and their payloads (doc 1, Block statuses; D3). */
import type { Json } from "../../machines/shared/Json.ts"
import { type MachineRow, machineColumns, ofClient, table } from "./Table.ts"

export interface BlockRow extends MachineRow<"verificationBlock"> {
  readonly clientId: number
  readonly code: string
  readonly partnerId: number
  readonly shard: number
}

/** The payload of a block, apart from its state: read only by compliance, never kept in memory. */
export interface BlockPayloadRow {
  readonly clientId: number
  readonly code: string
  readonly partnerId: number
  readonly data: Json
}

export const verificationTables = {
  verificationBlocks: table<BlockRow>()({
    title: "verification block",
    machine: "verificationBlock",
    key: ["clientId", "code"],
    mode: "upsert",
    open: null,
    columns: { clientId: "id", code: "text", partnerId: "id", shard: "id", ...machineColumns },
    residence: ofClient
  }),
  blockPayloads: table<BlockPayloadRow>()({
    title: "block payload",
    machine: null,
    key: ["clientId", "code"],
    mode: "upsert",
    columns: { clientId: "id", code: "text", partnerId: "id", data: "sealed" }
  })
}
