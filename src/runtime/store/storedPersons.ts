/** The persons of stored clients for screening, page by page in the order of the clients' ids (F26). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Json } from "../../machines/shared/Json.ts"
import { fromColumn, placeOf } from "../engine/journal/columnValues.ts"
import type { Sealing } from "../engine/sealing/Sealing.ts"

export interface StoredPerson {
  readonly clientId: number
  /** The section PERSONAL_INFO of the client, as last received. */
  readonly personalInfo: Json
}

/** At most `limit` clients after `after` that are neither closed nor permanently refused. */
export const personsAfter = (
  sql: PgClient.PgClient,
  sealing: Pick<Sealing, "open">,
  after: number,
  limit: number
): Effect.Effect<ReadonlyArray<StoredPerson>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly id: bigint; readonly data: unknown }>(
      `SELECT c.id, p.data FROM clients c JOIN block_payloads p ON p.client_id = c.id AND p.code = 'PERSONAL_INFO'
        WHERE c.id > $1 AND c.state NOT IN ('CLOSED', 'KYC_REJECTED') ORDER BY c.id LIMIT $2`,
      [BigInt(after), BigInt(limit)]
    ),
    (rows) =>
      rows.map(({ id, data }) => ({
        clientId: Number(id),
        personalInfo: fromColumn(data, "sealed", placeOf("block_payloads", "data"), sealing) as Json
      }))
  )
