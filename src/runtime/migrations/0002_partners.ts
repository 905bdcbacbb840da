/** Partners, their reliance and keys, the operator's keys, approvals and the audit stream. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { insertOnly } from "./0001_engine.ts"

export const m0002 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE partners (
    id bigint PRIMARY KEY,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    code text NOT NULL UNIQUE,
    name text NOT NULL,
    legal_name text NOT NULL,
    country text NOT NULL,
    licence text NOT NULL,
    sandbox boolean NOT NULL,
    custody_model text NOT NULL CHECK (custody_model IN ('BROKER', 'PARTNER')),
    collateral_asset text NOT NULL,
    uid_prefix text NOT NULL UNIQUE,
    read_per_minute bigint NOT NULL CHECK (read_per_minute BETWEEN 1 AND 1000000000),
    trade_per_minute bigint NOT NULL CHECK (trade_per_minute BETWEEN 1 AND 1000000000),
    allowed_cidrs json NOT NULL,
    epoch bigint NOT NULL,
    created_at bigint NOT NULL)`
  yield* sql`CREATE TABLE reliances (
    partner_id bigint PRIMARY KEY,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL)`
  yield* sql`CREATE TABLE api_keys (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    hash text NOT NULL UNIQUE,
    prefix text NOT NULL,
    label text NOT NULL,
    scope text NOT NULL CHECK (scope IN ('READ', 'TRADE')),
    created_at bigint NOT NULL)`
  yield* sql`CREATE INDEX api_keys_partner ON api_keys (partner_id)`
  // Written outside the journal at most once a minute a key: a convenience for people, not state.
  yield* sql`CREATE TABLE key_usage (key_id bigint PRIMARY KEY, last_used_at bigint NOT NULL)`
  yield* sql`CREATE TABLE operator_keys (
    id bigint PRIMARY KEY,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    hash text NOT NULL UNIQUE,
    prefix text NOT NULL,
    label text NOT NULL,
    role text NOT NULL CHECK (role IN ('ADMIN', 'FINANCE', 'COMPLIANCE', 'SUPPORT')),
    created_at bigint NOT NULL)`
  yield* sql`CREATE TABLE approvals (
    id bigint PRIMARY KEY,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    command text NOT NULL,
    args json NOT NULL,
    requested_by bigint NOT NULL,
    requested_at bigint NOT NULL)`
  yield* sql`CREATE TABLE audit (
    id bigint PRIMARY KEY,
    ts bigint NOT NULL,
    role text NOT NULL,
    key_label text NOT NULL,
    request_id text NOT NULL,
    partner_id bigint,
    client_id bigint,
    object text,
    action text NOT NULL,
    before text,
    after text,
    reason text,
    hash text NOT NULL)`
  yield* sql`CREATE INDEX audit_client ON audit (client_id, id) WHERE client_id IS NOT NULL`
  yield* sql`CREATE INDEX audit_partner ON audit (partner_id, id) WHERE partner_id IS NOT NULL`
  yield* insertOnly("audit")
})
