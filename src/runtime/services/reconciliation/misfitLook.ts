/**
 * Lists the open misfits of a client: objects whose report by the venue does not fit the request. This look of the comparison
 * takes no turn (A2-115).
 */
import { Effect } from "effect"
import type { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import type { ClientRow } from "../../store/tables/client.ts"
import { misfitSentence } from "../venue/misfits.ts"

/** The most misfits of a client that are read, newest first. */
const mostRows = 200

/** A sentence for each. */
export const misfitsOf = (
  stored: RowReads["Service"],
  { id }: ClientRow
): Effect.Effect<ReadonlyArray<string>, Unavailable> =>
  Effect.map(stored.page("venueMisfits", [{ column: "client_id", value: id }], { limit: mostRows }), (rows) =>
    rows.filter(({ live }) => live).map(misfitSentence)
  )

/** Handles an account whose differences can't be written: logs an error and returns a sentence. */
export const notApplied =
  (uid: string) =>
  (defect: unknown): Effect.Effect<ReadonlyArray<string>> =>
    Effect.as(Effect.logError("differences of an account could not be settled", defect), [
      `The venue's report of ${uid} can't be applied: the log names the difference.`
    ])
