/**
 * Answers, from the memory store, the few statements that services of the simulated nouns send to the database
 * directly. An unknown statement is a defect and so a finding, so a simulation covers every statement.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { hanging } from "../../src/runtime/engine/journal/sqlFailure.ts"
import { firstPersonKey, personClaims } from "../../src/machines/kyc/personKey.ts"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import { placeOf } from "../../src/runtime/engine/journal/columnValues.ts"
import type { Sealing } from "../../src/runtime/engine/sealing/Sealing.ts"
import { catalogue, type TableName, tableNames } from "../../src/runtime/tables/Catalogue.ts"
import type { TableSpec } from "../../src/runtime/tables/Table.ts"

export interface MemorySqlOptions {
  readonly store: MemoryStore
  readonly sealing: Sealing
  /** True while the store can't be reached. Read at each statement. */
  readonly away: () => boolean
}

type Value = string | number | bigint
type Row = Readonly<Record<string, unknown>>
interface Question {
  readonly match: RegExpExecArray
  readonly values: ReadonlyArray<Value>
  readonly store: MemoryStore
  readonly sealing: Sealing
}
type Answerer = (question: Question) => ReadonlyArray<Row>

/** A row in the driver's form: column names in snake case, secret values sealed. */
const rawOf = (spec: TableSpec, row: Row, sealing: Sealing): Row =>
  Object.fromEntries(
    spec.columns.map(({ name, sqlName, type }) => {
      const value = row[name] ?? null
      const place = placeOf(spec.sqlName, sqlName)
      if (value === null) return [sqlName, null]
      if (type === "sealed") return [sqlName, sealing.seal(JSON.stringify(value), place)]
      return [sqlName, type === "sealedText" ? sealing.seal(value as string, place) : value]
    })
  )

const tableOf = (sqlName: string): TableSpec => {
  const name = tableNames.find((each: TableName) => catalogue[each].sqlName === sqlName)
  if (name === undefined) throw new Error(`there is no table ${sqlName}`)
  return catalogue[name] as TableSpec
}

const rowsOf = (store: MemoryStore, spec: TableSpec): ReadonlyArray<Row> =>
  store.rows(spec.table as TableName).map((row) => ({ ...row }))

/** A page of one table (`pageOf`): conditions joined by AND, newest first. */
const page: Answerer = ({ match, values, store, sealing }) => {
  const [, sqlName = "", where = ""] = match
  const spec = tableOf(sqlName)
  const at = (place: string): Value => values[Number(place) - 1] as Value
  const tests = [...where.matchAll(/"(\w+)" (=|>=|<) \$(\d+)/g)].map(([, column, sign, place = ""]) => {
    const name = spec.columns.find((each) => each.sqlName === column)?.name ?? ""
    const value = at(place)
    return (row: Row): boolean => {
      const held = row[name]
      if (held === null || held === undefined) return false
      if (typeof value === "string") return held === value
      const [one, other] = [BigInt(held as Value), BigInt(value)]
      return sign === "=" ? one === other : sign === "<" ? one < other : one >= other
    }
  })
  const id = spec.key[0] as string
  return rowsOf(store, spec)
    .filter((row) => tests.every((test) => test(row)))
    .toSorted((a, b) => Number(b[id]) - Number(a[id]))
    .slice(0, Number(values.at(-1)))
    .map((row) => rawOf(spec, row, sealing))
}

/** The open rows of a client in one table, by state (`openOutside`). */
const openOfClient: Answerer = ({ match, values, store }) => {
  const [, sqlName = "", listed = ""] = match
  const states = listed.split(", ").map((state) => state.slice(1, -1))
  const open = rowsOf(store, tableOf(sqlName)).filter(
    ({ clientId, state }) => BigInt(clientId as number) === values[0] && states.includes(state as string)
  )
  return [...Map.groupBy(open, ({ state }) => state)].map(([state, rows]) => ({ state, n: BigInt(rows.length) }))
}

/** The claims of a person that this client may give back (`freeClaims`). */
const freePerson: Answerer = ({ values: [, id], store }) =>
  personClaims(store.rows("clients").find((row) => BigInt(row.id) === id)?.personKey ?? "").flatMap((name) => {
    const owner = store.ownerOf(name)
    const isHeld = store
      .rows("clients")
      .some((row) => row.id === owner && BigInt(row.id) !== id && row.state !== "CLOSED" && holds(row.personKey, name))
    return owner === undefined || isHeld ? [] : [{ name }]
  })

const holds = (personKey: string, claim: string): boolean => personClaims(personKey).includes(claim)

/** Clients by id: those with keys to write (`clientsToKey`), or those that were once refused (`clientsRefused`). */
const clientPage =
  (ids: (store: MemoryStore) => ReadonlyArray<number>): Answerer =>
  ({ values: [after = 0, limit], store }) =>
    [...new Set(ids(store))]
      .filter((id) => BigInt(id) > BigInt(after))
      .toSorted((a, b) => a - b)
      .slice(0, Number(limit))
      .map((id) => ({ id: BigInt(id) }))

const toKey = clientPage((store) =>
  store.rows("clients").flatMap(({ id, personKey }) => (personKey < firstPersonKey ? [id] : []))
)
const refusedOnce = clientPage((store) =>
  store.rows("decisions").flatMap(({ decision, clientId }) => (decision === "PERSON_REJECTED" ? [clientId] : []))
)

