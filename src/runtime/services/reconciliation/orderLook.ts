/** What a client trades as stored rows have it, and as the venue has it: a look of the comparison (A2-103). It takes no turn. */
import { Effect } from "effect"
import type { OrderRow } from "../../store/tables/order.ts"
import { workingStates } from "../../../machines/order/Order.ts"
import { bookedTrades, tradesCompared, tradesKnownToBoth, venueTrades } from "../../../machines/venue/trades.ts"
import type { VenueAccount } from "../../../machines/venue/venueObjects.ts"
import type { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import { accountEventsAtMost, type Venue, type VenueUnanswered } from "../../ports/Venue.ts"
import type { ClientRow } from "../../store/tables/client.ts"
import type { ComparedOrders } from "./orderComparison.ts"

/** Markets of a client at most, and working orders in each state: attached legs come on top of what a client may place (A2-94). */
const mostRows = 2_000

interface Sources {
  readonly stored: RowReads["Service"]
  readonly venue: Venue["Service"]
}

export const ordersOf = (
  { stored, venue }: Sources,
  { id: clientId }: ClientRow,
  account: VenueAccount | null
): Effect.Effect<ComparedOrders, Unavailable | VenueUnanswered> =>
  Effect.gen(function* () {
    const ofClient = { column: "client_id", value: clientId } as const
    const positions = yield* stored.page(
      "positions",
      [ofClient, { column: "state", value: "FLAT", comparison: "<>" }],
      {
        limit: mostRows
      }
    )
    const orders: Array<OrderRow> = []
    for (const state of workingStates) {
      const rows = yield* stored.page("orders", [ofClient, { column: "state", value: state }], { limit: mostRows })
      orders.push(...rows.filter(({ context }) => context.venueOrderId !== null))
    }
    const theirPositions = account?.positions ?? []
    // Who holds nothing on either side is not asked for trades: they add up to the same.
    const isTrader = positions.length > 0 || theirPositions.length > 0
    return {
      clientId,
      positions,
      orders,
      theirPositions,
      theirOrders: account?.orders ?? [],
      trades: account === null || !isTrader ? noTrades : yield* tradesOf({ stored, venue }, clientId, account)
    }
  })

const noTrades: ComparedOrders["trades"] = { ours: [], theirs: [] }

const tradesOf = (
  { stored, venue }: Sources,
  clientId: number,
  { account, sequence }: VenueAccount
): Effect.Effect<ComparedOrders["trades"], Unavailable | VenueUnanswered> =>
  Effect.gen(function* () {
    const after = Math.max(0, sequence - accountEventsAtMost)
    const events = yield* venue.accountEvents(account, after)
    const booked = yield* stored.page("fills", [{ column: "client_id", value: clientId }], { limit: tradesCompared })
    return tradesKnownToBoth(bookedTrades(booked), venueTrades(events, { after, last: sequence }))
  })
