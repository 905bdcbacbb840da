/**
 * Statements, and their models: the row identifies the statement, the model is a separate text in sealed pieces, never kept in
 * memory (doc 2, Statements; D20, STS-16, STS-22).
 */
import type { StatementKind } from "../../machines/statement/statementTokens.ts"
import { type MachineRow, machineColumns, table } from "./Table.ts"

export interface StatementRow extends MachineRow<"statement"> {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly kind: StatementKind
  /** Unix ms, inclusive. */
  readonly periodFrom: number
  /** Unix ms, exclusive. */
  readonly periodTo: number
  /** The version of the statement; `version` is that of the machine. */
  readonly number: number
  readonly modelId: number
  readonly generatedAt: number
}

/** A completely stored model, identified by its hash. */
export interface StatementModelRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  /** SHA-256 of the text, hex. */
  readonly sha256: string
  /** Bytes of the text. */
  readonly size: number
  readonly pieces: number
  /** The number of rows of each section, in order. */
  readonly counts: ReadonlyArray<number>
  /** Wall time, Unix ms; the sweep uses it. */
  readonly storedAt: number
}

/** A part of a model's canonical text. */
export interface StatementPieceRow {
  readonly modelId: number
  readonly number: number
  readonly partnerId: number
  readonly clientId: number
  /** The section of these rows; -1: the text around the rows. */
  readonly section: number
  readonly content: string
  readonly storedAt: number
}

export const statementTables = {
  statements: table<StatementRow>()({
    title: "statement",
    machine: "statement",
    logged: true,
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      partnerId: "id",
      clientId: "id",
      ...machineColumns,
      kind: "text",
      periodFrom: "id",
      periodTo: "id",
      number: "id",
      modelId: "id",
      generatedAt: "id"
    },
    // A statement is permanent, and nothing about it is open.
    open: null,
    id: ["statement", "usual"]
  }),
  statementModels: table<StatementModelRow>()({
    title: "statement model",
    machine: null,
    key: ["id"],
    mode: "insert",
    columns: {
      id: "id",
      partnerId: "id",
      clientId: "id",
      sha256: "text",
      size: "id",
      pieces: "id",
      counts: "json",
      storedAt: "id"
    },
    unique: [["sha256"]],
    id: ["statementModel", "usual"]
  }),
  statementPieces: table<StatementPieceRow>()({
    title: "piece of a statement model",
    machine: null,
    key: ["modelId", "number"],
    mode: "insert",
    columns: {
      modelId: "id",
      number: "id",
      partnerId: "id",
      clientId: "id",
      section: "id",
      content: "sealedText",
      storedAt: "id"
    }
  })
}
