/** Withdrawal requests with the audit rows of their filing (doc 3, Withdrawal request; D10). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { columnList, decodeRow } from "../../engine/journal/SubjectLoader.ts"
import type { Sealing } from "../../engine/sealing/Sealing.ts"
import { catalogue } from "../../tables/Catalogue.ts"
import type { TableSpec } from "../../tables/Table.ts"
import type { WithdrawalRow } from "../../tables/withdrawal.ts"

export interface FiledRequest {
  readonly id: number
  /** The request; null if its sealed destination can't be opened, which the check reports as a finding. */
  readonly row: WithdrawalRow | null
  /** The reason on the audit row of the request's filing; null if the audit has no such row. */
  readonly filed: string | null
}

const spec = catalogue.withdrawalRequests as TableSpec

const filedText = `WITH page AS MATERIALIZED (
    SELECT ${columnList(spec)} FROM withdrawal_requests WHERE id > $1 ORDER BY id LIMIT $2)
  SELECT page.*, filed.reason AS filed
    FROM page LEFT JOIN LATERAL (
      SELECT reason FROM audit WHERE object = 'withdrawalRequest:' || page.id AND action = 'withdrawal.request'
       ORDER BY id LIMIT 1) filed ON true ORDER BY page.id`

/** At most `limit` requests after `after`, in the order of their ids. */
export const filedRequests = (
  sql: PgClient.PgClient,
  sealing: Sealing,
  after: number,
  limit: number
): Effect.Effect<ReadonlyArray<FiledRequest>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<Record<string, unknown> & { readonly id: bigint; readonly filed: string | null }>(filedText, [
      BigInt(after),
      BigInt(limit)
    ]),
    (rows) => rows.map((raw) => ({ id: Number(raw.id), row: opened(sealing, raw), filed: raw.filed }))
  )

const opened = (sealing: Sealing, raw: Readonly<Record<string, unknown>>): WithdrawalRow | null => {
  try {
    return decodeRow(spec, raw, sealing) as WithdrawalRow
  } catch {
    return null
  }
}
