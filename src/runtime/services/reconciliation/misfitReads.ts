/**
 * Reads the open misfits of a client: objects whose venue report does not fit our request. It takes no turn, and queues each
 * object for a new venue read: a report that fits ends the misfit (A2-115).
 */
import { Effect } from "effect"
import type { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import type { ClientRow } from "../../tables/client.ts"
import type { VenueMisfitRow } from "../../tables/venue.ts"
import type { MisfitReads } from "../venue/MisfitReads.ts"
import { misfitSentence } from "../venue/misfits.ts"

/** The most misfits of a client in one state that are read, newest first. */
const mostRows = 200

interface MisfitReadParts {
  readonly stored: RowReads["Service"]
  readonly misfits: MisfitReads["Service"]
}

/** A sentence for each open misfit. */
export const misfitsOf = (
  { stored, misfits }: MisfitReadParts,
  { id }: ClientRow
): Effect.Effect<ReadonlyArray<string>, Unavailable> =>
  Effect.gen(function* () {
    const rowsIn = (state: VenueMisfitRow["state"]) =>
      stored.page(
        "venueMisfits",
        [
          { column: "client_id", value: id },
          { column: "state", value: state }
        ],
        { limit: mostRows }
      )
    const open = [...(yield* rowsIn("STANDING")), ...(yield* rowsIn("READING"))]
    for (const { ref } of open) misfits.want({ clientId: id, ref })
    return open.map(misfitSentence)
  })

/** Handles an account whose differences can't be written: logs an error and returns a sentence. */
export const notApplied =
  (uid: string) =>
  (defect: unknown): Effect.Effect<ReadonlyArray<string>> =>
    Effect.as(
      Effect.annotateLogs(
        Effect.logError("differences of an account could not be applied; the next comparison tries again", defect),
        { uid }
      ),
      [`The venue's report of ${uid} can't be applied: the log names the difference.`]
    )
