/** Writer epoch, commit tokens, claims, stored answers, timers, ids and the guard of the batch statement. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idBlockSize, idSequenceOf } from "../engine/journal/IdBlocks.ts"
import type { IdKind } from "../store/Catalogue.ts"

/**
 * What ids were given for in the first schema. Later kinds bring their sequence in a migration of their own: created here
 * as well, it would be there in a new database and in no older one.
 */
const firstKinds: ReadonlyArray<IdKind> = [
  "partner",
  "key",
  "operatorKey",
  "approval",
  "client",
  "decision",
  "package",
  "session",
  "screeningRun",
  "watchEntry",
  "case",
  "collateral",
  "transaction",
  "posting",
  "delivery",
  "notification",
  "audit"
]

export const m0001 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE service_stamp (
    id smallint PRIMARY KEY CHECK (id = 1),
    sandbox boolean NOT NULL,
    clock_offset bigint NOT NULL DEFAULT 0 CHECK (clock_offset >= 0),
    canary bytea NOT NULL,
    created_at bigint NOT NULL)`
  yield* sql`CREATE TABLE writer (
    id smallint PRIMARY KEY CHECK (id = 1),
    epoch bigint NOT NULL,
    batch bigint NOT NULL,
    owner text NOT NULL) WITH (fillfactor = 10)`
  yield* sql`INSERT INTO writer (id, epoch, batch, owner) VALUES (1, 0, 0, 'nobody')`
  yield* sql`CREATE TABLE subjects (
    subject text PRIMARY KEY,
    token bigint NOT NULL) WITH (fillfactor = 70)`
  yield* sql`CREATE TABLE claims (
    name text PRIMARY KEY,
    owner bigint NOT NULL)`
  yield* sql`CREATE TABLE timers (
    subject text NOT NULL,
    name text NOT NULL,
    due_at bigint NOT NULL,
    PRIMARY KEY (subject, name))`
  yield* sql`CREATE INDEX timers_due ON timers (due_at)`
  yield* sql`CREATE TABLE answers (
    partner_id bigint NOT NULL,
    key text NOT NULL,
    fingerprint text NOT NULL,
    status bigint NOT NULL,
    body bytea NOT NULL,
    answered_at bigint NOT NULL,
    PRIMARY KEY (partner_id, key))`
  yield* sql`CREATE INDEX answers_age ON answers USING brin (answered_at) WITH (autosummarize = on)`
  for (const kind of firstKinds) {
    yield* sql.unsafe(`CREATE SEQUENCE ${idSequenceOf(kind)} AS bigint INCREMENT BY ${idBlockSize(kind)} START 1`)
  }
  // Counts compared inside the batch statement: a mismatch undoes the whole batch.
  yield* sql.unsafe(`CREATE FUNCTION journal_guard(written bigint, expected bigint, what text) RETURNS boolean
    LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
      IF written <> expected THEN
        RAISE EXCEPTION 'journal guard %: % of %', what, written, expected USING ERRCODE = 'BJ001';
      END IF;
      RETURN true;
    END $$`)
  yield* sql.unsafe(`CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'BJ002';
    END $$`)
})

/** Rows of the table can't be updated, deleted or truncated by any role. */
export const insertOnly = (table: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql.unsafe(
      `CREATE TRIGGER ${table}_insert_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`
    )
    yield* sql.unsafe(`ALTER TABLE ${table} ENABLE ALWAYS TRIGGER ${table}_insert_only`)
  })
