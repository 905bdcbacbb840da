/** Commands for messages of the venue that could not be applied (operator surface, venue quarantine; A2-115). */
import { Context, Effect, Layer } from "effect"
import { accept, conflict, refuse, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import { ActorHost, type DispatchError, type Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../ports/RowReads.ts"
import type { PageQuery } from "../../store/paging.ts"
import type { VenueQuarantineRow } from "../../tables/venue.ts"
import { type OperatorCaller, systemSubject } from "../shared/OperatorCaller.ts"
import { putDropped } from "./venueQuarantine.ts"

export interface QuarantineView extends Omit<VenueQuarantineRow, "id"> {
  readonly quarantineId: number
}

const viewOf = ({ id, ...row }: VenueQuarantineRow): QuarantineView => ({ quarantineId: id, ...row })

const dropped = refuse(conflict("ALREADY", "This was dropped already."))

export class QuarantineDesk extends Context.Service<
  QuarantineDesk,
  {
    /** Messages, newest first, including dropped ones. */
    list(query: PageQuery): Effect.Effect<ReadonlyArray<QuarantineView>, Unavailable>
    /** Marks a message as dropped: staff need to take no further action. The row stays. */
    drop(caller: OperatorCaller, id: number): Effect.Effect<Verdict<QuarantineView>, DispatchError>
  }
>()("brokerage/runtime/services/venue/QuarantineDesk") {
  static readonly layer = Layer.effect(
    QuarantineDesk,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const stored = yield* RowReads
      return QuarantineDesk.of({
        list: (query) => Effect.map(stored.page("venueQuarantine", [], query), (rows) => rows.map(viewOf)),
        drop: (caller, id) =>
          Effect.gen(function* () {
            const [row] = yield* stored.among("venueQuarantine", [id])
            if (row === undefined) return refuse(unknown("Quarantined event"))
            if (row.droppedAt !== null) return dropped
            return yield* host
              .dispatch({
                subject: systemSubject,
                by: caller.by,
                decide: (turn) => {
                  // The row belongs to no mailbox, so a claim ensures that only one of two concurrent drops succeeds.
                  turn.draft.claim(`venueQuarantine:${id}`, id)
                  return accept(viewOf(putDropped(turn, row, row.reason)))
                }
              })
              .pipe(Effect.catchTag("ClaimLost", () => Effect.succeed(dropped)))
          })
      })
    })
  )
}
