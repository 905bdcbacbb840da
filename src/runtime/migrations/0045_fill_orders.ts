/** What statements say of a trade's order, beside the trade: the type, and who placed it (STS-25), as they were when it was booked. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0045 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE fills ADD COLUMN order_type text, ADD COLUMN origin text`
  yield* sql`UPDATE fills f SET order_type = coalesce(o.context ->> 'type', ''), origin = coalesce(o.context ->> 'origin', '')
    FROM fills all_fills LEFT JOIN orders o ON o.id = all_fills.order_id WHERE all_fills.id = f.id`
  yield* sql`ALTER TABLE fills ALTER COLUMN order_type SET NOT NULL, ALTER COLUMN origin SET NOT NULL`
})
