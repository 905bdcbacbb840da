/** Clients by uid, reference and page, and whether a person's unique fact may be released (doc 1, Clients; A1-09, A1-28, F31). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { LifecycleState } from "../../../machines/client/Client.ts"
import type { VerificationLevel } from "../../../machines/verification/Blocks.ts"
import { columnList, decodeRow } from "../../engine/journal/SubjectLoader.ts"
import type { Sealing } from "../../engine/sealing/Sealing.ts"
import { int8s, texts } from "../arrays.ts"
import { catalogue } from "../../tables/Catalogue.ts"
import { inOrder, type PageQuery } from "../paging.ts"
import type { ClientRow } from "../../tables/client.ts"

type FoundId = Effect.Effect<number | null, SqlError.SqlError>

const idOf = ([row]: ReadonlyArray<{ readonly id: bigint }>): number | null =>
  row === undefined ? null : Number(row.id)

export const clientIdByUid = (sql: PgClient.PgClient, uid: string): FoundId =>
  Effect.map(sql.unsafe<{ readonly id: bigint }>("SELECT id FROM clients WHERE uid = $1", [uid]), idOf)

export const clientIdByRef = (sql: PgClient.PgClient, partnerId: number, ref: string): FoundId =>
  Effect.map(
    sql.unsafe<{ readonly id: bigint }>("SELECT id FROM clients WHERE partner_id = $1 AND partner_client_ref = $2", [
      BigInt(partnerId),
      ref
    ]),
    idOf
  )

/** A client that matches a name, as it is shown for the choice. */
export interface NamedClient {
  readonly id: number
  readonly uid: string
  /** The partner's code. */
  readonly partner: string
  readonly ref: string
}

/** The most clients with one name that are listed; a name with more matches counts as no name. */
export const namedAtMost = 10

/**
 * $1 is the name, $2 a partner's code before the first slash and $3 the text after that slash. Each half uses a unique index:
 * the claim of the address, and the references of each partner.
 */
const namedText = `SELECT c.id, c.uid, p.code AS partner, c.partner_client_ref AS ref
    FROM clients c JOIN partners p ON p.id = c.partner_id
   WHERE c.id = (SELECT owner FROM claims WHERE name = 'email:' || lower($1))
  UNION
  SELECT c.id, c.uid, p.code, c.partner_client_ref FROM partners p CROSS JOIN LATERAL (
    SELECT id, uid, partner_client_ref FROM clients
     WHERE partner_id = p.id AND (partner_client_ref = $1 OR partner_client_ref = $3 AND p.code = $2)) c
   ORDER BY 1 LIMIT ${namedAtMost}`

/** Clients by e-mail address of an open account, or by reference: \`acme-1\`, or \`ACME/acme-1\`. */
export const clientsNamed = (
  sql: PgClient.PgClient,
  name: string
): Effect.Effect<ReadonlyArray<NamedClient>, SqlError.SqlError> =>
  Effect.map(sql.unsafe<Omit<NamedClient, "id"> & { readonly id: bigint }>(namedText, namedValues(name)), (rows) =>
    rows.map((row) => ({ ...row, id: Number(row.id) }))
  )

const namedValues = (name: string): ReadonlyArray<string> => {
  const slash = name.indexOf("/")
  return [name, slash === -1 ? "" : name.slice(0, slash), name.slice(slash + 1)]
}

/** The statement of `clientsNamed`, for a test of its plan. */
export const namedStatement = (name: string) => ({ text: namedText, values: namedValues(name) })

export const uidsOf = (
  sql: PgClient.PgClient,
  clientIds: ReadonlyArray<number>
): Effect.Effect<ReadonlyMap<number, string>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly id: bigint; readonly uid: string }>(
      "SELECT id, uid FROM clients WHERE id = ANY($1::int8[])",
      [int8s(clientIds)]
    ),
    (rows) => new Map(rows.map((row) => [Number(row.id), row.uid]))
  )

export interface ClientOwner {
  readonly id: number
  readonly uid: string
  readonly partnerId: number
}

/** Clients by id or uid, with their partners. */
export const ownersOf = (
  sql: PgClient.PgClient,
  clientIds: ReadonlyArray<number>,
  uids: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<ClientOwner>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly id: bigint; readonly uid: string; readonly partner_id: bigint }>(
      `SELECT id, uid, partner_id FROM clients WHERE id = ANY($1::int8[])
       UNION SELECT id, uid, partner_id FROM clients WHERE uid = ANY($2::text[])`,
      [int8s(clientIds), uids]
    ),
    (rows) => rows.map(({ id, uid, partner_id }) => ({ id: Number(id), uid, partnerId: Number(partner_id) }))
  )