/** The payout with this reference, and the balance directly after it (`paidStatement`). */
const paidOut: Answerer = ({ values: [txId, clientId], store }) => {
  const own = store.rows("postings").filter((row) => row.clientId !== null && BigInt(row.clientId) === clientId)
  const transaction = store.rows("ledgerTransactions").find((row) => BigInt(row.txId) === txId)
  if (transaction === undefined) return []
  return own.flatMap((posting) => {
    if (posting.txId !== transaction.txId) return []
    const before = own.filter((each) => each.currency === posting.currency && each.txId <= posting.txId)
    const sum = (kind: string): string =>
      String(before.reduce((total, each) => (each.kind === kind ? total + each.amount : total), 0n))
    const { reason, ts } = transaction
    const { currency, amount } = posting
    return [{ reason, ts: BigInt(ts), currency, minor: -amount, cash: sum("cash"), reserved: sum("reserved") }]
  })
}

/** The persons of clients that are neither closed nor refused, by client id (`personsAfter`). */
const persons: Answerer = ({ values: [after = 0, limit], store, sealing }) => {
  const payloads = new Map(
    store.rows("blockPayloads").flatMap((row) => (row.code === "PERSONAL_INFO" ? [[row.clientId, row.data]] : []))
  )
  return store
    .rows("clients")
    .filter(({ id, state }) => BigInt(id) > BigInt(after) && state !== "CLOSED" && state !== "KYC_REJECTED")
    .toSorted((a, b) => a.id - b.id)
    .flatMap(({ id }) => {
      const data = payloads.get(id)
      if (data === undefined) return []
      return [{ id: BigInt(id), data: sealing.seal(JSON.stringify(data), placeOf("block_payloads", "data")) }]
    })
    .slice(0, Number(limit))
}

/** Live entries of a source that an import names or leaves out (`ScreeningImports`), or the entry with an id. */
const entries =
  (meets: (row: Row, values: ReadonlyArray<Value>) => boolean): Answerer =>
  ({ values, store, sealing }) =>
    rowsOf(store, catalogue.watchEntries as TableSpec)
      .filter((row) => meets(row, values))
      .map((row) => ({ ...rawOf(catalogue.watchEntries as TableSpec, row, sealing), list_version: null }))

const isLive = (row: Row, source: Value | undefined): boolean => row["removedAt"] === null && row["source"] === source
const isUnnamed = (row: Row, importId: Value | undefined): boolean =>
  row["importId"] !== null && BigInt(row["importId"] as number) < BigInt(importId ?? 0)

const losses: Answerer = ({ values: [source, importId], store }) => {
  const live = rowsOf(store, catalogue.watchEntries as TableSpec).filter((row) => isLive(row, source))
  const unnamed = live.filter((row) => isUnnamed(row, importId))
  return [{ live: BigInt(live.length), unnamed: BigInt(unnamed.length) }]
}

const known: ReadonlyArray<readonly [RegExp, Answerer]> = [
  // Returns all entries of the source, not only the named ones: the import compares whole lines.
  [
    /^SELECT .* FROM watch_entries WHERE removed_at IS NULL AND source = \$1 AND name = ANY\(\$2\)$/,
    entries((row, [source]) => isLive(row, source))
  ],
  [
    /^SELECT .* FROM watch_entries WHERE removed_at IS NULL AND source = \$1 AND import_id < \$2 /,
    entries((row, [source, importId]) => isLive(row, source) && isUnnamed(row, importId))
  ],
  [/^SELECT count\(\*\) AS live, .* FROM watch_entries /, losses],
  [/^SELECT .* FROM watch_entries WHERE id = \$1$/, entries((row, [id]) => BigInt(row["id"] as number) === id)],
  [/^SELECT c\.id, p\.data FROM clients c JOIN block_payloads p /, persons],
  [
    /^SELECT state, count\(\*\) AS n FROM (\w+) WHERE client_id = \$1 AND state IN \((.*)\) GROUP BY state$/,
    openOfClient
  ],
  [/^SELECT name FROM claims WHERE name = ANY\(\$1\) AND NOT EXISTS /, freePerson],
  [/^SELECT id FROM clients WHERE person_key < 'g' AND id > \$1 ORDER BY id LIMIT \$2$/, toKey],
  [/^SELECT DISTINCT client_id AS id FROM decisions WHERE decision = 'PERSON_REJECTED' /, refusedOnce],
  [/^SELECT t\.reason, t\.ts, p\.currency, -p\.amount AS minor, /, paidOut],
  [/^SELECT (?:"\w+"(?:, )?)+ FROM (\w+)(?: WHERE (.*))? ORDER BY "\w+" DESC LIMIT \$\d+$/, page]
]

export const memorySql = ({ store, sealing, away }: MemorySqlOptions): Layer.Layer<PgClient.PgClient> =>
  Layer.succeed(PgClient.PgClient, {
    unsafe: (statement: string, values: ReadonlyArray<Value> = []) =>
      Effect.suspend(() => {
        if (away()) return Effect.fail(hanging)
        const text = statement.replaceAll(/\s+/g, " ").trim()
        for (const [shape, answer] of known) {
          const match = shape.exec(text)
          if (match !== null) return Effect.sync(() => answer({ match, values, store, sealing }))
        }
        return Effect.die(new Error(`a simulation does not know the statement: ${text}`))
      })
  } as unknown as PgClient.PgClient)
