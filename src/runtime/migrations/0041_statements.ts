/**
 * Statements and the sealed pieces of their models (D20, STS-16, STS-22). A fill says when it was booked, which dates it in a
 * statement (STS-19): those before are dated by the postings that they made. Encrypted bytes don't compress.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idBlockSize, idSequenceOf } from "../engine/journal/IdBlocks.ts"

/**
 * The last of a client's rows that was booked before a moment, found by halving: ids are given in the order of booking. `rows`
 * yields the first row with an id above `mid` up to `high` as (id, ts).
 */
const lastBefore = (name: string, newest: string, above: string) => `
  CREATE FUNCTION ${name}(of_client bigint, moment bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
    DECLARE
      low bigint := 0;
      high bigint;
      mid bigint;
      found_id bigint;
      found_ts bigint;
    BEGIN
      ${newest}
      high := coalesce(high, 0);
      WHILE low < high LOOP
        mid := (low + high) / 2;
        found_id := NULL;
        ${above}
        IF found_id IS NOT NULL AND found_ts < moment THEN low := found_id; ELSE high := mid; END IF;
      END LOOP;
      RETURN low;
    END $$`

export const m0041 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const kind of ["statement", "statementModel"] as const) {
    yield* sql.unsafe(
      `CREATE SEQUENCE IF NOT EXISTS ${idSequenceOf(kind)} AS bigint INCREMENT BY ${idBlockSize(kind)} START 1`
    )
  }
  yield* sql`CREATE TABLE statements (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    kind text NOT NULL,
    period_from bigint NOT NULL,
    period_to bigint NOT NULL,
    number bigint NOT NULL,
    model_id bigint NOT NULL,
    generated_at bigint NOT NULL)`
  yield* sql`CREATE INDEX statements_client ON statements (client_id, id)`
  yield* sql`CREATE INDEX statements_period ON statements (client_id, kind, period_from, period_to, number)`
  yield* sql`CREATE INDEX statements_model ON statements (model_id)`
  yield* sql`CREATE TABLE statement_models (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    sha256 text NOT NULL UNIQUE,
    size bigint NOT NULL,
    pieces bigint NOT NULL,
    counts json NOT NULL,
    stored_at bigint NOT NULL)`
  yield* sql`CREATE INDEX statement_models_stored ON statement_models (stored_at)`
  yield* sql`CREATE TABLE statement_pieces (
    model_id bigint NOT NULL,
    number bigint NOT NULL,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    section bigint NOT NULL,
    content bytea NOT NULL,
    stored_at bigint NOT NULL,
    PRIMARY KEY (model_id, number))`
  yield* sql`ALTER TABLE statement_pieces ALTER COLUMN content SET STORAGE EXTERNAL`
  yield* sql`CREATE INDEX statement_pieces_first ON statement_pieces (stored_at) WHERE number = 0`
  // A statement names the seal of its last posting.
  yield* sql`CREATE INDEX seals_posting ON seals (posting_to)`
  yield* sql`ALTER TABLE fills ADD COLUMN booked_at bigint`
  yield* sql`UPDATE fills f SET booked_at = coalesce((SELECT max(t.ts) FROM ledger_transactions t WHERE t.key IN (
    'commission:' || f.order_id || ':' || f.trade_id, 'pnl:' || f.order_id || ':' || f.trade_id,
    'spot:' || f.order_id || ':' || f.trade_id)), f.ts)`
  yield* sql`ALTER TABLE fills ALTER COLUMN booked_at SET NOT NULL`
  yield* sql.unsafe(
    lastBefore(
      "last_posting_before",
      "SELECT posting_id INTO high FROM postings WHERE client_id = of_client ORDER BY posting_id DESC LIMIT 1;",
      `SELECT p.posting_id, t.ts INTO found_id, found_ts FROM postings p JOIN ledger_transactions t USING (tx_id)
          WHERE p.client_id = of_client AND p.posting_id > mid AND p.posting_id <= high ORDER BY p.posting_id LIMIT 1;`
    )
  )
  yield* sql.unsafe(
    lastBefore(
      "last_fill_before",
      "SELECT id INTO high FROM fills WHERE client_id = of_client ORDER BY id DESC LIMIT 1;",
      `SELECT id, booked_at INTO found_id, found_ts FROM fills
          WHERE client_id = of_client AND id > mid AND id <= high ORDER BY id LIMIT 1;`
    )
  )
  yield* sql.unsafe(
    lastBefore(
      "last_swap_before",
      "SELECT id INTO high FROM swaps WHERE client_id = of_client ORDER BY id DESC LIMIT 1;",
      `SELECT id, created_at INTO found_id, found_ts FROM swaps
          WHERE client_id = of_client AND id > mid AND id <= high ORDER BY id LIMIT 1;`
    )
  )
  yield* sql.unsafe(
    lastBefore(
      "last_contract_before",
      "SELECT id INTO high FROM barrier_contracts WHERE client_id = of_client ORDER BY id DESC LIMIT 1;",
      `SELECT c.id, t.ts INTO found_id, found_ts FROM barrier_contracts c
           JOIN ledger_transactions t ON t.key = 'commission:contract:' || c.id
          WHERE c.client_id = of_client AND c.id > mid AND c.id <= high ORDER BY c.id LIMIT 1;`
    )
  )
})
