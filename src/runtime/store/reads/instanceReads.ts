/** The objects of a machine in a state, oldest first, with the time of the state (operator surface, machine instances). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Kind } from "../../../machines/registry.ts"
import { catalogue, tableOfKind } from "../../tables/Catalogue.ts"
import { heldIn, type TableSpec } from "../../tables/Table.ts"

export interface StateInstance {
  /** The id that operators use: the row's id, or CLIENT:CODE of a block. */
  readonly id: string
  /** The time since which the object is in its state, Unix ms; null if no source records it. */
  readonly since: number | null
  readonly partnerId: number | null
  readonly clientId: number | null
}

/** The columns that may hold the time of creation. The first of them that a table has is used. */
const births = ["createdAt", "receivedAt", "openedAt", "requestedAt", "startedAt", "occurredAt", "generatedAt", "ts"]

const specOf = (kind: Kind): TableSpec => catalogue[tableOfKind[kind]] as TableSpec

const sqlNameOf = ({ columns }: TableSpec, names: ReadonlyArray<string>): string | null =>
  names.map((name) => columns.find((column) => column.name === name)?.sqlName).find((name) => name !== undefined) ??
  null

/** How many columns identify an object of the kind, and so how many values its key has. */
export const keyLength = (kind: Kind): number => specOf(kind).key.length

interface RawInstance {
  readonly id: string
  readonly since: bigint | null
  readonly partner_id: bigint | null
  readonly client_id: bigint | null
}

/**
 * At most `limit` objects after the one whose key is `after`. The time of the state: the last step in the object's own audit
 * rows, or the time in its context (a block's change, a delivery's attempt), otherwise the time of creation.
 */
export const instancesInState = (
  sql: PgClient.PgClient,
  kind: Kind,
  state: string,
  { after, limit }: { readonly after: ReadonlyArray<string | bigint> | null; readonly limit: number }
): Effect.Effect<ReadonlyArray<StateInstance>, SqlError.SqlError> => {
  const spec = specOf(kind)
  const keys = spec.key.map((name) => sqlNameOf(spec, [name]) ?? name)
  const own = (name: string) => (sqlNameOf(spec, [name]) === null ? "NULL::int8" : `r.${sqlNameOf(spec, [name])}`)
  const born = sqlNameOf(spec, births)
  const held = heldIn(spec, [state])
  const beyond = after === null ? "" : ` AND (${keys.join(", ")}) > (${keys.map((_, at) => `$${at + 3}`).join(", ")})`
  const name = keys.map((key) => `r.${key}::text`).join(" || ':' || ")
  const text = `SELECT ${name} AS id, ${own("partnerId")} AS partner_id,
      ${kind === "client" ? "r.id" : own("clientId")} AS client_id,
      GREATEST((SELECT a.ts FROM audit a WHERE a.object = '${spec.object}:' || ${name} AND a.before IS DISTINCT FROM a.after
                 ORDER BY a.id DESC LIMIT 1),
               (r.context ->> 'updatedAt')::int8, (r.context -> 'tries' -> -1 ->> 'at')::int8,
               ${born === null ? "NULL" : `r.${born}`}) AS since
    FROM (SELECT * FROM ${spec.sqlName} WHERE state = $1${held === null ? "" : ` AND ${held}`}${beyond}
           ORDER BY ${keys.join(", ")} LIMIT $2) r
   ORDER BY ${keys.map((key) => `r.${key}`).join(", ")}`
  return Effect.map(sql.unsafe<RawInstance>(text, [state, BigInt(limit), ...(after ?? [])]), (rows) =>
    rows.map(({ id, since, partner_id, client_id }) => ({
      id,
      since: since === null ? null : Number(since),
      partnerId: partner_id === null ? null : Number(partner_id),
      clientId: client_id === null ? null : Number(client_id)
    }))
  )
}

export interface ClientName {
  readonly clientId: number
  readonly partnerId: number
  readonly uid: string
  readonly displayName: string
}

/** The display names of clients by id; clients that do not exist are absent. */
export const clientNames = (
  sql: PgClient.PgClient,
  ids: ReadonlyArray<number>
): Effect.Effect<ReadonlyArray<ClientName>, SqlError.SqlError> =>
  ids.length === 0
    ? Effect.succeed([])
    : Effect.map(
        sql.unsafe<{
          readonly id: bigint
          readonly partner_id: bigint
          readonly uid: string
          readonly display_name: string
        }>(
          `SELECT id, partner_id, uid, display_name FROM clients WHERE id IN (${ids.map((_, at) => `$${at + 1}`).join(", ")})`,
          ids.map(BigInt)
        ),
        (rows) =>
          rows.map(({ id, partner_id, uid, display_name }) => ({
            clientId: Number(id),
            partnerId: Number(partner_id),
            uid,
            displayName: display_name
          }))
      )
