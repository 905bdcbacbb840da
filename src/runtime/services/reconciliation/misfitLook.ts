/** What of a client does not fit what was asked for, until the venue's answer fits (A2-115): a look of the comparison, which takes no turn. */
import { Effect } from "effect"
import type { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import type { ClientRow } from "../../store/tables/client.ts"
import { misfitSentence } from "../venue/misfits.ts"

/** The newest of a client. */
const mostRows = 200

/** A sentence for each. */
export const misfitsOf = (
  stored: RowReads["Service"],
  { id }: ClientRow
): Effect.Effect<ReadonlyArray<string>, Unavailable> =>
  Effect.map(stored.page("venueMisfits", [{ column: "client_id", value: id }], { limit: mostRows }), (rows) =>
    rows.filter(({ live }) => live).map(misfitSentence)
  )

/** What is said of an account whose differences can't be written: an error in the log, and a sentence. */
export const notApplied =
  (uid: string) =>
  (defect: unknown): Effect.Effect<ReadonlyArray<string>> =>
    Effect.as(Effect.logError("differences of an account could not be settled", defect), [
      `What the venue says of ${uid} can't be applied: the log names the difference.`
    ])
