/**
 * Gives the index of each list one direction, owner and id. A page reads it backward by `ORDER BY owner DESC, id DESC`, which an
 * index of mixed directions can't serve.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const owners: Readonly<Record<string, ReadonlyArray<"client" | "partner">>> = {
  clients: ["partner"],
  collateral_reports: ["client"],
  deposit_notices: ["client", "partner"],
  documents: ["client"],
  interfirm_records: ["partner"],
  settlement_items: ["client"],
  withdrawal_requests: ["client", "partner"]
}

export const m0060 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const [table, names] of Object.entries(owners)) {
    for (const name of names) {
      yield* sql.unsafe(`DROP INDEX ${table}_${name}`)
      yield* sql.unsafe(`CREATE INDEX ${table}_${name} ON ${table} (${name}_id, id)`)
    }
  }
})
