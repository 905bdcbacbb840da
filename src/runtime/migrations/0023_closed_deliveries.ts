/**
 * Deliveries of a closed partner: they waited for ever. The commit that closes a partner ends them, by a trigger in its
 * own statement, because no mailbox holds deliveries and a partner may have more of them than a commit has rows (D13, D14,
 * D15). One commit ends so many that it stays short; `ClosedDeliveries` ends the rest right after. Deliveries of partners
 * that were closed before are ended here.
 *
 * What is written is what the delivery's machine makes of PARTNER_CLOSED. Rows are locked in the order of their ids, as the
 * workers lock them, so that none waits for the other.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Deliveries that the closing commit ends. */
export const endedByCommit = 20_000

/** As the delivery's machine writes it (`partnerClosedError`); a test holds both equal. */
const partnerClosedError = "The partner is closed."

export const m0023 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`CREATE FUNCTION end_deliveries(closed bigint, at bigint, most bigint) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE ended bigint;
    BEGIN
      WITH due AS MATERIALIZED (
        SELECT id FROM webhook_deliveries WHERE partner_id = closed AND state IN ('PENDING', 'RETRYING')
         ORDER BY next_at LIMIT most),
      locked AS MATERIALIZED (
        SELECT d.id FROM webhook_deliveries d JOIN due USING (id) WHERE d.state IN ('PENDING', 'RETRYING')
         ORDER BY d.id FOR UPDATE OF d)
      UPDATE webhook_deliveries d
         SET state = 'FAILED', next_at = at, claim_token = NULL, claimed_at = NULL,
             context = (d.context::jsonb || '{"error": "${partnerClosedError}", "nextAt": null}')::json
        FROM locked l WHERE d.id = l.id;
      GET DIAGNOSTICS ended = ROW_COUNT;
      RETURN ended;
    END $$`)
  yield* sql.unsafe(`CREATE FUNCTION partner_closed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM end_deliveries(NEW.id, (NEW.context ->> 'changedAt')::bigint, ${endedByCommit});
      RETURN NULL;
    END $$`)
  yield* sql.unsafe(`CREATE TRIGGER partner_closed AFTER UPDATE ON partners FOR EACH ROW
    WHEN (OLD.state <> 'CLOSED' AND NEW.state = 'CLOSED') EXECUTE FUNCTION partner_closed()`)
  yield* sql`ALTER TABLE partners ENABLE ALWAYS TRIGGER partner_closed`
  yield* sql`SELECT end_deliveries(id, (context ->> 'changedAt')::bigint, 9223372036854775807)
    FROM partners WHERE state = 'CLOSED'`
})