/** The claims of a person that may be released: those not held by another open client of the same person. */
export const freeClaims = (
  sql: PgClient.PgClient,
  claims: ReadonlyArray<string>,
  clientId: number
): Effect.Effect<ReadonlyArray<string>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly name: string }>(
      `SELECT name FROM claims WHERE name = ANY($1) AND NOT EXISTS (SELECT 1 FROM clients WHERE id = owner AND id <> $2
         AND string_to_array(person_key, ' ') @> string_to_array(substr(name, 8), ' ') AND state <> 'CLOSED')`,
      [texts(claims), BigInt(clientId)]
    ),
    (rows) => rows.map(({ name }) => name)
  )

/**
 * Clients that have one of these person keys, highest id first. Only ids below `before`. The query sorts the matches of the index
 * afterwards, because the server might otherwise scan all clients from the newest on.
 */
export const clientsOfPerson = (
  sql: PgClient.PgClient,
  sealing: Sealing,
  personKey: string,
  { limit, before = Number.MAX_SAFE_INTEGER }: PageQuery
): Effect.Effect<ReadonlyArray<ClientRow>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<Record<string, unknown>>(
      `WITH found AS MATERIALIZED (
         SELECT ${columnList(catalogue.clients)} FROM clients
          WHERE string_to_array(person_key, ' ') && string_to_array($1, ' ') AND id < $2)
       SELECT * FROM found ORDER BY id DESC LIMIT $3`,
      [personKey, BigInt(before), BigInt(limit)]
    ),
    (rows) => rows.map((raw) => decodeRow(catalogue.clients, raw, sealing) as ClientRow)
  )

/** Clients whose keys an earlier version of the service wrote, in the order of their ids. */
export const clientsToKey = (
  sql: PgClient.PgClient,
  after: number,
  limit: number
): Effect.Effect<ReadonlyArray<number>, SqlError.SqlError> =>
  idsOf(sql, "SELECT id FROM clients WHERE person_key < 'g' AND id > $1 ORDER BY id LIMIT $2", after, limit)

/** Clients whose person was ever refused permanently, in the order of their ids. They may be closed. */
export const clientsRefused = (
  sql: PgClient.PgClient,
  after: number,
  limit: number
): Effect.Effect<ReadonlyArray<number>, SqlError.SqlError> =>
  idsOf(
    sql,
    "SELECT DISTINCT client_id AS id FROM decisions WHERE decision = 'PERSON_REJECTED' AND client_id > $1 ORDER BY id LIMIT $2",
    after,
    limit
  )

const idsOf = (sql: PgClient.PgClient, text: string, after: number, limit: number) =>
  Effect.map(sql.unsafe<{ readonly id: bigint }>(text, [BigInt(after), BigInt(limit)]), (rows) =>
    rows.map(({ id }) => Number(id))
  )

export interface ClientFilter extends PageQuery {
  /** A case-insensitive part of e-mail, display name or reference; wildcards are literal. Empty: no filter (A1-09). */
  readonly q?: string
  readonly state?: LifecycleState
  readonly level?: VerificationLevel
}

export interface ListedClient {
  readonly row: ClientRow
  /** Micro-USDC. */
  readonly usdc: bigint
}

/** Clients with their cash, newest first. `partnerId` null: the clients of every partner (operator only). */
export const listedClients = (
  sql: PgClient.PgClient,
  sealing: Sealing,
  partnerId: number | null,
  filter: ClientFilter
): Effect.Effect<ReadonlyArray<ListedClient>, SqlError.SqlError> => {
  const { text, values } = listStatement(partnerId, filter)
  return Effect.map(sql.unsafe<Record<string, unknown> & { readonly usdc: bigint | null }>(text, values), (rows) =>
    rows.map((raw) => ({ row: decodeRow(catalogue.clients, raw, sealing) as ClientRow, usdc: raw.usdc ?? 0n }))
  )
}

const listStatement = (
  partnerId: number | null,
  filter: ClientFilter
): { readonly text: string; readonly values: ReadonlyArray<string | bigint> } => {
  const values: Array<string | bigint> = []
  const put = (value: string | bigint): string => `$${values.push(value)}`
  const tests: Array<string> = []
  if (partnerId !== null) tests.push(inOrder("partner_id", put(BigInt(partnerId))))
  if (filter.before !== undefined) tests.push(`id < ${put(BigInt(filter.before))}`)
  if (filter.state !== undefined) tests.push(`state = ${put(filter.state)}`)
  if (filter.level !== undefined) tests.push(`level = ${put(filter.level)}`)
  const { q = "" } = filter
  if (q !== "") {
    const pattern = put(`%${q.replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`)
    tests.push(`(email ILIKE ${pattern} OR display_name ILIKE ${pattern} OR partner_client_ref ILIKE ${pattern})`)
  }
  const where = tests.length === 0 ? "" : ` WHERE ${tests.join(" AND ")}`
  const balance = `(SELECT cash FROM balances b WHERE b.client_id = clients.id AND b.currency = 'USDC') AS usdc`
  return {
    text: `SELECT ${columnList(catalogue.clients)}, ${balance} FROM clients${where} ORDER BY ${partnerId === null ? "" : "partner_id DESC, "}id DESC LIMIT ${put(BigInt(filter.limit))}`,
    values
  }
}
