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
    "0010_appropriateness": m0010
  }),
  table: "schema_migrations"
}).pipe(Effect.asVoid)
