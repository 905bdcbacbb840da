/** Clients, verification blocks, KYC packages, screening, compliance cases and what onboarding stores beside them. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { insertOnly } from "./0001_engine.ts"

export const m0003 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE clients (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    shard bigint NOT NULL,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    uid text NOT NULL UNIQUE,
    partner_client_ref text NOT NULL,
    email text NOT NULL,
    display_name text NOT NULL,
    level text NOT NULL,
    categorization text NOT NULL,
    residency_country text NOT NULL,
    onboarding_source text NOT NULL,
    person_key text NOT NULL,
    created_at bigint NOT NULL,
    UNIQUE (partner_id, partner_client_ref))`
  yield* sql`CREATE INDEX clients_partner ON clients (partner_id, id DESC)`
  yield* sql`CREATE INDEX clients_person ON clients (person_key)`
  yield* sql`CREATE TABLE verification_blocks (
    client_id bigint NOT NULL,
    code text NOT NULL,
    partner_id bigint NOT NULL,
    shard bigint NOT NULL,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    PRIMARY KEY (client_id, code))`
  yield* sql`CREATE TABLE block_payloads (
    client_id bigint NOT NULL,
    code text NOT NULL,
    partner_id bigint NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (client_id, code))`
  yield* sql`CREATE TABLE kyc_packages (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL UNIQUE,
    shard bigint NOT NULL,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    received_at bigint NOT NULL)`
  yield* sql`CREATE INDEX kyc_packages_review ON kyc_packages (partner_id) WHERE state IN ('SPOT_CHECK', 'DOCUMENTS_REQUESTED')`
  yield* sql`CREATE TABLE kyc_revisions (
    package_id bigint NOT NULL,
    revision bigint NOT NULL,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    payload bytea NOT NULL,
    attestation bytea NOT NULL,
    received_at bigint NOT NULL,
    PRIMARY KEY (package_id, revision))`
  yield* sql`CREATE TABLE identity_sessions (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    provider text NOT NULL,
    status text NOT NULL,
    data bytea NOT NULL,
    created_at bigint NOT NULL)`
  yield* sql`CREATE INDEX identity_sessions_client ON identity_sessions (client_id, id)`
  yield* sql`CREATE TABLE reporting_records (
    client_id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    from_revision bigint NOT NULL,
    complete boolean NOT NULL,
    record bytea NOT NULL,
    built_at bigint NOT NULL)`
  yield* sql`CREATE TABLE screening_runs (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    trigger text NOT NULL,
    outcome text NOT NULL,
    list_version bigint NOT NULL,
    candidates json NOT NULL,
    ran_at bigint NOT NULL)`
  yield* sql`CREATE INDEX screening_runs_client ON screening_runs (client_id, id)`
  yield* sql`CREATE TABLE watch_entries (
    id bigint PRIMARY KEY,
    list text NOT NULL CHECK (list IN ('SANCTIONS', 'PEP')),
    name text NOT NULL,
    dob text,
    country text,
    source text NOT NULL,
    added_at bigint NOT NULL,
    removed_at bigint)`
  yield* sql`CREATE TABLE dispositions (
    client_id bigint NOT NULL,
    entry_id bigint NOT NULL,
    partner_id bigint NOT NULL,
    disposition text NOT NULL,
    decided_at bigint NOT NULL,
    decided_by text NOT NULL,
    PRIMARY KEY (client_id, entry_id))`
  yield* sql`CREATE TABLE decisions (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    decision text NOT NULL,
    reason text NOT NULL,
    decided_by text NOT NULL,
    decided_at bigint NOT NULL)`
  yield* sql`CREATE INDEX decisions_client ON decisions (client_id, id)`
  yield* insertOnly("decisions")
  yield* sql`CREATE TABLE cases (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    shard bigint NOT NULL,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    reason text NOT NULL,
    details json NOT NULL,
    opened_at bigint NOT NULL,
    closed_at bigint)`
  yield* sql`CREATE INDEX cases_client ON cases (client_id, id)`
})
