/**
 * Every table of the service: the list that the journals, the loader, the row decoder and the encryption rotation iterate. Each
 * table is described in `tables/<noun>.ts`; a new noun is one line here.
 */
import type { Kind } from "../../machines/registry.ts"
import type { IdBlock, MachineRow, Table, TableSpec } from "./Table.ts"
import { accountTables } from "./account.ts"
import { appropriatenessTables } from "./appropriateness.ts"
import { contractTables } from "./contract.ts"
import { clientTables } from "./client.ts"
import { collateralTables } from "./collateral.ts"
import { complianceTables } from "./compliance.ts"
import { depositTables } from "./deposit.ts"
import { documentTables } from "./document.ts"
import { engineTables } from "./engine.ts"
import { fundingTables } from "./funding.ts"
import { kycTables } from "./kyc.ts"
import { ledgerTables } from "./ledger.ts"
import { marginTables } from "./margin.ts"
import { marketTables } from "./market.ts"
import { operatorTables } from "./operator.ts"
import { orderTables } from "./order.ts"
import { partnerTables } from "./partner.ts"
import { reconciliationTables } from "./reconciliation.ts"
import { reportingTables } from "./reporting.ts"
import { rfqTables } from "./rfq.ts"
import { screeningTables } from "./screening.ts"
import { settlementTables } from "./settlement.ts"
import { swapTables } from "./swap.ts"
import { statementTables } from "./statement.ts"
import { statementJobTables } from "./statementJob.ts"
import { venueTables } from "./venue.ts"
import { verificationTables } from "./verification.ts"
import { webhookTables } from "./webhook.ts"
import { withdrawalTables } from "./withdrawal.ts"

const described = {
  ...partnerTables,
  ...operatorTables,
  ...clientTables,
  ...verificationTables,
  ...appropriatenessTables,
  ...kycTables,
  ...reportingTables,
  ...screeningTables,
  ...complianceTables,
  ...depositTables,
  ...collateralTables,
  ...withdrawalTables,
  ...reconciliationTables,
  ...marketTables,
  ...rfqTables,
  ...contractTables,
  ...marginTables,
  ...orderTables,
  ...swapTables,
  ...fundingTables,
  ...accountTables,
  ...settlementTables,
  ...documentTables,
  ...statementTables,
  ...statementJobTables,
  ...ledgerTables,
  ...webhookTables,
  ...venueTables,
  ...engineTables
}
type Described = typeof described

type TypesOf<T> = T extends { readonly types?: infer Types } ? NonNullable<Types> : never
type RowOf<T> = TypesOf<T> extends { readonly row: infer Row } ? Row : never
type MirroredOf<T> = TypesOf<T> extends { readonly mirrored: infer Mirrored } ? keyof Mirrored : never
/** The row type of every table by the table's name. */
export type Tables = { readonly [T in keyof Described]: RowOf<Described[T]> }
export type TableName = keyof Tables

/** The rows of a commit by table. Columns that are assigned at write time (`seq`, `hash`) are overwritten then. */
export type CommitRows = { readonly [T in TableName]?: ReadonlyArray<Tables[T]> }

/** The tables whose rows belong to a machine. */
export type MachineTable = {
  [T in TableName]: Described[T] extends { readonly machine: Kind } ? T : never
}[TableName]
/** The machine of a table. */
export type KindOf<T extends MachineTable> = Described[T]["machine"] & Kind

/** The columns of a new row that do not come from its machine. */
export type NewColumns<T extends MachineTable> = Omit<Tables[T], keyof MachineRow | MirroredOf<Described[T]>>

type IdOf<T> = T extends { readonly id?: readonly [infer I, IdBlock] } ? (I extends string ? I : never) : never
/** The kinds of ids; each kind has its own sequence. */
export type IdKind = { [T in TableName]: IdOf<Described[T]> }[TableName]

export const tableNames = Object.keys(described) as ReadonlyArray<TableName>

export const catalogue = Object.fromEntries(
  tableNames.map((name) => [name, { table: name, ...described[name].describe(name) }])
) as { readonly [T in TableName]: TableSpec<T> }

/** The size class of the id blocks that a process reserves, for every kind of id. */
export const idBlocks = Object.fromEntries(
  tableNames.flatMap((name) => {
    const { id } = described[name] as Table
    return id === undefined ? [] : [id]
  })
) as Readonly<Record<IdKind, IdBlock>>

/**
 * The table that keeps the objects of a machine. The kind `key` maps to partner keys: the operator's own keys are no objects of
 * it.
 */
export const tableOfKind = Object.fromEntries(
  tableNames
    .toReversed()
    .flatMap((name) => (catalogue[name].machine === null ? [] : [[catalogue[name].machine, name] as const]))
) as { readonly [K in Kind]: { [T in MachineTable]: KindOf<T> extends K ? T : never }[MachineTable] }

/** The value that identifies a row inside its table: the columns of its key, joined by U+0000. */
export const keyOf = (table: TableName, row: object): string => {
  const { key } = catalogue[table]
  const values = row as Readonly<Record<string, unknown>>
  let joined = String(values[key[0] as string])
  for (let at = 1; at < key.length; at++) joined += `\u0000${values[key[at] as string]}`
  return joined
}

/** The claim of a partner's reference: one namespace for each table and partner (A3-01). */
export const referenceClaim = (table: TableName, partnerId: number, partnerRef: string): string => {
  const { reference } = catalogue[table]
  if (reference === null) throw new Error(`rows of ${table} are filed under no reference`)
  return `${reference}:${partnerId}:${partnerRef}`
}
