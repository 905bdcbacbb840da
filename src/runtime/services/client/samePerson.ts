/**
 * Whether another client is the same person (A1-28): asked of the clients themselves. The claim of a person only settles
 * races between clients that become the same person at once; it goes with its holder, who may be the first to leave.
 */
import { Effect } from "effect"
import type { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { ClientRow } from "../../store/tables/client.ts"
import type { RowReads } from "../../ports/RowReads.ts"

type Stored = Pick<RowReads["Service"], "page">

/** Another client of this person that counts: an open one, or one refused for good, closed since or not. Null: none. */
export const samePersonAs = (
  stored: Stored,
  personKey: string,
  clientId: number,
  pageSize = 100
): Effect.Effect<number | null, Unavailable> =>
  Effect.gen(function* () {
    let before: number | undefined
    for (;;) {
      const rows = yield* stored.page("clients", [{ column: "person_key", value: personKey }], {
        limit: pageSize,
        ...(before === undefined ? {} : { before })
      })
      const others = rows.filter(({ id }) => id !== clientId)
      const open = others.findLast(({ state }) => state !== "CLOSED")
      if (open !== undefined) return open.id
      for (const closed of others) if (yield* refusedForGood(stored, closed)) return closed.id
      before = rows.at(-1)?.id
      if (rows.length < pageSize || before === undefined) return null
    }
  })

/** A closed client keeps no word of it in its state: the decisions show whether the refusal still stood. */
const refusedForGood = (stored: Stored, { id }: ClientRow): Effect.Effect<boolean, Unavailable> =>
  Effect.gen(function* () {
    const latest = (decision: string) =>
      Effect.map(
        stored.page(
          "decisions",
          [
            { column: "client_id", value: id },
            { column: "decision", value: decision }
          ],
          { limit: 1 }
        ),
        ([row]) => row?.id ?? 0
      )
    const refused = yield* latest("PERSON_REJECTED")
    return refused > 0 && refused > (yield* latest("REOPENED"))
  })
