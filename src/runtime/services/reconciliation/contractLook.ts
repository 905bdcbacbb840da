/** What a client has open in contracts and requests as stored rows have it, and as the venue has it: a look of the comparison (A2-103). It takes no turn. */
import { Effect } from "effect"
import { acceptRef, requestRef } from "../../../machines/rfq/Rfq.ts"
import { lookupLimit } from "../../../machines/venue/venueCalls.ts"
import type { VenueAccount } from "../../../machines/venue/venueObjects.ts"
import type { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import type { Venue, VenueUnanswered } from "../../ports/Venue.ts"
import type { ClientRow } from "../../store/tables/client.ts"
import type { Compared } from "./comparisonDecisions.ts"

/** Open rows of a client; it may have 1,000 contracts and 50 requests (A2-22). */
const openAtMost = 2_000

interface Sources {
  readonly stored: RowReads["Service"]
  readonly venue: Venue["Service"]
}

/** What is open of a client here, and what the venue says of it. */
export const contractsOf = (
  { stored, venue }: Sources,
  { id }: ClientRow,
  account: VenueAccount | null
): Effect.Effect<Compared, Unavailable | VenueUnanswered> =>
  Effect.gen(function* () {
    const open = <T extends "barrierContracts" | "rfqs">(table: T) =>
      stored.page(
        table,
        [
          { column: "client_id", value: id },
          { column: "state", value: "OPEN" }
        ],
        { limit: openAtMost }
      )
    const contracts = yield* open("barrierContracts")
    const requests = (yield* open("rfqs")).filter(({ context }) => context.venueRfqId !== null)
    const theirs = (account?.contracts ?? []).filter(({ state }) => state === "OPEN")
    const there = new Set(theirs.map((each) => each.id))
    const missing = contracts.filter(({ context }) => !there.has(context.venueContractId))
    const refs = [
      ...missing.map(({ rfqId, context }) => acceptRef(rfqId, context.quoteId)),
      ...requests.map((request) => requestRef(request.id))
    ]
    const outcomes = new Map(
      (refs.length === 0 ? [] : yield* venue.lookup(refs.slice(0, lookupLimit))).map((each) => [each.ref, each])
    )
    return { clientId: id, contracts, requests, theirs, outcomes }
  })
