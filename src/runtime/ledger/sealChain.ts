/**
 * Verifies the chain of seals (engine/seal): every append-only row belongs to a batch by its id, and each batch's seal must
 * follow from the seal before it and its rows. Rows newer than the last verified seal are ignored. Sealed rows never change, so
 * this needs no snapshot.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { idIn, type SealedTable, sealedTableNames, sealEnds, sealGenesis, sealRows } from "../engine/sealing/seal.ts"
import { rowsBetween, sealsBetween } from "../store/reads/sealReads.ts"
import type { SealRow } from "../tables/engine.ts"

/**
 * The number of seals that are read and hashed at a time, with their rows: a few milliseconds in which the service's thread is
 * busy.
 */
const pageOfSeals = 20

export interface ChainFinding {
  readonly seals: number
  readonly rows: number
  /** The hash of the last seal: a copy kept elsewhere can later prove that no seal was cut off. */
  readonly last: string
  /** A sentence about the first break of the chain; null if there is none. */
  readonly detail: string | null
}

/** Rows of the sealed tables, each in the order of its ids. */
export type ChainRows = { readonly [T in SealedTable]: ReadonlyArray<object> }

/**
 * Verifies seals in order against all rows after `from` up to the last of them. Returns a sentence on the first break, or null.
 */
export const findBreak = (from: SealRow, seals: ReadonlyArray<SealRow>, rows: ChainRows): string | null => {
  let before = from
  const next = Object.fromEntries(sealedTableNames.map((table) => [table, 0])) as Record<SealedTable, number>
  for (const seal of seals) {
    if (seal.number !== before.number + 1) return `seal ${before.number + 1} is missing`
    const part = (table: SealedTable): ReadonlyArray<object> => {
      const list = rows[table]
      const start = next[table]
      while (next[table] < list.length && idIn(table, list[next[table]] as object) <= seal[sealEnds[table]])
        next[table]++
      return list.slice(start, next[table])
    }
    const batch = Object.fromEntries(sealedTableNames.map((table) => [table, part(table)]))
    const expected = sealRows(before, batch)
    if (
      expected.hash !== seal.hash ||
      sealedTableNames.some((table) => expected[sealEnds[table]] !== seal[sealEnds[table]])
    ) {
      return `seal ${seal.number} does not follow from the one before it and the rows it covers`
    }
    before = seal
  }
  return null
}

/** Verifies the whole chain up to the seal `upTo`. */
export const readChain = Effect.fnUntraced(function* (upTo: bigint) {
  const sql = yield* PgClient.PgClient
  let before = sealGenesis
  let rows = 0
  let seals = 0
  while (true) {
    const page = yield* sealsBetween(sql, seals === 0 ? 0 : before.number + 1, upTo, pageOfSeals)
    // A chain over rows that existed before it begins with seal 0, which is taken as it is. All other chains begin at
    // `sealGenesis`.
    const [first] = page
    const start = seals === 0 && first?.number === 0 ? first : before
    const links = page.filter((seal) => seal.number > 0)
    const last = page.at(-1)
    if (last === undefined) return { seals, rows, last: before.hash, detail: null } satisfies ChainFinding
    const lists = yield* Effect.all(sealedTableNames.map((table) => rowsBetween(sql, table, start, last)))
    const byTable = Object.fromEntries(sealedTableNames.map((table, index) => [table, lists[index] ?? []])) as Record<
      SealedTable,
      Array<object>
    >
    const detail = findBreak(start, links, byTable)
    seals += page.length
    rows += lists.reduce((sum, list) => sum + list.length, 0)
    if (detail !== null) return { seals, rows, last: before.hash, detail } satisfies ChainFinding
    before = last
  }
})
