/**
 * Double entry: transactions and postings are insert-only, every transaction sums to zero per currency (checked by a
 * statement trigger over the rows just inserted), balances of clients are rows that the same commits maintain.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { insertOnly } from "./0001_engine.ts"

export const m0004 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE ledger_transactions (
    tx_id bigint PRIMARY KEY,
    key text NOT NULL UNIQUE,
    type text NOT NULL,
    actor text NOT NULL,
    reason text,
    client_id bigint,
    partner_id bigint NOT NULL,
    refs json NOT NULL,
    ts bigint NOT NULL)`
  yield* sql`CREATE TABLE postings (
    posting_id bigint PRIMARY KEY,
    tx_id bigint NOT NULL,
    account text NOT NULL,
    client_id bigint,
    partner_id bigint NOT NULL,
    currency text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('cash', 'reserved')),
    amount bigint NOT NULL)`
  yield* sql`CREATE INDEX postings_client ON postings (client_id, posting_id DESC) WHERE client_id IS NOT NULL`
  yield* insertOnly("ledger_transactions")
  yield* insertOnly("postings")
  // Every posting of a transaction is inserted by one statement, so the inserted rows are all there is to sum.
  yield* sql.unsafe(`CREATE FUNCTION postings_balance() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE bad record;
    BEGIN
      SELECT tx_id, currency, sum(amount) AS total INTO bad
        FROM inserted GROUP BY tx_id, currency HAVING sum(amount) <> 0 LIMIT 1;
      IF FOUND THEN
        RAISE EXCEPTION 'ledger transaction % does not balance in %: %', bad.tx_id, bad.currency, bad.total
          USING ERRCODE = '23514';
      END IF;
      RETURN NULL;
    END $$`)
  yield* sql.unsafe(`CREATE TRIGGER postings_balance AFTER INSERT ON postings
    REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION postings_balance()`)
  yield* sql.unsafe(`ALTER TABLE postings ENABLE ALWAYS TRIGGER postings_balance`)
  yield* sql`CREATE TABLE balances (
    client_id bigint NOT NULL,
    currency text NOT NULL,
    partner_id bigint NOT NULL,
    cash bigint NOT NULL,
    reserved bigint NOT NULL CHECK (reserved >= 0),
    deposited bigint NOT NULL CHECK (deposited >= 0),
    PRIMARY KEY (client_id, currency)) WITH (fillfactor = 70)`
  yield* sql`CREATE INDEX balances_partner ON balances (partner_id, currency) INCLUDE (client_id)`
  yield* sql`CREATE TABLE collateral_reports (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    shard bigint NOT NULL,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    created_at bigint NOT NULL)`
  yield* sql`CREATE INDEX collateral_reports_client ON collateral_reports (client_id, id DESC)`
  yield* sql`CREATE INDEX collateral_reports_partner ON collateral_reports (partner_id, id DESC)`
})
