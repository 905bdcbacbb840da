-- The schema of migration 63, which a new database begins with. Never changed: a change of the schema is a migration of its own.

CREATE SEQUENCE id_approval AS bigint START 1 INCREMENT 16;
CREATE SEQUENCE id_audit AS bigint START 1 INCREMENT 8192;
CREATE SEQUENCE id_barrier_contract AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_case AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_client AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_close_out AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_collateral AS bigint START 1 INCREMENT 8192;
CREATE SEQUENCE id_decision AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_delivery AS bigint START 1 INCREMENT 8192;
CREATE SEQUENCE id_deposit AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_document AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_fill AS bigint START 1 INCREMENT 8192;
CREATE SEQUENCE id_interfirm AS bigint START 1 INCREMENT 16;
CREATE SEQUENCE id_key AS bigint START 1 INCREMENT 16;
CREATE SEQUENCE id_notification AS bigint START 1 INCREMENT 8192;
CREATE SEQUENCE id_open_funding AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_operator_key AS bigint START 1 INCREMENT 16;
CREATE SEQUENCE id_order AS bigint START 1 INCREMENT 8192;
CREATE SEQUENCE id_package AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_partner AS bigint START 1 INCREMENT 16;
CREATE SEQUENCE id_position AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_posting AS bigint START 1 INCREMENT 8192;
CREATE SEQUENCE id_recon_break AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_rfq AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_screening_pass AS bigint START 1 INCREMENT 16;
CREATE SEQUENCE id_screening_run AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_session AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_settlement_item AS bigint START 1 INCREMENT 8192;
CREATE SEQUENCE id_spot_lot AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_statement AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_statement_job AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_statement_job_failure AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_statement_model AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_swap AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_trading_halt AS bigint START 1 INCREMENT 16;
CREATE SEQUENCE id_transaction AS bigint START 1 INCREMENT 8192;
CREATE SEQUENCE id_venue_misfit AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_venue_probe AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_venue_quarantine AS bigint START 1 INCREMENT 512;
CREATE SEQUENCE id_watch_entry AS bigint START 1 INCREMENT 8192;
CREATE SEQUENCE id_watch_import AS bigint START 1 INCREMENT 16;
CREATE SEQUENCE id_withdrawal AS bigint START 1 INCREMENT 512;

CREATE OR REPLACE FUNCTION end_deliveries(closed bigint, at bigint, most bigint)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
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
             context = (d.context::jsonb || '{"error": "The partner is closed.", "nextAt": null}')::json
        FROM locked l WHERE d.id = l.id;
      GET DIAGNOSTICS ended = ROW_COUNT;
      RETURN ended;
    END $function$;

