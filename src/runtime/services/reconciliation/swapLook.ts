/** What a client has lent to writers as stored rows have it, and as the venue has it: a look of the comparison (A2-103). It takes no turn. */
import { Effect } from "effect"
import { swapRef } from "../../../machines/swap/Swap.ts"
import { lookupLimit } from "../../../machines/venue/venueCalls.ts"
import type { VenueAccount } from "../../../machines/venue/venueObjects.ts"
import type { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import type { Venue, VenueUnanswered } from "../../ports/Venue.ts"
import type { ClientRow } from "../../store/tables/client.ts"
import type { ComparedSwaps } from "./swapComparison.ts"

/** Swaps of a client that are looked at; of more the newest. */
const mostRows = 2_000

interface Sources {
  readonly stored: RowReads["Service"]
  readonly venue: Venue["Service"]
}

export const swapsOf = (
  { stored, venue }: Sources,
  { id }: ClientRow,
  account: VenueAccount | null
): Effect.Effect<ComparedSwaps, Unavailable | VenueUnanswered> =>
  Effect.gen(function* () {
    const inState = (value: string) =>
      stored.page(
        "swaps",
        [
          { column: "client_id", value: id },
          { column: "state", value }
        ],
        { limit: mostRows }
      )
    const swaps = [...(yield* inState("OPEN")), ...(yield* inState("DEFAULTED"))]
    const theirs = (account?.swaps ?? []).filter(({ end }) => end === null)
    const there = new Set(theirs.map((each) => each.id))
    const missing = swaps.filter(({ contractId }) => contractId === null || !there.has(contractId))
    const refs = missing.map((swap) => swapRef(swap.id)).slice(0, lookupLimit)
    const said = refs.length === 0 ? [] : yield* venue.lookup(refs)
    return { clientId: id, swaps, theirs, outcomes: new Map(said.map((each) => [each.ref, each])) }
  })
