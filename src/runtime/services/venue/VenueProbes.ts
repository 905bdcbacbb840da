/**
 * Probes of the venue: orders of a client that can neither fill nor rest, sent like every other call, with their outcomes. For
 * tests, simulations and QA; sandbox only (operator surface, sim venue).
 */
import { decimalText } from "../../../machines/shared/Money.ts"
import { PgClient } from "@effect/sql-pg"
import { Decimal } from "decimal.js"
import { Context, Effect, Layer } from "effect"
import { accept, conflict, refuse, type Verdict } from "../../../machines/shared/Refusal.ts"
import type { ProbeOrder, VenueProbeState } from "../../../machines/venueChecks/VenueProbe.ts"
import type { VenueMarket } from "../../../machines/venue/VenueMarket.ts"
import { start } from "../../effects/advance.ts"
import { currentDryRun } from "../../engine/mailbox/dryRun.ts"
import { ActorHost, type DispatchError, type Turn } from "../../engine/mailbox/ActorHost.ts"
import { Venue, type VenueShape, VenueUnanswered } from "../../ports/Venue.ts"
import { Settings } from "../../Settings.ts"
import type { ClientRow } from "../../tables/client.ts"
import type { VenueProbeRow } from "../../tables/venue.ts"
import { clientSubject } from "../account/clientState.ts"
import { findClient } from "../account/findClient.ts"
import { LastListing } from "../market/LastListing.ts"
import type { OperatorCaller } from "../shared/OperatorCaller.ts"
import { Directory } from "../partners/Directory.ts"
import { venueAway } from "./venueAway.ts"
import { callsEnded } from "./VenueGateway.ts"

/** A probe as the operator sees it. IN_FLIGHT: its outcome was still unknown after 5 s. */
export interface ProbeView {
  readonly probeId: number
  readonly state: VenueProbeState
  readonly venueOrderId: number | null
  readonly reason: string | null
}

export interface ProbesView {
  readonly clientId: number
  readonly symbol: string
  readonly price: string
  readonly probes: ReadonlyArray<ProbeView>
}

export class VenueProbes extends Context.Service<
  VenueProbes,
  {
    /** Starts `calls` probes in one commit, and waits up to 5 s for their outcomes. */
    run(caller: OperatorCaller, client: string, calls: number): Effect.Effect<Verdict<ProbesView>, DispatchError>
  }
>()("brokerage/runtime/services/venue/VenueProbes") {
  static readonly layer = Layer.effect(
    VenueProbes,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const directory = yield* Directory
      const venue = yield* Venue
      const listing = yield* LastListing
      const sql = yield* PgClient.PgClient
      const { sandbox } = yield* Settings

      const ended = (clientId: number, ids: ReadonlyArray<number>) =>
        Effect.andThen(
          currentDryRun() === null
            ? callsEnded(
                host,
                clientId,
                ids.map((id) => `P-${id}`)
              )
            : Effect.void,
          host.read(clientSubject(clientId), (state) =>
            ids.flatMap((id) => {
              const row = state.get("venueProbes", String(id))
              return row === undefined ? [] : [viewOf(row)]
            })
          )
        )

      return VenueProbes.of({
        run: (caller, name, count) =>
          Effect.gen(function* () {
            if (!sandbox) return sandboxOnly
            const named = yield* findClient(host, sql, name)
            if (!named.ok) return named
            const client = named.value
            const found = yield* Effect.result(probeOrder(venue, listing))
            if (found._tag === "Failure") return venueAway(found.failure)
            const order = found.success
            if (order === null) return noMarket
            const ids = yield* host.dispatch({
              subject: clientSubject(client.id),
              by: caller.by,
              partner: () => directory.stamp(client.partnerId),
              decide: (turn) => Array.from({ length: count }, () => startProbe(turn, client, order).id)
            })
            const probes = yield* ended(client.id, ids)
            return accept({ clientId: client.id, symbol: order.symbol, price: order.price ?? "", probes })
          })
      })
    })
  )
}

const sandboxOnly = refuse(conflict("SANDBOX_ONLY", "Probes of the venue are for a sandbox service only."))
const noMarket = refuse(conflict("NO_OPEN_MARKET", "The venue lists no market that has a price and is open."))

const viewOf = ({ id, state, context: { venueOrderId, reason } }: VenueProbeRow): ProbeView => ({
  probeId: id,
  state,
  venueOrderId,
  reason
})

const startProbe = (turn: Turn, { id: clientId, partnerId, uid }: ClientRow, order: ProbeOrder): VenueProbeRow => {
  const id = turn.nextId("venueProbe")
  return start(turn, "venueProbes", {
    input: { probeId: id, clientId, account: uid, ...order, startedAt: turn.now },
    columns: { id, partnerId, clientId, startedAt: turn.now }
  })
}

/** A buy order of the least quantity in the first open market, at half the band below the mark; null: no market is open. */
const probeOrder = (
  venue: VenueShape,
  listing: LastListing["Service"]
): Effect.Effect<ProbeOrder | null, VenueUnanswered> =>
  Effect.gen(function* () {
    const { markets } = listing.believe(yield* venue.listing).listing
    const market = markets.find(({ family, halt, delisted }) => family !== "BARRIER" && halt === null && !delisted)
    if (market === undefined) return null
    const ticker = yield* venue.snapshot({ channel: "ticker", symbol: market.symbol })
    const mark = ticker.channel === "ticker" ? ticker.mark : null
    return mark === null ? null : orderOf(market, new Decimal(mark))
  })

const orderOf = (market: VenueMarket, mark: Decimal): ProbeOrder => {
  const below = mark.times(1 - market.bandBps / 20_000)
  const price = below.div(market.priceTick).floor().times(market.priceTick)
  const enough = new Decimal(market.minNotional).div(price).div(market.qtyStep).ceil().times(market.qtyStep)
  return {
    symbol: market.symbol,
    side: "BUY",
    price: decimalText(price),
    qty: decimalText(Decimal.max(enough, market.minQty))
  }
}
