/** The open rows of tables with open work (OpenWork), for one client or for all clients of a partner. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { catalogue, type TableName, tableNames } from "../tables/Catalogue.ts"
import { heldIn, type OpenWork, type TableSpec } from "../tables/Table.ts"

export interface OpenTable {
  readonly table: TableName
  readonly open: OpenWork
}

/** The tables that may have open work, in the catalogue's order. */
export const openTables: ReadonlyArray<OpenTable> = tableNames.flatMap((table) => {
  const { open } = catalogue[table]
  return open === null ? [] : [{ table, open }]
})

/** "What is open: 2 REQUESTED, 1 APPROVED."; empty if all counts are zero. */
export const openSentence = (
  { states, ofClient }: OpenWork,
  count: (state: string) => bigint | number
): ReadonlyArray<string> => {
  const counts = states.flatMap((state) => (Number(count(state)) === 0 ? [] : [`${count(state)} ${state}`]))
  return counts.length === 0 ? [] : [`${ofClient}: ${counts.join(", ")}.`]
}

/** States are identifiers of the code, letters and underscores only, so they need no escape. */
const listed = (states: ReadonlyArray<string>): string => states.map((state) => `'${state}'`).join(", ")

/** The SQL condition of open rows. */
export const isOpen = ({ table, open }: OpenTable): string => {
  const held = heldIn(catalogue[table] as TableSpec, open.states)
  return [`state IN (${listed(open.states)})`, held, open.only ?? null].filter((each) => each !== null).join(" AND ")
}

const outside = openTables.filter(({ table }) => catalogue[table].residence?.subject !== "client")

/** Sentences on a client's open work outside its mailbox. */
export const openOutside = (
  sql: PgClient.PgClient,
  clientId: number
): Effect.Effect<ReadonlyArray<string>, SqlError.SqlError> =>
  Effect.map(
    Effect.forEach(outside, ({ table, open }) =>
      Effect.map(
        sql.unsafe<{ readonly state: string; readonly n: bigint }>(
          `SELECT state, count(*) AS n FROM ${catalogue[table].sqlName}
            WHERE client_id = $1 AND ${isOpen({ table, open })} GROUP BY state`,
          [BigInt(clientId)]
        ),
        (rows) => openSentence(open, (state) => rows.find((row) => row.state === state)?.n ?? 0)
      )
    ),
    (sentences) => sentences.flat()
  )

/** Open rows of a partner's clients in one state and currency. */
export interface OpenGroup {
  readonly open: OpenWork
  readonly state: string
  readonly currency: string
  readonly n: bigint
  /** As text, because sums of many 64-bit amounts may overflow 64 bits. */
  readonly total: string
  /** The first ids, separated by commas. */
  readonly ids: string
}

/** All open work of a partner's clients, with the first `named` ids of each group. */
export const openOfPartner = (
  sql: PgClient.PgClient,
  partnerId: number,
  named: number
): Effect.Effect<ReadonlyArray<OpenGroup>, SqlError.SqlError> =>
  Effect.map(
    Effect.forEach(openTables, ({ table, open }) =>
      Effect.map(
        sql.unsafe<Omit<OpenGroup, "open">>(
          `SELECT state, currency, count(*) AS n, sum(amount)::text AS total,
                  array_to_string((array_agg(id ORDER BY id))[1:${named}], ', ') AS ids
             FROM ${catalogue[table].sqlName} WHERE partner_id = $1 AND ${isOpen({ table, open })}
            GROUP BY state, currency ORDER BY array_position(ARRAY[${listed(open.states)}], state), currency`,
          [BigInt(partnerId)]
        ),
        (groups) => groups.map((group) => ({ ...group, open }))
      )
    ),
    (found) => found.flat()
  )
