/** The objects of accounts that the events of one input changed, for the answer to a tester. */
import type { VenueEvent } from "../../../src/machines/venue/VenueEvent.ts"
import type { VenueContract, VenueOrder } from "../../../src/machines/venue/venueObjects.ts"
import { namedLimit, type VenueChange } from "../../../src/venue/VenueCommand.ts"

type Changes = Pick<VenueChange, "filled" | "triggered" | "cancelled" | "ended">

/** Each object is counted once, with its last state. */
export const changesOf = (events: ReadonlyArray<VenueEvent>): Changes => {
  const filled = new Map<number, VenueOrder>()
  const triggered = new Map<number, VenueOrder>()
  const cancelled = new Map<number, VenueOrder>()
  const ended = new Map<number, VenueContract>()
  for (const { at, fact } of events) {
    if (fact.type === "contract" && fact.contract.state !== "OPEN") ended.set(fact.contract.id, fact.contract)
    if (fact.type !== "order" && fact.type !== "fill") continue
    const { order } = fact
    if (fact.type === "fill" || filled.has(order.id)) filled.set(order.id, order)
    if (order.triggeredAt === at) triggered.set(order.id, order)
    if (order.state === "CANCELLED") cancelled.set(order.id, order)
  }
  return { filled: named(filled), triggered: named(triggered), cancelled: named(cancelled), ended: named(ended) }
}

type Named = Pick<VenueOrder, "id" | "account" | "symbol"> & { readonly ref: string | null; readonly state: string }

const named = <A extends Named>(changed: ReadonlyMap<number, A>) => ({
  count: changed.size,
  first: [...changed.values()]
    .slice(0, namedLimit)
    .map(({ id, ref, account, symbol, state }): Pick<A, keyof Named> => ({ id, ref, account, symbol, state }))
})
