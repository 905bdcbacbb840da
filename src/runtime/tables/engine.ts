/** The engine's own tables: audit, seals, timers and stored answers (architecture, Engine). */
import { table } from "./Table.ts"

export interface AuditRow {
  readonly id: number
  readonly ts: number
  readonly role: string
  readonly keyLabel: string
  readonly requestId: string
  readonly partnerId: number | null
  readonly clientId: number | null
  /** The object of the action, as kind:id; null if the action has no single object. */
  readonly object: string | null
  readonly action: string
  readonly before: string | null
  readonly after: string | null
  readonly reason: string | null
}

/**
 * A link of the hash chain over append-only rows, one link for each batch (engine/sealing/seal.ts). Each link names its last row
 * of each table.
 */
export interface SealRow {
  readonly number: number
  /** The SHA-256 of the link, in hex. */
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
  /** The principal that owns the key: the id of a Principal. */
  readonly principal: string
  readonly key: string
  /** SHA-256 of method, path and canonical body: the same key with another fingerprint is a conflict. */
  readonly fingerprint: string
  readonly status: number
  readonly body: string
  readonly answeredAt: number
}

export const engineTables = {
  audit: table<AuditRow>()({
    title: "audit row",
    machine: null,
    key: ["id"],
    mode: "insert",
    columns: {
      id: "id",
      ts: "id",
      role: "text",
      keyLabel: "text",
      requestId: "text",
      partnerId: "id?",
      clientId: "id?",
      object: "text?",
      action: "text",
      before: "text?",
      after: "text?",
      reason: "text?"
    },
    id: ["audit", "hot"]
  }),
  seals: table<SealRow>()({
    title: "seal",
    machine: null,
    key: ["number"],
    mode: "insert",
    columns: {
      number: "id",
      hash: "text",
      auditTo: "id",
      decisionTo: "id",
      transactionTo: "id",
      postingTo: "id",
      interfirmTo: "id",
      custodyTo: "id"
    }
  }),
  timers: table<TimerRow>()({
    title: "timer",
    machine: null,
    key: ["subject", "name"],
    mode: "upsert",
    columns: { subject: "text", name: "text", dueAt: "id" }
  }),
  answers: table<AnswerRow>()({
    title: "stored answer",
    machine: null,
    key: ["principal", "key"],
    mode: "claim",
    columns: { principal: "text", key: "text", fingerprint: "text", status: "id", body: "sealedText", answeredAt: "id" }
  })
}
