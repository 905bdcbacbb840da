/** The chain of seals over the stored rows of a journal, checked by the reader of `ledger verify`. */
import { sealEnds, sealGenesis, sealedTableNames, sealedTables } from "../../../src/runtime/engine/sealing/seal.ts"
import { type ChainRows, findBreak } from "../../../src/runtime/ledger/sealChain.ts"
import type { SealRow } from "../../../src/runtime/tables/engine.ts"
import type { TableName, Tables } from "../../../src/runtime/tables/Catalogue.ts"

/** The first break of the chain; a row that no seal covers counts as one. Null if there is none. */
export const chainBreak = (rowsOf: <T extends TableName>(table: T) => ReadonlyArray<Tables[T]>): string | null => {
  const rows = Object.fromEntries(
    sealedTableNames.map((table) => {
      const id = sealedTables[table]
      const list = rowsOf(table) as ReadonlyArray<object> as ReadonlyArray<Readonly<Record<string, number>>>
      return [table, list.toSorted((a, b) => (a[id] as number) - (b[id] as number))]
    })
  ) as unknown as ChainRows
  const seals: ReadonlyArray<SealRow> = rowsOf("seals").toSorted((a, b) => a.number - b.number)
  const last = seals.at(-1) ?? sealGenesis
  const open = sealedTableNames.find((table) => {
    const end = rows[table].at(-1) as Readonly<Record<string, number>> | undefined
    return end !== undefined && (end[sealedTables[table]] as number) > last[sealEnds[table]]
  })
  return findBreak(sealGenesis, seals, rows) ?? (open === undefined ? null : `rows of ${open} are not sealed`)
}

/** As `chainBreak` for a store that is read asynchronously. */
export const storedChainBreak = async (
  rowsOf: <T extends TableName>(table: T) => Promise<ReadonlyArray<Tables[T]>>
): Promise<string | null> => {
  const names = [...sealedTableNames, "seals"] as const
  const found = new Map<TableName, ReadonlyArray<unknown>>()
  for (const table of names) found.set(table, await rowsOf(table))
  return chainBreak(<T extends TableName>(table: T) => found.get(table) as ReadonlyArray<Tables[T]>)
}
