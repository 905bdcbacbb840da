/** The migrations in order. Effect's migrator runs each in a transaction under a lock, once per database. */
import { Effect } from "effect"
import { Migrator } from "effect/sql"
import { m0001 } from "./0001_engine.ts"
import { m0002 } from "./0002_partners.ts"
import { m0003 } from "./0003_clients.ts"
import { m0004 } from "./0004_ledger.ts"
import { m0005 } from "./0005_events.ts"
import { m0006 } from "./0006_settlement.ts"
import { m0007 } from "./0007_deliveries.ts"
import { m0008 } from "./0008_audit_objects.ts"
import { m0009 } from "./0009_documents.ts"
import { m0010 } from "./0010_appropriateness.ts"
import { m0011 } from "./0011_watch_imports.ts"
import { m0012 } from "./0012_resealed_key.ts"
import { m0013 } from "./0013_seals.ts"
import { m0014 } from "./0014_deposits.ts"
import { m0015 } from "./0015_withdrawals.ts"
import { m0016 } from "./0016_settlement_reports.ts"
import { m0017 } from "./0017_custody_changes.ts"
import { m0018 } from "./0018_disposition_history.ts"
import { m0019 } from "./0019_sealed_settlement.ts"
import { m0020 } from "./0020_ended.ts"
import { m0021 } from "./0021_answer_principals.ts"
import { m0022 } from "./0022_screening_passes.ts"
import { m0023 } from "./0023_closed_deliveries.ts"
import { m0024 } from "./0024_venue_calls.ts"
import { m0025 } from "./0025_trading_halts.ts"
import { m0026 } from "./0026_last_marks.ts"
import { m0027 } from "./0027_venue_name.ts"
import { m0028 } from "./0028_notification_feed.ts"
import { m0029 } from "./0029_barrier_contracts.ts"
import { m0030 } from "./0030_risk_monitors.ts"
import { m0031 } from "./0031_orders.ts"
import { m0032 } from "./0032_begun_requests.ts"
import { m0033 } from "./0033_attachments.ts"
import { m0034 } from "./0034_loss_notices.ts"
import { m0035 } from "./0035_account_totals.ts"
import { m0036 } from "./0036_order_writes.ts"
import { m0037 } from "./0037_venue_money.ts"
import { m0038 } from "./0038_funding.ts"
import { m0039 } from "./0039_swaps.ts"
import { m0040 } from "./0040_account_families.ts"
import { m0041 } from "./0041_statements.ts"
import { m0042 } from "./0042_daily_marks.ts"
import { m0043 } from "./0043_statement_jobs.ts"
import { m0044 } from "./0044_sandbox_resets.ts"
import { m0045 } from "./0045_fill_orders.ts"
import { m0046 } from "./0046_unvalued_equities.ts"
import { m0047 } from "./0047_seals_by_posting.ts"
import { m0048 } from "./0048_maturing_swaps.ts"
import { m0050 } from "./0050_person_keys.ts"
import { m0051 } from "./0051_write_off_repayments.ts"
import { m0052 } from "./0052_venue_misfits.ts"
import { m0053 } from "./0053_trades_by_time.ts"
import { m0054 } from "./0054_misfit_states.ts"
import { m0055 } from "./0055_unplaced_legs.ts"
import { m0056 } from "./0056_fold_ids.ts"
import { m0057 } from "./0057_misfit_market.ts"
import { m0060 } from "./0060_list_indexes.ts"
import { m0061 } from "./0061_taken_times.ts"
import { m0063 } from "./0063_last_listings.ts"
import { m0064 } from "./0064_misfit_contracts.ts"

const run = Migrator.make({})

/** Brings the connected database to the newest schema; does nothing when it is there already. */
export const migrate = run({
  loader: Migrator.fromRecord({
    "0001_engine": m0001,
    "0002_partners": m0002,
    "0003_clients": m0003,
    "0004_ledger": m0004,
    "0005_events": m0005,
    "0006_settlement": m0006,
    "0007_deliveries": m0007,
    "0008_audit_objects": m0008,
    "0009_documents": m0009,
    "0010_appropriateness": m0010,
    "0011_watch_imports": m0011,
    "0012_resealed_key": m0012,
    "0013_seals": m0013,
    "0014_deposits": m0014,
    "0015_withdrawals": m0015,
    "0016_settlement_reports": m0016,
    "0017_custody_changes": m0017,
    "0018_disposition_history": m0018,
    "0019_sealed_settlement": m0019,
    "0020_ended": m0020,
    "0021_answer_principals": m0021,
    "0022_screening_passes": m0022,
    "0023_closed_deliveries": m0023,
    "0024_venue_calls": m0024,
    "0025_trading_halts": m0025,
    "0026_last_marks": m0026,
    "0027_venue_name": m0027,
    "0028_notification_feed": m0028,
    "0029_barrier_contracts": m0029,
    "0030_risk_monitors": m0030,
    "0031_orders": m0031,
    "0032_begun_requests": m0032,
    "0033_attachments": m0033,
    "0034_loss_notices": m0034,
    "0035_account_totals": m0035,
    "0036_order_writes": m0036,
    "0037_venue_money": m0037,
    "0038_funding": m0038,
    "0039_swaps": m0039,
    "0040_account_families": m0040,
    "0041_statements": m0041,
    "0042_daily_marks": m0042,
    "0043_statement_jobs": m0043,
    "0044_sandbox_resets": m0044,
    "0045_fill_orders": m0045,
    "0046_unvalued_equities": m0046,
    "0047_seals_by_posting": m0047,
    "0048_maturing_swaps": m0048,
    "0050_person_keys": m0050,
    "0051_write_off_repayments": m0051,
    "0052_venue_misfits": m0052,
    "0053_trades_by_time": m0053,
    "0054_misfit_states": m0054,
    "0055_unplaced_legs": m0055,
    "0056_fold_ids": m0056,
    "0057_misfit_market": m0057,
    "0060_list_indexes": m0060,
    "0061_taken_times": m0061,
    "0063_last_listings": m0063,
    "0064_misfit_contracts": m0064
  }),
  table: "schema_migrations"
}).pipe(Effect.asVoid)
