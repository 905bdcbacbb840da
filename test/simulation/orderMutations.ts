/** Deliberate faults in the trade of perpetuals and spot: holds, trades that are missed, protection (see mutations.ts). */
import { Effect, Stream } from "effect"
import type { VenueEvent } from "../../src/machines/venue/VenueEvent.ts"
import type { VenueFill } from "../../src/machines/venue/venueObjects.ts"
import { formatAmount } from "../../src/machines/shared/Money.ts"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import type { VenueShape } from "../../src/runtime/ports/Venue.ts"
import type { OrderRow } from "../../src/runtime/store/tables/order.ts"
import { commits, type Mutation } from "./bends.ts"
import { refusedBySilence } from "./contractMutations.ts"
import { units, works } from "./OrderAudit.ts"

/** A way to the venue on which some trades are never heard of, though their orders are. */
const withoutFills = (venue: VenueShape, isLost: (fill: VenueFill) => boolean): VenueShape => {
  const lose = <Line extends object>(line: Line | VenueEvent): Line | VenueEvent => {
    if (!("fact" in line) || line.fact.type !== "fill" || !isLost(line.fact.fill)) return line
    const { account, sequence, order } = line.fact
    return { ...line, fact: { type: "order", account, sequence, order } }
  }
  return {
    ...venue,
    events: (after) => Stream.map(venue.events(after), (line) => lose(line)),
    accountEvents: (account, after) =>
      Effect.map(venue.accountEvents(account, after), (lines) => lines.map((line) => lose(line))),
    orderFills: (ref) => Effect.map(venue.orderFills(ref), (fills) => fills?.filter((fill) => !isLost(fill)) ?? null)
  }
}

/** Orders as they are committed, bent. */
const otherOrders = (bend: (row: OrderRow) => OrderRow) =>
  commits((commit) => {
    const { orders } = commit.rows
    if (orders === undefined) return commit
    return { ...commit, rows: { ...commit.rows, orders: orders.map((row) => bend(row)) } }
  })

export const orderMutations: ReadonlyArray<Mutation> = [
  {
    name: "what is held for an order is freed when the venue does not say what became of it",
    shows: ["orders"],
    seams: () => ({
      venue: (venue) => ({
        ...venue,
        write: (name, request) =>
          Effect.catch(venue.write(name, request), (error) =>
            name === "placeOrder" && request.ref.startsWith("O-")
              ? Effect.succeed(refusedBySilence(request.ref))
              : Effect.fail(error)
          )
      })
    })
  },
  {
    name: "a trade that comes while its order is being cancelled, or after its end, is dropped",
    shows: ["orders"],
    seams: () => {
      let seen: MemoryStore | null = null
      const lost = new Set<string>()
      return {
        store: (store) => (seen = store),
        venue: (venue) =>
          withoutFills(venue, ({ tradeId, ref }) => {
            const row = seen?.rows("orders").find(({ id }) => ref === `O-${id}`)
            const isLate = row !== undefined && (row.state === "PENDING_CANCEL" || !works(row))
            const isBooked = seen?.rows("fills").some((fill) => `O-${fill.orderId}` === ref && fill.tradeId === tradeId)
            if (isLate && isBooked !== true) lost.add(`${ref} ${tradeId}`)
            return lost.has(`${ref} ${tradeId}`)
          })
      }
    }
  },
  {
    name: "an order that protects is larger than what is held",
    shows: ["orders"],
    seams: () =>
      otherOrders((row) =>
        row.parentOrderId === null
          ? row
          : { ...row, context: { ...row.context, qty: formatAmount(units(row.context.qty, 6) * 2n, "USDC") } }
      )
  }
]
