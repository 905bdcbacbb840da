/** The last uses of keys, written outside the journal: information for staff, not state (A1-06). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { int8s } from "../arrays.ts"

/** Keys by id, with the time of their last use, Unix ms. */
export const writeKeyUses = (
  sql: PgClient.PgClient,
  uses: ReadonlyArray<readonly [keyId: number, lastUsedAt: number]>
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.asVoid(
    sql.unsafe(
      `INSERT INTO key_usage (key_id, last_used_at) SELECT * FROM unnest($1::int8[], $2::int8[])
       ON CONFLICT (key_id) DO UPDATE SET last_used_at = GREATEST(key_usage.last_used_at, EXCLUDED.last_used_at)`,
      [int8s(uses.map(([keyId]) => keyId)), int8s(uses.map(([, lastUsedAt]) => lastUsedAt))]
    )
  )
