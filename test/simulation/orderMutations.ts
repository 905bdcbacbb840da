/** Deliberate faults in the trade of perpetuals and spot: holds, missed trades, protection (see mutations.ts). */
import { Effect, Stream } from "effect"
import type { VenueEvent } from "../../src/machines/venue/VenueEvent.ts"
import type { VenueFill } from "../../src/machines/venue/venueObjects.ts"
import { formatAmount } from "../../src/machines/shared/Money.ts"
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import type { ActorHost } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import type { VenueShape } from "../../src/runtime/ports/Venue.ts"
import type { LedgerTransactionRow } from "../../src/runtime/tables/ledger.ts"
import type { OrderRow } from "../../src/runtime/tables/order.ts"
import { commits, type Mutation } from "./bends.ts"
import { refusedBySilence } from "./contractMutations.ts"
import { units, works } from "./OrderAudit.ts"

/** A connection to the venue that drops some trades, though not their orders. */
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

/** Changes the committed orders. */
const otherOrders = (bend: (row: OrderRow) => OrderRow) =>
  commits((commit) => {
    const { orders } = commit.rows
    if (orders === undefined) return commit
    return { ...commit, rows: { ...commit.rows, orders: orders.map((row) => bend(row)) } }
  })

const nothing: Commit = {
  fence: null,
  partner: null,
  claims: [],
  releases: [],
  clearedTimers: [],
  endedCalls: [],
  rows: {}
}
/** The time between the check of an account and the turn that relies on it, ms. */
const outsideMillis = 40

/** Mailboxes whose turns judge a request by the client's rows from its arrival. */
const judgedBefore = (host: ActorHost["Service"]): ActorHost["Service"] => ({
  ...host,
  dispatch: (command) =>
    command.store === undefined
      ? host.dispatch(command)
      : Effect.flatMap(
          host.read(command.subject, (state) => state.after(nothing)),
          (known) =>
            Effect.delay(
              host.dispatch({ ...command, decide: (turn) => command.decide({ ...turn, state: known }) }),
              outsideMillis
            )
        )
})

/** An order whose total lacks the remainder of its commission, so that the next trade rounds by itself. */
const asIfNew = (row: OrderRow): OrderRow => {
  const { family, quoteTotal, commissionBps } = row.context
  if (family !== "SPOT") return row
  const value = units(quoteTotal, 6)
  const whole = formatAmount(value - ((value * BigInt(commissionBps)) % 10_000n) / BigInt(commissionBps), "USDC")
  return { ...row, context: { ...row.context, quoteTotal: whole } }
}

/** Mailboxes whose turns write changed orders. */
const putting =
  (bend: (row: OrderRow) => OrderRow) =>
  (host: ActorHost["Service"]): ActorHost["Service"] => ({
    ...host,
    dispatch: (command) =>
      host.dispatch({
        ...command,
        decide: (turn) => {
          const value = command.decide(turn)
          for (const row of turn.draft.written("orders")) turn.draft.put("orders", bend(row))
          return value
        }
      })
  })

/** Changes the committed ledger transactions. */
const otherTransactions = (bend: (row: LedgerTransactionRow) => LedgerTransactionRow) =>
  commits((commit) => {
    const { ledgerTransactions } = commit.rows
    if (ledgerTransactions === undefined) return commit
    return { ...commit, rows: { ...commit.rows, ledgerTransactions: ledgerTransactions.map(bend) } }
  })

export const orderMutations: ReadonlyArray<Mutation> = [
  {
    name: "funding is posted under a key without the client",
    shows: ["funding"],
    seams: () =>
      otherTransactions((row) =>
        row.type === "FUNDING" ? { ...row, key: row.key.slice(0, row.key.lastIndexOf(":")) } : row
      )
  },
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
  },
  {
    name: "an order is checked before its turn, by what another order has spent since",
    shows: ["margin"],
    seams: () => ({ trading: judgedBefore })
  },
  {
    name: "the commission of a spot order is rounded up for each of its trades",
    shows: ["orders"],
    seams: () => ({ trading: putting(asIfNew) })
  },
  {
    name: "a trade is known by its id alone, whosever order it fills",
    shows: ["venue"],
    seams: () => {
      let seen: MemoryStore | null = null
      return {
        store: (store) => (seen = store),
        venue: (venue) =>
          withoutFills(
            venue,
            ({ tradeId, ref }) =>
              seen?.rows("fills").some((fill) => fill.tradeId === tradeId && `O-${fill.orderId}` !== ref) === true
          )
      }
    }
  }
]
