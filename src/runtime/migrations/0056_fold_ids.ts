/** One turn can take up to 64 events of an account (F14, A2-115): the ids that it needs come in larger blocks. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idBlockSize, idSequenceOf } from "../engine/journal/IdBlocks.ts"

export const m0056 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const kind of ["openFunding", "reconBreak", "venueQuarantine", "venueMisfit"] as const) {
    yield* sql.unsafe(`ALTER SEQUENCE ${idSequenceOf(kind)} INCREMENT BY ${idBlockSize(kind)}`)
  }
})
