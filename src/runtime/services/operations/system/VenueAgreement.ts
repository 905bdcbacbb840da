/**
 * `sim verify`: compares service and venue. Waits until no call or event is in flight between them, then compares each
 * account's holdings on both sides. Accounts with differences are queued for the comparison that opens breaks
 * (`VenueComparison`). Without a venue there is nothing to compare.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Option, Stream } from "effect"
import {
  compareHoldings,
  differenceSentence,
  type Holding,
  type HoldingDifference,
  type HoldingKind,
  holdingKinds,
  moneyHoldings,
  tradeHolding,
  venueHoldings
} from "../../../../machines/reconciliation/holdings.ts"
import { ownMoney, venueMoney } from "../../../../machines/reconciliation/money.ts"
import { orderRef } from "../../../../machines/order/Order.ts"
import { requestRef } from "../../../../machines/rfq/Rfq.ts"
import { bookedTrades, tradesKnownToBoth, venueTrades } from "../../../../machines/venue/trades.ts"
import type { VenueAccount } from "../../../../machines/venue/venueObjects.ts"
import { lookupLimit } from "../../../../machines/venue/venueCalls.ts"
import { accept, conflict, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import type { Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { accountEventsAtMost, Venue, type VenueShape, type VenueUnanswered } from "../../../ports/Venue.ts"
import { Settings } from "../../../Settings.ts"
import { VenueComparison } from "../../reconciliation/VenueComparison.ts"
import { eventsLost } from "../../venue/venueQuarantine.ts"
import {
  type MissingEvents,
  readMissingEvents,
  nothingOpen,
  type OpenHere,
  openHere,
  type VenueTraffic,
  venueTraffic
} from "../../../store/reads/venueReads.ts"
import { whenAway } from "../../../store/whenAway.ts"
import { plural } from "../../../../machines/shared/Text.ts"

/** The attached venue; null: none. */
const AttachedVenue = Context.Reference<VenueShape | null>("brokerage/runtime/services/system/AttachedVenue", {
  defaultValue: () => null
})

/** Makes the venue known to `sim verify`. */
export const layerAttachedVenue: Layer.Layer<never, never, Venue> = Layer.effect(AttachedVenue, Venue)

export interface Agreement {
  readonly ok: boolean
  /** The first fault as a sentence; null: there is none. */
  readonly first: string | null
  /** False: no venue is attached. */
  readonly venue: boolean
  readonly accounts: number
  /** Number of compared holdings of each kind. */
  readonly compared: { readonly [Kind in HoldingKind]: number }
  /** Accounts whose money was not compared, because they are older than the venue's money records. */
  readonly withoutMoney: number
  /** The refs of the oldest calls in flight. */
  readonly inFlight: ReadonlyArray<string>
  /** Events of the venue that the service has not applied yet. */
  readonly eventsBehind: number
  /**
   * The newest gaps in the event stream that the service has skipped because the venue did not deliver the events.
   * Staff drop them.
   */
  readonly eventsLost: ReadonlyArray<MissingEvents>
  readonly differences: ReadonlyArray<HoldingDifference>
}

const patienceMillis = 10_000
const pollMillis = 100
/** The most differences that are listed. */
const mostListed = 20
/** Accounts per database read. */
const pageLength = 500
/** Pause before differences are compared again, ms. */
const again = 1_000
/** Accounts queried at the venue in parallel. */
const atOnce = 8

export class VenueAgreement extends Context.Service<
  VenueAgreement,
  { readonly verify: Effect.Effect<Verdict<Agreement>, Unavailable> }
>()("brokerage/runtime/services/operations/system/VenueAgreement") {
  static readonly layer = Layer.effect(
    VenueAgreement,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const settings = yield* Settings
      const venue = yield* AttachedVenue
      const { want } = yield* VenueComparison
      const reads: Reads = {
        traffic: Effect.catch(venueTraffic(sql, mostListed), whenAway),
        lost: Effect.catch(readMissingEvents(sql, eventsLost, mostListed), whenAway),
        open: (uids) => Effect.catch(openHere(sql, uids), whenAway),
        want
      }
      return VenueAgreement.of({
        verify: Effect.suspend(() => {
          if (!settings.sandbox) return Effect.succeed(sandboxOnly)
          if (venue === null) return Effect.succeed(accept(withoutVenue))
          return Effect.map(
            Effect.catchTag(agreementWith(venue, reads), "VenueUnanswered", ({ reason }) =>
              Effect.succeed(unanswered(reason))
            ),
            accept
          )
        })
      })
    })
  )
}

