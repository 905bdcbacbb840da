/**
 * Keys of requests that were begun and never answered are given back by their age (doc 1, Idempotency; A1-52): the claim of
 * the fingerprint, which alone has a space in its name, holds when its request was begun. Those there are begin now.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0032 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE claims SET owner = (extract(epoch FROM now()) * 1000)::bigint + coalesce((SELECT clock_offset FROM service_stamp), 0)
    WHERE name LIKE 'request:% %'`
  yield* sql`CREATE INDEX claims_begun ON claims (owner) WHERE name LIKE 'request:% %'`
})
