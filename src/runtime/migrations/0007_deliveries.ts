/**
 * What sending webhooks needs: who is trying a delivery (claim), and an index by partner, so that taking due deliveries
 * round-robin never walks past another partner's backlog.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0007 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE webhook_deliveries ADD COLUMN claim_token text, ADD COLUMN claimed_at bigint`
  yield* sql`DROP INDEX webhook_deliveries_due`
  yield* sql`CREATE INDEX webhook_deliveries_due ON webhook_deliveries (partner_id, next_at)
    WHERE state IN ('PENDING', 'RETRYING')`
  // The time of the last acknowledged delivery (A3-39), and the few that failed among the many of the log.
  yield* sql`CREATE INDEX webhook_deliveries_sent ON webhook_deliveries (partner_id, ((context->>'sentAt')::bigint) DESC)
    WHERE state = 'SENT'`
  yield* sql`CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (partner_id, id DESC) WHERE state = 'FAILED'`
  // Rows written before the delivery machine: its context also says when the next attempt is due.
  yield* sql`UPDATE webhook_deliveries SET context = json_build_object('attempts', 0, 'lastStatus', NULL, 'error', NULL,
    'sentAt', NULL, 'nextAt', next_at)`
})
