/**
 * Appropriateness: a client's assessment, its attempts with the sealed answers, and the questionnaires the operator has
 * published. Version 1 is in the program and has no row (F24, A1-39).
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { insertOnly } from "./0001_engine.ts"

export const m0010 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE assessments (
    client_id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    shard bigint NOT NULL,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL)`
  yield* sql`CREATE TABLE assessment_attempts (
    client_id bigint NOT NULL,
    attempt bigint NOT NULL,
    partner_id bigint NOT NULL,
    questionnaire bigint NOT NULL,
    outcome text NOT NULL,
    score bigint NOT NULL,
    answers bytea NOT NULL,
    taken_at bigint NOT NULL,
    PRIMARY KEY (client_id, attempt))`
  yield* sql`CREATE TABLE questionnaires (
    version bigint PRIMARY KEY,
    content json NOT NULL,
    published_at bigint NOT NULL)`
  yield* insertOnly("questionnaires")
})
