/**
 * Interfirm settlement records; the parts of bulk reports that are done already; and totals per day of settlement items
 * and of what clients own, so that no summary reads every row (doc 3, Settlement summary, Interfirm settlement
 * record, Settlement reporting rules; A3-22). The totals of items are kept by triggers of the very statements that write
 * the rows, those of postings by the journal's batches, so both are right at every commit. The journal has one writer: nobody waits for a total's row lock.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idBlockSize, idSequenceOf } from "../engine/journal/IdBlocks.ts"
import { insertOnly } from "./0001_engine.ts"

/** Milliseconds of a totals row. Fixed for ever: rows are stored under it. */
const dayMillis = 86_400_000

/** Adds (`sign` 1) or takes away (-1) the rows of a transition table. */
const countItems = (rows: string, sign: 1 | -1): string =>
  `INSERT INTO settlement_totals AS t (partner_id, state, day, items, credits, debits)
   SELECT partner_id, state, occurred_at / ${dayMillis}, ${sign} * count(*),
          ${sign} * coalesce(sum(amount) FILTER (WHERE amount > 0), 0), ${sign} * coalesce(-sum(amount) FILTER (WHERE amount < 0), 0)
     FROM ${rows} GROUP BY 1, 2, 3
   ON CONFLICT (partner_id, state, day) DO UPDATE
      SET items = t.items + EXCLUDED.items, credits = t.credits + EXCLUDED.credits, debits = t.debits + EXCLUDED.debits;`

/** The postings there are; later ones are added by the journal (engine/PostingTotals). */
const sumPostings = `INSERT INTO posting_totals (partner_id, currency, type, day, amount)
   SELECT p.partner_id, p.currency, l.type, l.ts / ${dayMillis}, sum(p.amount)
     FROM postings p JOIN ledger_transactions l USING (tx_id) WHERE p.client_id IS NOT NULL GROUP BY 1, 2, 3, 4`

export const m0016 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(
    `CREATE SEQUENCE IF NOT EXISTS ${idSequenceOf("interfirm")} AS bigint INCREMENT BY ${idBlockSize("interfirm")} START 1`
  )
  yield* sql`CREATE TABLE interfirm_records (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    currency text NOT NULL,
    period_from bigint NOT NULL,
    period_to bigint NOT NULL,
    amount bigint NOT NULL CHECK (amount <> 0),
    tx_ref text NOT NULL,
    note text,
    recorded_by text NOT NULL,
    recorded_at bigint NOT NULL,
    CHECK (period_from >= 0 AND period_from <= period_to),
    UNIQUE (partner_id, tx_ref))`
  yield* sql`CREATE INDEX interfirm_records_partner ON interfirm_records (partner_id, id DESC)`
  yield* insertOnly("interfirm_records")

  yield* sql`CREATE TABLE bulk_report_parts (
    partner_id bigint NOT NULL,
    key text NOT NULL,
    client_id bigint NOT NULL,
    fingerprint text NOT NULL,
    results json NOT NULL,
    decided_at bigint NOT NULL,
    PRIMARY KEY (partner_id, key, client_id))`
  yield* sql`CREATE INDEX bulk_report_parts_age ON bulk_report_parts (decided_at)`

  // Sums of many 64-bit amounts may leave 64 bits, so totals are numeric.
  yield* sql`CREATE TABLE settlement_totals (
    partner_id bigint NOT NULL,
    state text NOT NULL,
    day bigint NOT NULL,
    items bigint NOT NULL,
    credits numeric NOT NULL,
    debits numeric NOT NULL,
    PRIMARY KEY (partner_id, state, day)) WITH (fillfactor = 70)`
  yield* sql`CREATE TABLE posting_totals (
    partner_id bigint NOT NULL,
    currency text NOT NULL,
    type text NOT NULL,
    day bigint NOT NULL,
    amount numeric NOT NULL,
    PRIMARY KEY (partner_id, currency, type, day)) WITH (fillfactor = 70)`
  yield* sql.unsafe(countItems("settlement_items", 1))
  yield* sql.unsafe(sumPostings)

  const trigger = (table: string, event: string, referencing: string, body: string) =>
    Effect.gen(function* () {
      const name = `${table}_total_${event.toLowerCase()}`
      yield* sql.unsafe(
        `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NULL; END $$`
      )
      yield* sql.unsafe(
        `CREATE TRIGGER ${name} AFTER ${event} ON ${table} ${referencing} FOR EACH STATEMENT EXECUTE FUNCTION ${name}()`
      )
      yield* sql.unsafe(`ALTER TABLE ${table} ENABLE ALWAYS TRIGGER ${name}`)
    })
  yield* trigger("settlement_items", "INSERT", "REFERENCING NEW TABLE AS added", countItems("added", 1))
  yield* trigger(
    "settlement_items",
    "UPDATE",
    "REFERENCING OLD TABLE AS gone NEW TABLE AS added",
    `${countItems("gone", -1)} ${countItems("added", 1)}`
  )
  yield* trigger("settlement_items", "DELETE", "REFERENCING OLD TABLE AS gone", countItems("gone", -1))
  yield* trigger("settlement_items", "TRUNCATE", "", "TRUNCATE settlement_totals;")

  // For the part of a day: time and transaction ids only grow, so these cost next to nothing to keep.
  yield* sql`CREATE INDEX ledger_transactions_time ON ledger_transactions USING brin (ts) WITH (pages_per_range = 32, autosummarize = on)`
  yield* sql`CREATE INDEX postings_transaction ON postings USING brin (tx_id) WITH (pages_per_range = 32, autosummarize = on)`
})