const sandboxOnly = refuse(conflict("SANDBOX_ONLY", "Service and venue can be compared in a sandbox service only."))

const nothingCompared: Agreement["compared"] = Object.fromEntries(
  holdingKinds.map((kind) => [kind, 0])
) as Agreement["compared"]

const withoutVenue: Agreement = {
  ok: true,
  first: null,
  venue: false,
  accounts: 0,
  compared: nothingCompared,
  withoutMoney: 0,
  inFlight: [],
  eventsBehind: 0,
  eventsLost: [],
  differences: []
}

const unanswered = (reason: string): Agreement => ({
  ...withoutVenue,
  venue: true,
  ok: false,
  first: `the venue does not answer: ${reason}`
})

interface Reads {
  readonly traffic: Effect.Effect<VenueTraffic, Unavailable>
  readonly lost: Effect.Effect<ReadonlyArray<MissingEvents>, Unavailable>
  readonly open: (uids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, OpenHere>, Unavailable>
  /** Queues an account with differences for the comparison that opens breaks. */
  readonly want: (uid: string) => void
}

const agreementWith = (venue: VenueShape, reads: Reads): Effect.Effect<Agreement, Unavailable | VenueUnanswered> =>
  Effect.gen(function* () {
    const { quiet, status, sent } = yield* untilQuiet(venue, reads.traffic)
    const found = yield* compareAll(venue, reads.open, status.accounts)
    const differing = found.filter(({ differences }) => differences.length > 0).map(({ account }) => account)
    if (quiet && differing.length > 0) yield* Effect.sleep(again)
    const differences = (yield* compareAll(venue, reads.open, differing)).flatMap((each) => each.differences)
    for (const { account } of differences.slice(0, mostListed)) reads.want(account)
    const eventsBehind = Math.max(0, (sent ?? 0) - status.taken)
    const first = quiet
      ? (differences.map(differenceSentence)[0] ?? null)
      : waitingSentence(status, sent === null ? null : eventsBehind)
    return {
      ok: first === null,
      first,
      venue: true,
      accounts: status.accounts.length,
      compared: Object.fromEntries(
        holdingKinds.map((kind) => [kind, found.reduce((total, { counts }) => total + counts[kind], 0)])
      ) as Agreement["compared"],
      withoutMoney: found.filter(({ withoutMoney }) => withoutMoney).length,
      inFlight: status.inFlight,
      eventsBehind,
      eventsLost: yield* reads.lost,
      differences: differences.slice(0, mostListed)
    }
  })

const waitingSentence = ({ inFlight: [ref], taken }: VenueTraffic, eventsBehind: number | null): string => {
  if (ref !== undefined) return `the call ${ref} is still in flight`
  return eventsBehind === null
    ? `the venue does not keep the events after ${taken}, and the service has not gone on yet`
    : `the service has not yet applied ${plural(eventsBehind, "event")} of the venue`
}

/** Waits until no call is in flight, and all events that the venue had published when the wait began are applied. */
const untilQuiet = (venue: VenueShape, traffic: Effect.Effect<VenueTraffic, Unavailable>) =>
  Effect.gen(function* () {
    let sent: number | null = null
    for (let waited = 0; ; waited += pollMillis) {
      const status = yield* traffic
      sent ??= yield* lastNumber(venue, status.taken)
      const quiet = status.inFlight.length === 0 && sent !== null && status.taken >= sent
      if (quiet || waited >= patienceMillis) return { quiet, status, sent }
      yield* Effect.sleep(pollMillis)
    }
  })

/** The number of the venue's last event. Null: the venue no longer keeps the events after `after`. */
const lastNumber = (venue: VenueShape, after: number): Effect.Effect<number | null, VenueUnanswered> =>
  venue.events(after).pipe(
    Stream.filter((line) => "heartbeat" in line),
    Stream.runHead,
    Effect.map(Option.match({ onNone: () => after, onSome: ({ number }) => number })),
    Effect.catchTag("VenueEventsGone", () => Effect.succeed(null))
  )

/** The service's holdings of an account, in the form of the comparison. */
const serviceHoldings = ({ contracts, swaps, requests, positions, orders }: OpenHere): ReadonlyArray<Holding> => [
  ...positions.map(({ symbol, qty }): Holding => ({ kind: "position", name: symbol, figure: qty })),
  ...orders.map(({ id, left }): Holding => ({ kind: "order", name: orderRef(id), figure: left })),
  ...contracts.map(({ id, qty }): Holding => ({ kind: "contract", name: String(id), figure: qty })),
  ...swaps.map(({ id, notional }): Holding => ({ kind: "swap", name: String(id), figure: notional })),
  ...requests.map((id): Holding => ({ kind: "request", name: requestRef(id), figure: "OPEN" }))
]

/** Those requests of this service that are open at the venue. The venue has no list of requests, so each is queried. */
const requestsThere = (venue: VenueShape, { requests }: OpenHere) =>
  requests.length === 0
    ? Effect.succeed([])
    : Effect.map(venue.lookup(requests.slice(0, lookupLimit).map(requestRef)), (outcomes) =>
        outcomes
          .filter(({ rfq }) => rfq?.state === "OPEN")
          .map(({ ref }): Holding => ({ kind: "request", name: ref, figure: "OPEN" }))
      )

/** The trades on both sides. An account without booked trades and without positions at the venue is not queried. */
const tradesOfBoth = (venue: VenueShape, found: VenueAccount | null, ours: OpenHere) => {
  if (found === null || (ours.trades.length === 0 && found.positions.length === 0)) return Effect.succeed(neither)
  const after = Math.max(0, found.sequence - accountEventsAtMost)
  return Effect.map(venue.accountEvents(found.account, after), (events) =>
    tradesKnownToBoth(bookedTrades(ours.trades), venueTrades(events, { after, last: found.sequence }))
  )
}

const neither = { ours: [], theirs: [] }

/** Balances on both sides. Empty for an account that is older than the venue's money records. */
const moneyOfBoth = (found: VenueAccount | null, ours: OpenHere) => {
  const theirs = found === null ? new Map<string, never>() : venueMoney(found)
  return theirs === null ? neither : { ours: moneyHoldings(ownMoney(ours.money)), theirs: moneyHoldings(theirs) }
}

const compare = (venue: VenueShape, account: string, ours: OpenHere = nothingOpen) =>
  Effect.gen(function* () {
    const found = yield* venue.account(account)
    const requests = yield* requestsThere(venue, ours)
    const trades = yield* tradesOfBoth(venue, found, ours)
    const money = moneyOfBoth(found, ours)
    const here = [...serviceHoldings(ours), ...trades.ours.map(tradeHolding), ...money.ours]
    const theirs = [
      ...(found === null ? [] : venueHoldings(found)),
      ...requests,
      ...trades.theirs.map(tradeHolding),
      ...money.theirs
    ]
    return {
      account,
      withoutMoney: found?.money === null,
      differences: compareHoldings(account, here, theirs),
      counts: Object.fromEntries(
        holdingKinds.map((kind) => [kind, theirs.filter((each) => each.kind === kind).length])
      ) as Agreement["compared"]
    }
  })

/** Compares accounts page by page. */
const compareAll = (venue: VenueShape, open: Reads["open"], accounts: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const found: Array<Effect.Success<ReturnType<typeof compare>>> = []
    for (let from = 0; from < accounts.length; from += pageLength) {
      const page = accounts.slice(from, from + pageLength)
      const here = yield* open(page)
      found.push(
        ...(yield* Effect.forEach(page, (account) => compare(venue, account, here.get(account)), {
          concurrency: atOnce
        }))
      )
    }
    return found
  })
