/** A misfit of a request to close names the contract, because it ends with the contract (A2-115). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0064 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE venue_misfits ADD COLUMN contract_id bigint`
  // The number in the ref of a request, or of its accept, is the id of the request.
  yield* sql`
    UPDATE venue_misfits SET contract_id = rfqs.close_contract_id FROM rfqs
     WHERE venue_misfits.state <> 'ENDED' AND venue_misfits.ref SIMILAR TO '(A|R)-%'
       AND rfqs.id = split_part(venue_misfits.ref, '-', 2)::bigint`
})
