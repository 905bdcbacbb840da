/** Messages and checks for tests of the venue's events, in a `CallWorld`. */
import { assert } from "@effect/vitest"
import type { AccountFact } from "../../../src/machines/venue/VenueEvent.ts"
import type { VenueOrder } from "../../../src/machines/venue/venueObjects.ts"
import type { VenueShape } from "../../../src/runtime/ports/Venue.ts"
import { eventsLost } from "../../../src/runtime/services/venue/venueQuarantine.ts"
import { venueOrder } from "../../support/venueOrders.ts"
import { type CallProcess, CallWorld, uidOf } from "./CallWorld.ts"

/** The account of client 7. */
export const account = uidOf(7)

export const orderOf = (ref: string | null, change: Partial<VenueOrder> = {}): VenueOrder =>
  venueOrder(account, ref, change)

export const saying =
  (order: VenueOrder) =>
  (stamp: { readonly account: string; readonly sequence: number }): AccountFact => ({ type: "order", ...stamp, order })

interface ProbeWorld {
  readonly world: CallWorld
  readonly process: CallProcess
  readonly id: number
  readonly ref: string
}

/**
 * A world whose client 7 has one probe that the venue never received: void here, so that a later execution is a late
 * find.
 */
export const withVoidProbe = (bend: (venue: VenueShape) => VenueShape = (venue) => venue): ProbeWorld => {
  const world = new CallWorld((name) => (name === "placeOrder" ? { lost: "before" } : {}), bend)
  const process = world.launch()
  process.probe(7, 1)
  world.run(5_000)
  const id = [...world.probes.keys()][0] as number
  assert.strictEqual(world.probes.get(id), "VOID")
  return { world, process, id, ref: `P-${id}` }
}

export const sequence = (world: CallWorld, of = 7): number | undefined =>
  world.store.rows("venueAccounts").find(({ clientId }) => clientId === of)?.sequence
export const aside = (world: CallWorld): ReadonlyArray<string> =>
  world.store.rows("venueQuarantine").map(({ reason }) => reason)
export const mark = (world: CallWorld): number | undefined => world.store.rows("venueCursor")[0]?.number

/** The quarantine entries of skipped events, as sentences. */
export const lost = (world: CallWorld): ReadonlyArray<unknown> =>
  world.store
    .rows("venueQuarantine")
    .filter(({ reason }) => reason === eventsLost)
    .map(({ bytes }): unknown => JSON.parse(bytes))
