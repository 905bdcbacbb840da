/**
 * What is read while very many swaps end at once. The clients whose swaps are live are found by `swaps_live` alone: with a second index
 * of the same rows the server took that one for clients too, while its figures were old, and went through all live swaps for each load.
 * Whoever closes a partner looks through the live ones, as through working orders. And what of a partner's notifications is to be
 * forwarded is read in its order, so that a page of them ends where it is full.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0048 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP INDEX swaps_partner_live`
  yield* sql`DROP INDEX notifications_partner`
  yield* sql`CREATE INDEX notifications_partner ON notifications (partner_id, ts, id)`
})