CREATE OR REPLACE FUNCTION journal_guard(written bigint, expected bigint, what text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
    BEGIN
      IF written <> expected THEN
        RAISE EXCEPTION 'journal guard %: % of %', what, written, expected USING ERRCODE = 'BJ001';
      END IF;
      RETURN true;
    END $function$;

CREATE OR REPLACE FUNCTION last_contract_before(of_client bigint, moment bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
    DECLARE
      low bigint := 0;
      high bigint;
      mid bigint;
      found_id bigint;
      found_ts bigint;
    BEGIN
      SELECT id INTO high FROM barrier_contracts WHERE client_id = of_client ORDER BY id DESC LIMIT 1;
      high := coalesce(high, 0);
      WHILE low < high LOOP
        mid := (low + high) / 2;
        found_id := NULL;
        SELECT c.id, t.ts INTO found_id, found_ts FROM barrier_contracts c
           JOIN ledger_transactions t ON t.key = 'commission:contract:' || c.id
          WHERE c.client_id = of_client AND c.id > mid AND c.id <= high ORDER BY c.id LIMIT 1;
        IF found_id IS NOT NULL AND found_ts < moment THEN low := found_id; ELSE high := mid; END IF;
      END LOOP;
      RETURN low;
    END $function$;

CREATE OR REPLACE FUNCTION last_fill_before(of_client bigint, moment bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
    DECLARE
      low bigint := 0;
      high bigint;
      mid bigint;
      found_id bigint;
      found_ts bigint;
    BEGIN
      SELECT id INTO high FROM fills WHERE client_id = of_client ORDER BY id DESC LIMIT 1;
      high := coalesce(high, 0);
      WHILE low < high LOOP
        mid := (low + high) / 2;
        found_id := NULL;
        SELECT id, booked_at INTO found_id, found_ts FROM fills
          WHERE client_id = of_client AND id > mid AND id <= high ORDER BY id LIMIT 1;
        IF found_id IS NOT NULL AND found_ts < moment THEN low := found_id; ELSE high := mid; END IF;
      END LOOP;
      RETURN low;
    END $function$;

CREATE OR REPLACE FUNCTION last_fill_of_all_before(moment bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
    DECLARE
      low bigint := 0;
      high bigint;
      mid bigint;
      found_id bigint;
      found_ts bigint;
    BEGIN
      SELECT max(id) INTO high FROM fills;
      high := coalesce(high, 0);
      WHILE low < high LOOP
        mid := (low + high) / 2;
        found_id := NULL;
        SELECT id, booked_at INTO found_id, found_ts FROM fills WHERE id > mid AND id <= high ORDER BY id LIMIT 1;
        IF found_id IS NOT NULL AND found_ts < moment THEN low := found_id; ELSE high := mid; END IF;
      END LOOP;
      RETURN low;
    END $function$;

CREATE OR REPLACE FUNCTION last_posting_before(of_client bigint, moment bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
    DECLARE
      low bigint := 0;
      high bigint;
      mid bigint;
      found_id bigint;
      found_ts bigint;
    BEGIN
      SELECT posting_id INTO high FROM postings WHERE client_id = of_client ORDER BY posting_id DESC LIMIT 1;
      high := coalesce(high, 0);
      WHILE low < high LOOP
        mid := (low + high) / 2;
        found_id := NULL;
        SELECT p.posting_id, t.ts INTO found_id, found_ts FROM postings p JOIN ledger_transactions t USING (tx_id)
          WHERE p.client_id = of_client AND p.posting_id > mid AND p.posting_id <= high ORDER BY p.posting_id LIMIT 1;
        IF found_id IS NOT NULL AND found_ts < moment THEN low := found_id; ELSE high := mid; END IF;
      END LOOP;
      RETURN low;
    END $function$;

CREATE OR REPLACE FUNCTION last_posting_of_all_before(moment bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
    DECLARE
      low bigint := 0;
      high bigint;
      mid bigint;
      found_id bigint;
      found_ts bigint;
    BEGIN
      SELECT max(posting_id) INTO high FROM postings;
      high := coalesce(high, 0);
      WHILE low < high LOOP
        mid := (low + high) / 2;
        found_id := NULL;
        SELECT p.posting_id, t.ts INTO found_id, found_ts FROM postings p JOIN ledger_transactions t USING (tx_id)
          WHERE p.posting_id > mid AND p.posting_id <= high ORDER BY p.posting_id LIMIT 1;
        IF found_id IS NOT NULL AND found_ts < moment THEN low := found_id; ELSE high := mid; END IF;
      END LOOP;
      RETURN low;
    END $function$;

CREATE OR REPLACE FUNCTION last_swap_before(of_client bigint, moment bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
    DECLARE
      low bigint := 0;
      high bigint;
      mid bigint;
      found_id bigint;
      found_ts bigint;
    BEGIN
      SELECT id INTO high FROM swaps WHERE client_id = of_client ORDER BY id DESC LIMIT 1;
      high := coalesce(high, 0);
      WHILE low < high LOOP
        mid := (low + high) / 2;
        found_id := NULL;
        SELECT id, created_at INTO found_id, found_ts FROM swaps
          WHERE client_id = of_client AND id > mid AND id <= high ORDER BY id LIMIT 1;
        IF found_id IS NOT NULL AND found_ts < moment THEN low := found_id; ELSE high := mid; END IF;
      END LOOP;
      RETURN low;
    END $function$;

CREATE OR REPLACE FUNCTION partner_closed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    BEGIN
      PERFORM end_deliveries(NEW.id, (NEW.context ->> 'changedAt')::bigint, 20000);
      RETURN NULL;
    END $function$;

CREATE OR REPLACE FUNCTION postings_balance()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    DECLARE bad record;
    BEGIN
      SELECT tx_id, currency, sum(amount) AS total INTO bad
        FROM inserted GROUP BY tx_id, currency HAVING sum(amount) <> 0 LIMIT 1;
      IF FOUND THEN
        RAISE EXCEPTION 'ledger transaction % does not balance in %: %', bad.tx_id, bad.currency, bad.total
          USING ERRCODE = '23514';
      END IF;
      RETURN NULL;
    END $function$;

CREATE OR REPLACE FUNCTION refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    BEGIN
      RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'BJ002';
    END $function$;

CREATE OR REPLACE FUNCTION settlement_items_total_delete()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$ BEGIN INSERT INTO settlement_totals AS t (partner_id, state, day, items, credits, debits)
   SELECT partner_id, state, occurred_at / 86400000, -1 * count(*),
          -1 * coalesce(sum(amount) FILTER (WHERE amount > 0), 0), -1 * coalesce(-sum(amount) FILTER (WHERE amount < 0), 0)
     FROM gone GROUP BY 1, 2, 3
   ON CONFLICT (partner_id, state, day) DO UPDATE
      SET items = t.items + EXCLUDED.items, credits = t.credits + EXCLUDED.credits, debits = t.debits + EXCLUDED.debits; RETURN NULL; END $function$;

CREATE OR REPLACE FUNCTION settlement_items_total_insert()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$ BEGIN INSERT INTO settlement_totals AS t (partner_id, state, day, items, credits, debits)
   SELECT partner_id, state, occurred_at / 86400000, 1 * count(*),
          1 * coalesce(sum(amount) FILTER (WHERE amount > 0), 0), 1 * coalesce(-sum(amount) FILTER (WHERE amount < 0), 0)
     FROM added GROUP BY 1, 2, 3
   ON CONFLICT (partner_id, state, day) DO UPDATE
      SET items = t.items + EXCLUDED.items, credits = t.credits + EXCLUDED.credits, debits = t.debits + EXCLUDED.debits; RETURN NULL; END $function$;

CREATE OR REPLACE FUNCTION settlement_items_total_truncate()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$ BEGIN TRUNCATE settlement_totals; RETURN NULL; END $function$;

CREATE OR REPLACE FUNCTION settlement_items_total_update()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$ BEGIN INSERT INTO settlement_totals AS t (partner_id, state, day, items, credits, debits)
   SELECT partner_id, state, occurred_at / 86400000, -1 * count(*),
          -1 * coalesce(sum(amount) FILTER (WHERE amount > 0), 0), -1 * coalesce(-sum(amount) FILTER (WHERE amount < 0), 0)
     FROM gone GROUP BY 1, 2, 3
   ON CONFLICT (partner_id, state, day) DO UPDATE
      SET items = t.items + EXCLUDED.items, credits = t.credits + EXCLUDED.credits, debits = t.debits + EXCLUDED.debits; INSERT INTO settlement_totals AS t (partner_id, state, day, items, credits, debits)
   SELECT partner_id, state, occurred_at / 86400000, 1 * count(*),
          1 * coalesce(sum(amount) FILTER (WHERE amount > 0), 0), 1 * coalesce(-sum(amount) FILTER (WHERE amount < 0), 0)
     FROM added GROUP BY 1, 2, 3
   ON CONFLICT (partner_id, state, day) DO UPDATE
      SET items = t.items + EXCLUDED.items, credits = t.credits + EXCLUDED.credits, debits = t.debits + EXCLUDED.debits; RETURN NULL; END $function$;

CREATE TABLE account_totals (
  client_id bigint NOT NULL,
  partner_id bigint NOT NULL,
  fills bigint NOT NULL,
  fills_pnl bigint NOT NULL,
  spot_pnl bigint NOT NULL,
  barrier_pnl bigint NOT NULL,
  fills_commission bigint NOT NULL,
  barrier_commission bigint NOT NULL,
  contracts bigint NOT NULL,
  perp_flow bigint DEFAULT 0 NOT NULL,
  staking_pnl bigint DEFAULT 0 NOT NULL,
  staking_commission bigint DEFAULT 0 NOT NULL,
  swap_takes bigint DEFAULT 0 NOT NULL,
  wins bigint DEFAULT 0 NOT NULL,
  losses bigint DEFAULT 0 NOT NULL,
  CONSTRAINT account_totals_barrier_commission_check CHECK ((barrier_commission >= 0)),
  CONSTRAINT account_totals_contracts_check CHECK ((contracts >= 0)),
  CONSTRAINT account_totals_fills_check CHECK ((fills >= 0)),
  CONSTRAINT account_totals_fills_commission_check CHECK ((fills_commission >= 0)),
  CONSTRAINT account_totals_losses_check CHECK ((losses >= 0)),
  CONSTRAINT account_totals_pkey PRIMARY KEY (client_id),
  CONSTRAINT account_totals_staking_commission_check CHECK ((staking_commission >= 0)),
  CONSTRAINT account_totals_swap_takes_check CHECK ((swap_takes >= 0)),
  CONSTRAINT account_totals_wins_check CHECK ((wins >= 0))
);

CREATE TABLE answers (
  principal text NOT NULL,
  key text NOT NULL,
  fingerprint text NOT NULL,
  status bigint NOT NULL,
  body bytea NOT NULL,
  answered_at bigint NOT NULL,
  CONSTRAINT answers_pkey PRIMARY KEY (principal, key)
);
CREATE INDEX answers_age ON answers USING brin (answered_at) WITH (autosummarize='on');

CREATE TABLE api_keys (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  hash text NOT NULL,
  prefix text NOT NULL,
  label text NOT NULL,
  scope text NOT NULL,
  created_at bigint NOT NULL,
  CONSTRAINT api_keys_hash_key UNIQUE (hash),
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_scope_check CHECK ((scope = ANY (ARRAY['READ'::text, 'TRADE'::text])))
);
CREATE INDEX api_keys_partner ON api_keys USING btree (partner_id);

CREATE TABLE approvals (
  id bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  command text NOT NULL,
  args json NOT NULL,
  requested_by bigint NOT NULL,
  requested_at bigint NOT NULL,
  CONSTRAINT approvals_pkey PRIMARY KEY (id)
);

CREATE TABLE assessment_attempts (
  client_id bigint NOT NULL,
  attempt bigint NOT NULL,
  partner_id bigint NOT NULL,
  questionnaire bigint NOT NULL,
  outcome text NOT NULL,
  score bigint NOT NULL,
  answers bytea NOT NULL,
  taken_at bigint NOT NULL,
  CONSTRAINT assessment_attempts_pkey PRIMARY KEY (client_id, attempt)
);

CREATE TABLE assessments (
  client_id bigint NOT NULL,
  partner_id bigint NOT NULL,
  shard bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  CONSTRAINT assessments_pkey PRIMARY KEY (client_id)
);

CREATE TABLE attachments (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  symbol text NOT NULL,
  live boolean NOT NULL,
  created_at bigint NOT NULL,
  unplaced_since bigint,
  CONSTRAINT attachments_pkey PRIMARY KEY (id)
);
CREATE INDEX attachments_client ON attachments USING btree (client_id, id);
CREATE INDEX attachments_live ON attachments USING btree (client_id) WHERE live;
CREATE INDEX attachments_unplaced ON attachments USING btree (id) WHERE (unplaced_since IS NOT NULL);

CREATE TABLE audit (
  id bigint NOT NULL,
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
  CONSTRAINT audit_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_client ON audit USING btree (client_id, id) WHERE (client_id IS NOT NULL);
CREATE INDEX audit_object ON audit USING btree (object, id) WHERE (object IS NOT NULL);
CREATE INDEX audit_partner ON audit USING btree (partner_id, id) WHERE (partner_id IS NOT NULL);
CREATE TRIGGER audit_insert_only BEFORE DELETE OR UPDATE OR TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_insert_only;

CREATE TABLE balances (
  client_id bigint NOT NULL,
  currency text NOT NULL,
  partner_id bigint NOT NULL,
  cash bigint NOT NULL,
  reserved bigint NOT NULL,
  deposited bigint NOT NULL,
  from_venue bigint DEFAULT 0 NOT NULL,
  funding bigint DEFAULT 0 NOT NULL,
  CONSTRAINT balances_deposited_check CHECK ((deposited >= 0)),
  CONSTRAINT balances_pkey PRIMARY KEY (client_id, currency),
  CONSTRAINT balances_reserved_check CHECK ((reserved >= 0))
) WITH (fillfactor=70);
CREATE INDEX balances_partner ON balances USING btree (partner_id, currency) INCLUDE (client_id);

CREATE TABLE barrier_contracts (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  rfq_id bigint NOT NULL,
  symbol text NOT NULL,
  currency text NOT NULL,
  amount bigint NOT NULL,
  commission bigint NOT NULL,
  opened_at bigint NOT NULL,
  closed_at bigint,
  pnl bigint,
  CONSTRAINT barrier_contracts_amount_check CHECK ((amount >= 0)),
  CONSTRAINT barrier_contracts_commission_check CHECK ((commission >= 0)),
  CONSTRAINT barrier_contracts_pkey PRIMARY KEY (id)
);
CREATE INDEX barrier_contracts_client ON barrier_contracts USING btree (client_id, id);
CREATE INDEX barrier_contracts_open ON barrier_contracts USING btree (client_id) WHERE (state = 'OPEN'::text);
CREATE INDEX barrier_contracts_partner ON barrier_contracts USING btree (partner_id, id);
CREATE INDEX barrier_contracts_partner_open ON barrier_contracts USING btree (partner_id) WHERE (state = 'OPEN'::text);
CREATE INDEX barrier_contracts_rfq ON barrier_contracts USING btree (rfq_id);

CREATE TABLE block_payloads (
  client_id bigint NOT NULL,
  code text NOT NULL,
  partner_id bigint NOT NULL,
  data bytea NOT NULL,
  CONSTRAINT block_payloads_pkey PRIMARY KEY (client_id, code)
);

CREATE TABLE bulk_report_parts (
  partner_id bigint NOT NULL,
  key text NOT NULL,
  client_id bigint NOT NULL,
  fingerprint text NOT NULL,
  results json NOT NULL,
  decided_at bigint NOT NULL,
  CONSTRAINT bulk_report_parts_pkey PRIMARY KEY (partner_id, key, client_id)
);
CREATE INDEX bulk_report_parts_age ON bulk_report_parts USING btree (decided_at);

CREATE TABLE cases (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  shard bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  reason text NOT NULL,
  details json NOT NULL,
  opened_at bigint NOT NULL,
  closed_at bigint,
  CONSTRAINT cases_pkey PRIMARY KEY (id)
);
CREATE INDEX cases_client ON cases USING btree (client_id, id);

CREATE TABLE claims (
  name text NOT NULL,
  owner bigint NOT NULL,
  CONSTRAINT claims_pkey PRIMARY KEY (name)
);
CREATE INDEX claims_begun ON claims USING btree (owner) WHERE (name ~~ 'request:% %'::text);

CREATE TABLE clients (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  shard bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  uid text NOT NULL,
  partner_client_ref text NOT NULL,
  email text NOT NULL,
  display_name text NOT NULL,
  level text NOT NULL,
  categorization text NOT NULL,
  residency_country text NOT NULL,
  onboarding_source text NOT NULL,
  person_key text NOT NULL,
  created_at bigint NOT NULL,
  CONSTRAINT clients_partner_id_partner_client_ref_key UNIQUE (partner_id, partner_client_ref),
  CONSTRAINT clients_pkey PRIMARY KEY (id),
  CONSTRAINT clients_uid_key UNIQUE (uid)
);
CREATE INDEX clients_partner ON clients USING btree (partner_id, id);
CREATE INDEX clients_person ON clients USING gin (string_to_array(person_key, ' '::text)) WITH (fastupdate=off);
CREATE INDEX clients_to_key ON clients USING btree (id) WHERE (person_key < 'g'::text);

CREATE TABLE close_outs (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  started_at bigint NOT NULL,
  ended_at bigint,
  unrepaid bigint DEFAULT 0 NOT NULL,
  CONSTRAINT close_outs_pkey PRIMARY KEY (id),
  CONSTRAINT close_outs_unrepaid_check CHECK ((unrepaid >= 0))
);
CREATE INDEX close_outs_client ON close_outs USING btree (client_id, id);
CREATE INDEX close_outs_live ON close_outs USING btree (client_id) WHERE ((state <> 'DONE'::text) OR (unrepaid > 0));

CREATE TABLE collateral_reports (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  shard bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  created_at bigint NOT NULL,
  CONSTRAINT collateral_reports_pkey PRIMARY KEY (id)
);
CREATE INDEX collateral_reports_client ON collateral_reports USING btree (client_id, id);
CREATE INDEX collateral_reports_partner ON collateral_reports USING btree (partner_id, id);

CREATE TABLE custody_changes (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  before text NOT NULL,
  after text NOT NULL,
  collateral_asset text NOT NULL,
  reason text NOT NULL,
  changed_by text NOT NULL,
  changed_at bigint NOT NULL,
  CONSTRAINT custody_changes_after_check CHECK ((after = ANY (ARRAY['BROKER'::text, 'PARTNER'::text]))),
  CONSTRAINT custody_changes_before_check CHECK ((before = ANY (ARRAY['BROKER'::text, 'PARTNER'::text]))),
  CONSTRAINT custody_changes_check CHECK ((before <> after)),
  CONSTRAINT custody_changes_pkey PRIMARY KEY (id)
);
CREATE INDEX custody_changes_partner ON custody_changes USING btree (partner_id, id);
CREATE TRIGGER custody_changes_insert_only BEFORE DELETE OR UPDATE OR TRUNCATE ON custody_changes FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE custody_changes ENABLE ALWAYS TRIGGER custody_changes_insert_only;

CREATE TABLE daily_equities (
  day bigint NOT NULL,
  client_id bigint NOT NULL,
  partner_id bigint NOT NULL,
  equity bigint NOT NULL,
  unvalued bigint,
  held json,
  CONSTRAINT daily_equities_pkey PRIMARY KEY (day, client_id)
);

CREATE TABLE daily_marks (
  day bigint NOT NULL,
  symbol text NOT NULL,
  price text NOT NULL,
  at bigint NOT NULL,
  CONSTRAINT daily_marks_pkey PRIMARY KEY (day, symbol)
);

CREATE TABLE decisions (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  decision text NOT NULL,
  reason text NOT NULL,
  decided_by text NOT NULL,
  decided_at bigint NOT NULL,
  CONSTRAINT decisions_pkey PRIMARY KEY (id)
);
CREATE INDEX decisions_client ON decisions USING btree (client_id, id);
CREATE INDEX decisions_refusals ON decisions USING btree (client_id) WHERE (decision = 'PERSON_REJECTED'::text);
CREATE TRIGGER decisions_insert_only BEFORE DELETE OR UPDATE OR TRUNCATE ON decisions FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE decisions ENABLE ALWAYS TRIGGER decisions_insert_only;

CREATE TABLE deposit_notices (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  shard bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  currency text NOT NULL,
  amount bigint NOT NULL,
  created_at bigint NOT NULL,
  decided_at bigint,
  CONSTRAINT deposit_notices_amount_check CHECK ((amount > 0)),
  CONSTRAINT deposit_notices_pkey PRIMARY KEY (id)
);
CREATE INDEX deposit_notices_client ON deposit_notices USING btree (client_id, id);
CREATE INDEX deposit_notices_decided ON deposit_notices USING btree (partner_id, decided_at) WHERE (state = 'CONFIRMED'::text);
CREATE INDEX deposit_notices_partner ON deposit_notices USING btree (partner_id, id);
CREATE INDEX deposit_notices_pending ON deposit_notices USING btree (partner_id, client_id) WHERE (state = 'PENDING'::text);
CREATE INDEX deposit_notices_resident ON deposit_notices USING btree (client_id) WHERE (state = 'PENDING'::text);

CREATE TABLE dispositions (
  client_id bigint NOT NULL,
  entry_id bigint NOT NULL,
  partner_id bigint NOT NULL,
  disposition text NOT NULL,
  decided_at bigint NOT NULL,
  decided_by text NOT NULL,
  number bigint NOT NULL,
  identity_key text,
  outcome text,
  score bigint,
  CONSTRAINT dispositions_pkey PRIMARY KEY (client_id, entry_id, number)
);
CREATE TRIGGER dispositions_insert_only BEFORE DELETE OR UPDATE OR TRUNCATE ON dispositions FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE dispositions ENABLE ALWAYS TRIGGER dispositions_insert_only;

CREATE TABLE document_contents (
  document_id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  stored_at bigint NOT NULL,
  content bytea NOT NULL,
  CONSTRAINT document_contents_pkey PRIMARY KEY (document_id)
);
ALTER TABLE document_contents ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE INDEX document_contents_stored ON document_contents USING btree (stored_at);

CREATE TABLE documents (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  shard bigint NOT NULL,
  type text NOT NULL,
  purpose text NOT NULL,
  side text,
  filename bytea NOT NULL,
  mime_type text NOT NULL,
  size_bytes bigint NOT NULL,
  source text NOT NULL,
  uploaded_at bigint NOT NULL,
  deleted_at bigint,
  CONSTRAINT documents_pkey PRIMARY KEY (id)
);
CREATE INDEX documents_client ON documents USING btree (client_id, id);

CREATE TABLE events (
  partner_id bigint NOT NULL,
  seq bigint NOT NULL,
  name text NOT NULL,
  client_id bigint,
  data json NOT NULL,
  ts bigint NOT NULL,
  CONSTRAINT events_pkey PRIMARY KEY (partner_id, seq)
);
CREATE TRIGGER events_insert_only BEFORE DELETE OR UPDATE OR TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE events ENABLE ALWAYS TRIGGER events_insert_only;

CREATE TABLE fills (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  order_id bigint NOT NULL,
  trade_id bigint NOT NULL,
  symbol text NOT NULL,
  family text NOT NULL,
  side text NOT NULL,
  price text NOT NULL,
  qty text NOT NULL,
  closed_qty text,
  currency text NOT NULL,
  notional bigint NOT NULL,
  commission bigint NOT NULL,
  realized_pnl bigint NOT NULL,
  ts bigint NOT NULL,
  booked_at bigint NOT NULL,
  order_type text NOT NULL,
  origin text NOT NULL,
  CONSTRAINT fills_order_id_trade_id_key UNIQUE (order_id, trade_id),
  CONSTRAINT fills_pkey PRIMARY KEY (id)
);
CREATE INDEX fills_client ON fills USING btree (client_id, id);
CREATE INDEX fills_client_ts ON fills USING btree (client_id, ts);
CREATE INDEX fills_closing ON fills USING btree (client_id, id) WHERE (closed_qty IS NOT NULL);

CREATE TABLE fired_groups (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  symbol text NOT NULL,
  name text NOT NULL,
  fired_at bigint NOT NULL,
  CONSTRAINT fired_groups_pkey PRIMARY KEY (id)
);
CREATE INDEX fired_groups_name ON fired_groups USING btree (client_id, symbol, name);

CREATE TABLE identity_sessions (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  provider text NOT NULL,
  status text NOT NULL,
  data bytea NOT NULL,
  created_at bigint NOT NULL,
  CONSTRAINT identity_sessions_pkey PRIMARY KEY (id)
);
CREATE INDEX identity_sessions_client ON identity_sessions USING btree (client_id, id);

CREATE TABLE interfirm_records (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  currency text NOT NULL,
  period_from bigint NOT NULL,
  period_to bigint NOT NULL,
  amount bigint NOT NULL,
  tx_ref text NOT NULL,
  note text,
  recorded_by text NOT NULL,
  recorded_at bigint NOT NULL,
  CONSTRAINT interfirm_records_amount_check CHECK ((amount <> 0)),
  CONSTRAINT interfirm_records_check CHECK (((period_from >= 0) AND (period_from <= period_to))),
  CONSTRAINT interfirm_records_partner_id_tx_ref_key UNIQUE (partner_id, tx_ref),
  CONSTRAINT interfirm_records_pkey PRIMARY KEY (id)
);
CREATE INDEX interfirm_records_partner ON interfirm_records USING btree (partner_id, id);
CREATE TRIGGER interfirm_records_insert_only BEFORE DELETE OR UPDATE OR TRUNCATE ON interfirm_records FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE interfirm_records ENABLE ALWAYS TRIGGER interfirm_records_insert_only;

CREATE TABLE key_usage (
  key_id bigint NOT NULL,
  last_used_at bigint NOT NULL,
  CONSTRAINT key_usage_pkey PRIMARY KEY (key_id)
);

CREATE TABLE kyc_packages (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  shard bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  received_at bigint NOT NULL,
  CONSTRAINT kyc_packages_client_id_key UNIQUE (client_id),
  CONSTRAINT kyc_packages_pkey PRIMARY KEY (id)
);
CREATE INDEX kyc_packages_review ON kyc_packages USING btree (partner_id) WHERE (state = ANY (ARRAY['SPOT_CHECK'::text, 'DOCUMENTS_REQUESTED'::text]));

CREATE TABLE kyc_revisions (
  package_id bigint NOT NULL,
  revision bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  payload bytea NOT NULL,
  attestation bytea NOT NULL,
  received_at bigint NOT NULL,
  CONSTRAINT kyc_revisions_pkey PRIMARY KEY (package_id, revision)
);

CREATE TABLE last_listings (
  id bigint NOT NULL,
  listing json NOT NULL,
  CONSTRAINT last_listings_pkey PRIMARY KEY (id)
);

CREATE TABLE last_marks (
  symbol text NOT NULL,
  price text NOT NULL,
  at bigint NOT NULL,
  CONSTRAINT last_marks_pkey PRIMARY KEY (symbol)
);

CREATE TABLE ledger_transactions (
  tx_id bigint NOT NULL,
  key text NOT NULL,
  type text NOT NULL,
  actor text NOT NULL,
  reason text,
  client_id bigint,
  partner_id bigint NOT NULL,
  refs json NOT NULL,
  ts bigint NOT NULL,
  CONSTRAINT ledger_transactions_key_key UNIQUE (key),
  CONSTRAINT ledger_transactions_pkey PRIMARY KEY (tx_id)
);
CREATE INDEX ledger_transactions_executions ON ledger_transactions USING btree (ts, client_id) WHERE ((type = ANY (ARRAY['BARRIER_SETTLE'::text, 'SWAP_PRINCIPAL'::text, 'SWAP_SETTLE'::text])) OR (key ~~ 'commission:contract:%'::text));
CREATE INDEX ledger_transactions_time ON ledger_transactions USING brin (ts) WITH (pages_per_range='32', autosummarize='on');
CREATE TRIGGER ledger_transactions_insert_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_transactions FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE ledger_transactions ENABLE ALWAYS TRIGGER ledger_transactions_insert_only;

CREATE TABLE leverages (
  client_id bigint NOT NULL,
  symbol text NOT NULL,
  partner_id bigint NOT NULL,
  leverage bigint NOT NULL,
  updated_at bigint NOT NULL,
  CONSTRAINT leverages_leverage_check CHECK ((leverage >= 1)),
  CONSTRAINT leverages_pkey PRIMARY KEY (client_id, symbol)
);

CREATE TABLE loss_notices (
  client_id bigint NOT NULL,
  symbol text NOT NULL,
  partner_id bigint NOT NULL,
  day bigint NOT NULL,
  opened_at bigint NOT NULL,
  step bigint NOT NULL,
  CONSTRAINT loss_notices_pkey PRIMARY KEY (client_id, symbol),
  CONSTRAINT loss_notices_step_check CHECK ((step > 0))
);

CREATE TABLE notifications (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  kind text NOT NULL,
  ref text NOT NULL,
  ts bigint NOT NULL,
  written_at bigint NOT NULL,
  CONSTRAINT notifications_pkey PRIMARY KEY (id)
);
CREATE INDEX notifications_feed ON notifications USING btree (client_id, ts, id);
CREATE INDEX notifications_partner ON notifications USING btree (partner_id, ts, id);

CREATE TABLE open_fundings (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  symbol text NOT NULL,
  settled_at bigint NOT NULL,
  mark text,
  rate text,
  qty text NOT NULL,
  venue_qty text NOT NULL,
  posted boolean NOT NULL,
  live boolean NOT NULL,
  created_at bigint NOT NULL,
  CONSTRAINT open_fundings_client_id_symbol_settled_at_key UNIQUE (client_id, symbol, settled_at),
  CONSTRAINT open_fundings_pkey PRIMARY KEY (id)
);
CREATE INDEX open_fundings_live ON open_fundings USING btree (client_id) WHERE live;

CREATE TABLE operator_keys (
  id bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  hash text NOT NULL,
  prefix text NOT NULL,
  label text NOT NULL,
  role text NOT NULL,
  created_at bigint NOT NULL,
  CONSTRAINT operator_keys_hash_key UNIQUE (hash),
  CONSTRAINT operator_keys_pkey PRIMARY KEY (id),
  CONSTRAINT operator_keys_role_check CHECK ((role = ANY (ARRAY['ADMIN'::text, 'FINANCE'::text, 'COMPLIANCE'::text, 'SUPPORT'::text])))
);

CREATE TABLE orders (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  symbol text NOT NULL,
  currency text NOT NULL,
  amount bigint NOT NULL,
  parent_order_id bigint,
  created_at bigint NOT NULL,
  works boolean GENERATED ALWAYS AS ((state = ANY (ARRAY['CHECKED'::text, 'SENT'::text, 'ACKED'::text, 'PARTIAL'::text, 'PENDING_TRIGGER'::text, 'PENDING_CANCEL'::text]))) STORED NOT NULL,
  CONSTRAINT orders_amount_check CHECK ((amount >= 0)),
  CONSTRAINT orders_pkey PRIMARY KEY (id)
) WITH (fillfactor=60);
CREATE INDEX orders_client ON orders USING btree (client_id, id);
CREATE INDEX orders_working ON orders USING btree (client_id) WHERE works;
CREATE INDEX orders_working_ids ON orders USING btree (id) WHERE works;

CREATE TABLE partners (
  id bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  code text NOT NULL,
  name text NOT NULL,
  legal_name text NOT NULL,
  country text NOT NULL,
  licence text NOT NULL,
  sandbox boolean NOT NULL,
  custody_model text NOT NULL,
  collateral_asset text NOT NULL,
  uid_prefix text NOT NULL,
  read_per_minute bigint NOT NULL,
  trade_per_minute bigint NOT NULL,
  allowed_cidrs json NOT NULL,
  epoch bigint NOT NULL,
  created_at bigint NOT NULL,
  CONSTRAINT partners_code_key UNIQUE (code),
  CONSTRAINT partners_custody_model_check CHECK ((custody_model = ANY (ARRAY['BROKER'::text, 'PARTNER'::text]))),
  CONSTRAINT partners_pkey PRIMARY KEY (id),
  CONSTRAINT partners_read_per_minute_check CHECK (((read_per_minute >= 1) AND (read_per_minute <= 1000000000))),
  CONSTRAINT partners_trade_per_minute_check CHECK (((trade_per_minute >= 1) AND (trade_per_minute <= 1000000000))),
  CONSTRAINT partners_uid_prefix_key UNIQUE (uid_prefix)
);
CREATE TRIGGER partner_closed AFTER UPDATE ON partners FOR EACH ROW WHEN (((old.state <> 'CLOSED'::text) AND (new.state = 'CLOSED'::text))) EXECUTE FUNCTION partner_closed();
ALTER TABLE partners ENABLE ALWAYS TRIGGER partner_closed;

CREATE TABLE positions (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  symbol text NOT NULL,
  state text NOT NULL,
  net_qty text NOT NULL,
  avg_entry text NOT NULL,
  net_cost text NOT NULL,
  currency text NOT NULL,
  amount bigint NOT NULL,
  realized_pnl bigint NOT NULL,
  opened_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  CONSTRAINT positions_client_id_symbol_key UNIQUE (client_id, symbol),
  CONSTRAINT positions_pkey PRIMARY KEY (id)
);
CREATE INDEX positions_partner_open ON positions USING btree (partner_id) WHERE (state = 'OPEN'::text);

CREATE TABLE posting_totals (
  partner_id bigint NOT NULL,
  currency text NOT NULL,
  type text NOT NULL,
  day bigint NOT NULL,
  amount numeric NOT NULL,
  CONSTRAINT posting_totals_pkey PRIMARY KEY (partner_id, currency, type, day)
) WITH (fillfactor=70);

CREATE TABLE postings (
  posting_id bigint NOT NULL,
  tx_id bigint NOT NULL,
  account text NOT NULL,
  client_id bigint,
  partner_id bigint NOT NULL,
  currency text NOT NULL,
  kind text NOT NULL,
  amount bigint NOT NULL,
  CONSTRAINT postings_kind_check CHECK ((kind = ANY (ARRAY['cash'::text, 'reserved'::text]))),
  CONSTRAINT postings_pkey PRIMARY KEY (posting_id)
);
CREATE INDEX postings_client ON postings USING btree (client_id, posting_id DESC) WHERE (client_id IS NOT NULL);
CREATE INDEX postings_transaction ON postings USING brin (tx_id) WITH (pages_per_range='32', autosummarize='on');
CREATE TRIGGER postings_balance AFTER INSERT ON postings REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION postings_balance();
ALTER TABLE postings ENABLE ALWAYS TRIGGER postings_balance;
CREATE TRIGGER postings_insert_only BEFORE DELETE OR UPDATE OR TRUNCATE ON postings FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE postings ENABLE ALWAYS TRIGGER postings_insert_only;

CREATE TABLE questionnaires (
  version bigint NOT NULL,
  content json NOT NULL,
  published_at bigint NOT NULL,
  CONSTRAINT questionnaires_pkey PRIMARY KEY (version)
);
CREATE TRIGGER questionnaires_insert_only BEFORE DELETE OR UPDATE OR TRUNCATE ON questionnaires FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE questionnaires ENABLE ALWAYS TRIGGER questionnaires_insert_only;

CREATE TABLE recon_breaks (
  id bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  scope text NOT NULL,
  partner_id bigint,
  client_id bigint,
  currency text NOT NULL,
  amount bigint NOT NULL,
  opened_at bigint NOT NULL,
  closed_at bigint,
  CONSTRAINT recon_breaks_amount_check CHECK ((amount <> 0)),
  CONSTRAINT recon_breaks_pkey PRIMARY KEY (id),
  CONSTRAINT recon_breaks_scope_check CHECK ((scope = ANY (ARRAY['ALL'::text, 'PARTNER'::text, 'CLIENT'::text])))
);
CREATE INDEX recon_breaks_open ON recon_breaks USING btree (id) WHERE (state = 'OPEN'::text);

CREATE TABLE reliances (
  partner_id bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  CONSTRAINT reliances_pkey PRIMARY KEY (partner_id)
);

CREATE TABLE reporting_records (
  client_id bigint NOT NULL,
  partner_id bigint NOT NULL,
  from_revision bigint NOT NULL,
  complete boolean NOT NULL,
  record bytea NOT NULL,
  built_at bigint NOT NULL,
  CONSTRAINT reporting_records_pkey PRIMARY KEY (client_id)
);

CREATE TABLE rfqs (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  symbol text NOT NULL,
  currency text NOT NULL,
  amount bigint NOT NULL,
  created_at bigint NOT NULL,
  close_contract_id bigint,
  venue_open boolean NOT NULL,
  CONSTRAINT rfqs_amount_check CHECK ((amount >= 0)),
  CONSTRAINT rfqs_pkey PRIMARY KEY (id)
);
CREATE INDEX rfqs_client ON rfqs USING btree (client_id, id);
CREATE INDEX rfqs_partner ON rfqs USING btree (partner_id, id);
CREATE INDEX rfqs_partner_open ON rfqs USING btree (partner_id) WHERE (state = ANY (ARRAY['CREATING'::text, 'OPEN'::text]));
CREATE INDEX rfqs_resident ON rfqs USING btree (client_id) WHERE ((state = ANY (ARRAY['CREATING'::text, 'OPEN'::text])) OR venue_open);

CREATE TABLE risk_monitors (
  client_id bigint NOT NULL,
  partner_id bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  CONSTRAINT risk_monitors_pkey PRIMARY KEY (client_id)
);
CREATE INDEX risk_monitors_watched ON risk_monitors USING btree (client_id) WHERE (state <> 'NORMAL'::text);

CREATE TABLE screening_passes (
  id bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  started_at bigint NOT NULL,
  CONSTRAINT screening_passes_pkey PRIMARY KEY (id)
);

CREATE TABLE screening_runs (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  trigger text NOT NULL,
  outcome text NOT NULL,
  list_version bigint NOT NULL,
  candidates json NOT NULL,
  ran_at bigint NOT NULL,
  list_versions json DEFAULT '{}'::json NOT NULL,
  pass_id bigint,
  CONSTRAINT screening_runs_pkey PRIMARY KEY (id)
);
CREATE INDEX screening_runs_client ON screening_runs USING btree (client_id, id);
CREATE INDEX screening_runs_pass ON screening_runs USING btree (pass_id) WHERE (pass_id IS NOT NULL);

CREATE TABLE seals (
  number bigint NOT NULL,
  hash text NOT NULL,
  audit_to bigint NOT NULL,
  decision_to bigint NOT NULL,
  transaction_to bigint NOT NULL,
  posting_to bigint NOT NULL,
  interfirm_to bigint DEFAULT 0 NOT NULL,
  custody_to bigint DEFAULT 0 NOT NULL,
  CONSTRAINT seals_pkey PRIMARY KEY (number)
);
CREATE INDEX seals_posting_number ON seals USING btree (posting_to, number);
CREATE TRIGGER seals_insert_only BEFORE DELETE OR UPDATE OR TRUNCATE ON seals FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE seals ENABLE ALWAYS TRIGGER seals_insert_only;

CREATE TABLE service_stamp (
  id smallint NOT NULL,
  sandbox boolean NOT NULL,
  clock_offset bigint DEFAULT 0 NOT NULL,
  canary bytea NOT NULL,
  created_at bigint NOT NULL,
  resealed_key smallint,
  venue_name text,
  resets bigint DEFAULT 0 NOT NULL,
  reset_asked text,
  reset_made text,
  CONSTRAINT service_stamp_clock_offset_check CHECK ((clock_offset >= 0)),
  CONSTRAINT service_stamp_id_check CHECK ((id = 1)),
  CONSTRAINT service_stamp_pkey PRIMARY KEY (id),
  CONSTRAINT service_stamp_reset_check CHECK ((sandbox OR ((resets = 0) AND (reset_asked IS NULL)))),
  CONSTRAINT service_stamp_venue_name_check CHECK ((venue_name ~ '^([A-Z2-9]{6})?$'::text))
);

CREATE TABLE settlement_items (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  shard bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  type text NOT NULL,
  currency text NOT NULL,
  amount bigint NOT NULL,
  tx_id bigint NOT NULL,
  occurred_at bigint NOT NULL,
  CONSTRAINT settlement_items_amount_check CHECK ((amount <> 0)),
  CONSTRAINT settlement_items_pkey PRIMARY KEY (id),
  CONSTRAINT settlement_items_tx_id_type_key UNIQUE (tx_id, type)
);
CREATE INDEX settlement_items_client ON settlement_items USING btree (client_id, id);
CREATE INDEX settlement_items_open ON settlement_items USING btree (partner_id, state, id) WHERE (state <> 'SETTLED'::text);
CREATE INDEX settlement_items_partner ON settlement_items USING btree (partner_id, id);
CREATE INDEX settlement_items_time ON settlement_items USING btree (partner_id, occurred_at);
CREATE TRIGGER settlement_items_total_delete AFTER DELETE ON settlement_items REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION settlement_items_total_delete();
ALTER TABLE settlement_items ENABLE ALWAYS TRIGGER settlement_items_total_delete;
CREATE TRIGGER settlement_items_total_insert AFTER INSERT ON settlement_items REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION settlement_items_total_insert();
ALTER TABLE settlement_items ENABLE ALWAYS TRIGGER settlement_items_total_insert;
CREATE TRIGGER settlement_items_total_truncate AFTER TRUNCATE ON settlement_items FOR EACH STATEMENT EXECUTE FUNCTION settlement_items_total_truncate();
ALTER TABLE settlement_items ENABLE ALWAYS TRIGGER settlement_items_total_truncate;
CREATE TRIGGER settlement_items_total_update AFTER UPDATE ON settlement_items REFERENCING OLD TABLE AS gone NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION settlement_items_total_update();
ALTER TABLE settlement_items ENABLE ALWAYS TRIGGER settlement_items_total_update;

CREATE TABLE settlement_totals (
  partner_id bigint NOT NULL,
  state text NOT NULL,
  day bigint NOT NULL,
  items bigint NOT NULL,
  credits numeric NOT NULL,
  debits numeric NOT NULL,
  CONSTRAINT settlement_totals_pkey PRIMARY KEY (partner_id, state, day)
) WITH (fillfactor=70);

CREATE TABLE spot_lots (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  asset text NOT NULL,
  qty bigint NOT NULL,
  cost bigint NOT NULL,
  commission bigint NOT NULL,
  acquired_at bigint NOT NULL,
  CONSTRAINT spot_lots_commission_check CHECK ((commission >= 0)),
  CONSTRAINT spot_lots_cost_check CHECK ((cost >= 0)),
  CONSTRAINT spot_lots_pkey PRIMARY KEY (id),
  CONSTRAINT spot_lots_qty_check CHECK ((qty >= 0))
);
CREATE INDEX spot_lots_left ON spot_lots USING btree (client_id) WHERE (qty > 0);

CREATE TABLE statement_job_failures (
  id bigint NOT NULL,
  job_id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  state text NOT NULL,
  tries bigint NOT NULL,
  retry_at bigint NOT NULL,
  reason text NOT NULL,
  failed_at bigint NOT NULL,
  CONSTRAINT statement_job_failures_job_id_client_id_key UNIQUE (job_id, client_id),
  CONSTRAINT statement_job_failures_pkey PRIMARY KEY (id)
);
CREATE INDEX statement_job_failures_open ON statement_job_failures USING btree (retry_at) WHERE (state = 'OPEN'::text);

CREATE TABLE statement_jobs (
  id bigint NOT NULL,
  name text NOT NULL,
  period_from bigint NOT NULL,
  period_to bigint NOT NULL,
  due_at bigint NOT NULL,
  cursor bigint NOT NULL,
  clients bigint NOT NULL,
  made bigint NOT NULL,
  started_at bigint NOT NULL,
  ended_at bigint,
  CONSTRAINT statement_jobs_name_period_from_period_to_key UNIQUE (name, period_from, period_to),
  CONSTRAINT statement_jobs_pkey PRIMARY KEY (id)
);
CREATE INDEX statement_jobs_name ON statement_jobs USING btree (name, id);
CREATE INDEX statement_jobs_open ON statement_jobs USING btree (id) WHERE (ended_at IS NULL);

CREATE TABLE statement_models (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  sha256 text NOT NULL,
  size bigint NOT NULL,
  pieces bigint NOT NULL,
  counts json NOT NULL,
  stored_at bigint NOT NULL,
  CONSTRAINT statement_models_pkey PRIMARY KEY (id),
  CONSTRAINT statement_models_sha256_key UNIQUE (sha256)
);
CREATE INDEX statement_models_stored ON statement_models USING btree (stored_at);

CREATE TABLE statement_pieces (
  model_id bigint NOT NULL,
  number bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  section bigint NOT NULL,
  content bytea NOT NULL,
  stored_at bigint NOT NULL,
  CONSTRAINT statement_pieces_pkey PRIMARY KEY (model_id, number)
);
ALTER TABLE statement_pieces ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE INDEX statement_pieces_first ON statement_pieces USING btree (stored_at) WHERE (number = 0);

CREATE TABLE statements (
  id bigint NOT NULL,
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
  generated_at bigint NOT NULL,
  CONSTRAINT statements_pkey PRIMARY KEY (id)
);
CREATE INDEX statements_client ON statements USING btree (client_id, id);
CREATE INDEX statements_model ON statements USING btree (model_id);
CREATE INDEX statements_period ON statements USING btree (client_id, kind, period_from, period_to, number);

CREATE TABLE subjects (
  subject text NOT NULL,
  token bigint NOT NULL,
  CONSTRAINT subjects_pkey PRIMARY KEY (subject)
) WITH (fillfactor=70);

CREATE TABLE swaps (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  symbol text NOT NULL,
  currency text NOT NULL,
  amount bigint NOT NULL,
  reward bigint NOT NULL,
  fee bigint NOT NULL,
  paid bigint NOT NULL,
  written_off bigint NOT NULL,
  commission bigint NOT NULL,
  contract_id bigint,
  opened_at bigint,
  maturity_at bigint,
  closed_at bigint,
  created_at bigint NOT NULL,
  CONSTRAINT swaps_amount_check CHECK ((amount >= 0)),
  CONSTRAINT swaps_commission_check CHECK ((commission >= 0)),
  CONSTRAINT swaps_fee_check CHECK ((fee >= 0)),
  CONSTRAINT swaps_paid_check CHECK ((paid >= 0)),
  CONSTRAINT swaps_pkey PRIMARY KEY (id),
  CONSTRAINT swaps_reward_check CHECK ((reward >= 0)),
  CONSTRAINT swaps_written_off_check CHECK ((written_off >= 0))
);
CREATE INDEX swaps_client ON swaps USING btree (client_id, id);
CREATE INDEX swaps_client_state ON swaps USING btree (client_id, state, id);
CREATE INDEX swaps_contract ON swaps USING btree (client_id, contract_id);
CREATE INDEX swaps_live ON swaps USING btree (client_id) WHERE ((state = ANY (ARRAY['ACCEPTING'::text, 'OPEN'::text, 'DEFAULTED'::text])) AND (closed_at IS NULL));
CREATE INDEX swaps_partner ON swaps USING btree (partner_id, id);
CREATE INDEX swaps_state ON swaps USING btree (state, id);
CREATE INDEX swaps_written_off ON swaps USING btree (client_id) WHERE (json_array_length((context -> 'writeOffs'::text)) > 0);

CREATE TABLE timers (
  subject text NOT NULL,
  name text NOT NULL,
  due_at bigint NOT NULL,
  CONSTRAINT timers_pkey PRIMARY KEY (subject, name)
);
CREATE INDEX timers_due ON timers USING btree (due_at);

CREATE TABLE trading_halts (
  id bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  scope text NOT NULL,
  started_at bigint NOT NULL,
  CONSTRAINT trading_halts_pkey PRIMARY KEY (id)
);
CREATE INDEX trading_halts_active ON trading_halts USING btree (id) WHERE (state = 'ACTIVE'::text);

CREATE TABLE venue_accounts (
  client_id bigint NOT NULL,
  sequence bigint NOT NULL,
  taken_to bigint DEFAULT 0 NOT NULL,
  CONSTRAINT venue_accounts_pkey PRIMARY KEY (client_id)
);

CREATE TABLE venue_calls (
  ref text NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  call text NOT NULL,
  request json NOT NULL,
  at bigint NOT NULL,
  CONSTRAINT venue_calls_pkey PRIMARY KEY (ref)
);
CREATE INDEX venue_calls_client ON venue_calls USING btree (client_id);

CREATE TABLE venue_cursor (
  id bigint NOT NULL,
  number bigint NOT NULL,
  CONSTRAINT venue_cursor_pkey PRIMARY KEY (id)
);

CREATE TABLE venue_misfits (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  ref text NOT NULL,
  worth bigint NOT NULL,
  at bigint NOT NULL,
  break_id bigint,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  market json NOT NULL,
  CONSTRAINT venue_misfits_pkey PRIMARY KEY (id),
  CONSTRAINT venue_misfits_worth_check CHECK ((worth <> 0))
);
CREATE INDEX venue_misfits_open ON venue_misfits USING btree (client_id) WHERE (state = ANY (ARRAY['READING'::text, 'STANDING'::text]));

CREATE TABLE venue_probes (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  started_at bigint NOT NULL,
  CONSTRAINT venue_probes_pkey PRIMARY KEY (id)
);
CREATE INDEX venue_probes_client ON venue_probes USING btree (client_id);

CREATE TABLE venue_quarantine (
  id bigint NOT NULL,
  at bigint NOT NULL,
  number bigint,
  account text,
  reason text NOT NULL,
  bytes text NOT NULL,
  dropped_at bigint,
  CONSTRAINT venue_quarantine_pkey PRIMARY KEY (id)
);

CREATE TABLE verification_blocks (
  client_id bigint NOT NULL,
  code text NOT NULL,
  partner_id bigint NOT NULL,
  shard bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  CONSTRAINT verification_blocks_pkey PRIMARY KEY (client_id, code)
);

CREATE TABLE watch_entries (
  id bigint NOT NULL,
  list text NOT NULL,
  name text NOT NULL,
  dob text,
  country text,
  source text NOT NULL,
  added_at bigint NOT NULL,
  removed_at bigint,
  import_id bigint,
  CONSTRAINT watch_entries_list_check CHECK ((list = ANY (ARRAY['SANCTIONS'::text, 'PEP'::text]))),
  CONSTRAINT watch_entries_pkey PRIMARY KEY (id)
);
CREATE INDEX watch_entries_import ON watch_entries USING btree (source, import_id) WHERE (removed_at IS NULL);
CREATE INDEX watch_entries_name ON watch_entries USING btree (source, name) WHERE (removed_at IS NULL);

CREATE TABLE watch_imports (
  id bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  source text NOT NULL,
  source_version text NOT NULL,
  started_at bigint NOT NULL,
  CONSTRAINT watch_imports_pkey PRIMARY KEY (id)
);

CREATE TABLE webhook_deliveries (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint,
  event text NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  body text NOT NULL,
  ts bigint NOT NULL,
  next_at bigint NOT NULL,
  claim_token text,
  claimed_at bigint,
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries USING btree (partner_id, next_at) WHERE (state = ANY (ARRAY['PENDING'::text, 'RETRYING'::text]));
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries USING btree (partner_id, id DESC) WHERE (state = 'FAILED'::text);
CREATE INDEX webhook_deliveries_partner ON webhook_deliveries USING btree (partner_id, id);
CREATE INDEX webhook_deliveries_sent ON webhook_deliveries USING btree (partner_id, (((context ->> 'sentAt'::text))::bigint) DESC) WHERE (state = 'SENT'::text);

CREATE TABLE webhook_endpoints (
  partner_id bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  url text NOT NULL,
  secret bytea NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (partner_id)
);

CREATE TABLE withdrawal_requests (
  id bigint NOT NULL,
  partner_id bigint NOT NULL,
  client_id bigint NOT NULL,
  shard bigint NOT NULL,
  state text NOT NULL,
  version text NOT NULL,
  context json NOT NULL,
  currency text NOT NULL,
  amount bigint NOT NULL,
  destination bytea,
  created_at bigint NOT NULL,
  paid_at bigint,
  CONSTRAINT withdrawal_requests_amount_check CHECK ((amount > 0)),
  CONSTRAINT withdrawal_requests_pkey PRIMARY KEY (id)
);
CREATE INDEX withdrawal_requests_client ON withdrawal_requests USING btree (client_id, id);
CREATE INDEX withdrawal_requests_open ON withdrawal_requests USING btree (partner_id) WHERE (state = ANY (ARRAY['REQUESTED'::text, 'APPROVED'::text]));
CREATE INDEX withdrawal_requests_paid ON withdrawal_requests USING btree (partner_id, paid_at) WHERE (state = 'PAID'::text);
CREATE INDEX withdrawal_requests_partner ON withdrawal_requests USING btree (partner_id, id);
CREATE INDEX withdrawal_requests_resident ON withdrawal_requests USING btree (client_id) WHERE (state = ANY (ARRAY['REQUESTED'::text, 'APPROVED'::text]));

CREATE TABLE writer (
  id smallint NOT NULL,
  epoch bigint NOT NULL,
  batch bigint NOT NULL,
  owner text NOT NULL,
  CONSTRAINT writer_id_check CHECK ((id = 1)),
  CONSTRAINT writer_pkey PRIMARY KEY (id)
) WITH (fillfactor=10);
