/**
 * Packages of persons who were refused for good before version 2 of the package's machine refused them together: they
 * waited in SPOT_CHECK for a decision that nobody could make any more (D1, D2).
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { personRefusedNote } from "../../machines/kyc/KycPackage.ts"

export const m0020 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const review = JSON.stringify({ reviewNote: personRefusedNote })
  yield* sql`UPDATE kyc_packages k SET state = 'REJECTED', context = (k.context::jsonb || ${review}::jsonb)::json
    FROM clients c WHERE c.id = k.client_id AND c.state = 'KYC_REJECTED' AND k.state <> 'REJECTED'`
})
