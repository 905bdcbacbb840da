/**
 * Statements that the service makes by itself (STS-28, STS-29): jobs with their cursors, clients that failed, daily equities. The
 * clients of a night are found by ids: those of fills between two that are found by halving, of other executions by an index of
 * them alone, which costs the transactions of trades nothing.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idBlockSize, idSequenceOf } from "../engine/journal/IdBlocks.ts"

/** The last of all rows that was booked before a moment, by halving ids, which are given in the order of booking. */
const lastOfAll = (name: string, newest: string, above: string) => `
  CREATE FUNCTION ${name}(moment bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
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

/**
 * As the function of 0041 that it calls, near a row that is known to lie about there: two looks where the hint is right, and the
 * same answer where it is not.
 */
const lastNear = (name: string, exact: string, upTo: string, behind: string) => `
  CREATE FUNCTION ${name}(of_client bigint, moment bigint, hint bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
    DECLARE
      at_id bigint;
      at_ts bigint;
      next_ts bigint;
    BEGIN
      ${upTo}
      IF at_id IS NOT NULL AND at_ts >= moment THEN RETURN ${exact}(of_client, moment); END IF;
      ${behind}
      IF next_ts IS NOT NULL AND next_ts < moment THEN RETURN ${exact}(of_client, moment); END IF;
      RETURN coalesce(at_id, 0);
    END $$`

export const m0043 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const kind of ["statementJob", "statementJobFailure"] as const) {
    yield* sql.unsafe(
      `CREATE SEQUENCE IF NOT EXISTS ${idSequenceOf(kind)} AS bigint INCREMENT BY ${idBlockSize(kind)} START 1`
    )
  }
  yield* sql`CREATE TABLE statement_jobs (
    id bigint PRIMARY KEY,
    name text NOT NULL,
    period_from bigint NOT NULL,
    period_to bigint NOT NULL,
    due_at bigint NOT NULL,
    cursor bigint NOT NULL,
    clients bigint NOT NULL,
    made bigint NOT NULL,
    started_at bigint NOT NULL,
    ended_at bigint,
    UNIQUE (name, period_from, period_to))`
  yield* sql`CREATE INDEX statement_jobs_name ON statement_jobs (name, id)`
  yield* sql`CREATE INDEX statement_jobs_open ON statement_jobs (id) WHERE ended_at IS NULL`
  // A write-off moves no money: no posting tells the night of it.
  yield* sql`CREATE INDEX swaps_written_off ON swaps (client_id) WHERE json_array_length(context -> 'writeOffs') > 0`
  yield* sql`CREATE TABLE statement_job_failures (
    id bigint PRIMARY KEY,
    job_id bigint NOT NULL,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    state text NOT NULL,
    tries bigint NOT NULL,
    retry_at bigint NOT NULL,
    reason text NOT NULL,
    failed_at bigint NOT NULL,
    UNIQUE (job_id, client_id))`
  yield* sql`CREATE INDEX statement_job_failures_open ON statement_job_failures (retry_at) WHERE state = 'OPEN'`
  // By day first: a night appends.
  yield* sql`CREATE TABLE daily_equities (
    day bigint NOT NULL,
    client_id bigint NOT NULL,
    partner_id bigint NOT NULL,
    equity bigint NOT NULL,
    PRIMARY KEY (day, client_id))`
  yield* sql`CREATE INDEX ledger_transactions_executions ON ledger_transactions (ts, client_id)
    WHERE type IN ('BARRIER_SETTLE', 'SWAP_PRINCIPAL', 'SWAP_SETTLE') OR key LIKE 'commission:contract:%'`
  yield* sql.unsafe(
    lastOfAll(
      "last_posting_of_all_before",
      "SELECT max(posting_id) INTO high FROM postings;",
      `SELECT p.posting_id, t.ts INTO found_id, found_ts FROM postings p JOIN ledger_transactions t USING (tx_id)
          WHERE p.posting_id > mid AND p.posting_id <= high ORDER BY p.posting_id LIMIT 1;`
    )
  )
  yield* sql.unsafe(
    lastOfAll(
      "last_fill_of_all_before",
      "SELECT max(id) INTO high FROM fills;",
      `SELECT id, booked_at INTO found_id, found_ts FROM fills WHERE id > mid AND id <= high ORDER BY id LIMIT 1;`
    )
  )
  yield* sql.unsafe(
    lastNear(
      "last_posting_near",
      "last_posting_before",
      `SELECT p.posting_id, t.ts INTO at_id, at_ts FROM postings p JOIN ledger_transactions t USING (tx_id)
          WHERE p.client_id = of_client AND p.posting_id <= hint ORDER BY p.posting_id DESC LIMIT 1;`,
      `SELECT t.ts INTO next_ts FROM postings p JOIN ledger_transactions t USING (tx_id)
          WHERE p.client_id = of_client AND p.posting_id > hint ORDER BY p.posting_id LIMIT 1;`
    )
  )
  yield* sql.unsafe(
    lastNear(
      "last_fill_near",
      "last_fill_before",
      `SELECT id, booked_at INTO at_id, at_ts FROM fills
          WHERE client_id = of_client AND id <= hint ORDER BY id DESC LIMIT 1;`,
      `SELECT booked_at INTO next_ts FROM fills WHERE client_id = of_client AND id > hint ORDER BY id LIMIT 1;`
    )
  )
})
