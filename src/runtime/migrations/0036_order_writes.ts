/**
 * An order's steps while it works touch no index (decision 18): whether it works is a column of its own, so that no index
 * depends on its state, and its page has room for the next version of it. Newest first is read backwards: an index that is
 * written at its beginning splits its pages in halves, and these tables grow with every trade.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const working = "('CHECKED', 'SENT', 'ACKED', 'PARTIAL', 'PENDING_TRIGGER', 'PENDING_CANCEL')"

export const m0036 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP INDEX orders_working, orders_partner_working`
  // Rewrites the table, its pages with room then: half a minute for a million orders on a busy machine.
  yield* sql`ALTER TABLE orders SET (fillfactor = 60)`
  yield* sql.unsafe(
    `ALTER TABLE orders ADD COLUMN works boolean NOT NULL GENERATED ALWAYS AS (state IN ${working}) STORED`
  )
  yield* sql`CREATE INDEX orders_working ON orders (client_id) WHERE works`
  // Pages of what works, newest first: among a million that have ended the few would be looked for one by one.
  yield* sql`CREATE INDEX orders_working_ids ON orders (id) WHERE works`

  yield* sql`DROP INDEX settlement_items_partner, settlement_items_open, webhook_deliveries_partner, collateral_reports_partner`
  yield* sql`CREATE INDEX settlement_items_partner ON settlement_items (partner_id, id)`
  yield* sql`CREATE INDEX settlement_items_open ON settlement_items (partner_id, state, id) WHERE state <> 'SETTLED'`
  yield* sql`CREATE INDEX webhook_deliveries_partner ON webhook_deliveries (partner_id, id)`
  yield* sql`CREATE INDEX collateral_reports_partner ON collateral_reports (partner_id, id)`
})
