/**
 * Schedules new reads of objects whose report by the venue does not fit. Orders are read with their trades
 * (`OrderResync`). Other objects are looked up by their refs (`layerMisfitReads`; A2-115).
 */
import { Context, Effect, Latch, Layer } from "effect"
import { lookupLimit } from "../../../machines/venue/venueCalls.ts"
import { ownerOfRef } from "../../../machines/venue/venueRefs.ts"
import { OutOfSync } from "./OutOfSync.ts"

export interface WantedRead {
  readonly clientId: number
  /** The ref that names the object in the query to the venue. */
  readonly ref: string
}

export class MisfitReads extends Context.Service<
  MisfitReads,
  {
    /** Schedules a read of an object. */
    readonly want: (read: WantedRead) => void
    /** Takes scheduled reads, at most as many as one lookup holds. */
    readonly take: () => ReadonlyArray<WantedRead>
    /** A latch that is open while reads are scheduled. */
    readonly some: Latch.Latch
  }
>()("brokerage/runtime/services/venue/MisfitReads") {
  static readonly layer = Layer.effect(
    MisfitReads,
    Effect.map(OutOfSync, (unsettled) => MisfitReads.of(misfitReads(unsettled)))
  )
}

/**
 * The reads that misfits of this process have scheduled. They are in memory only: after a restart the durable timers of the
 * misfits schedule them again.
 */
export const misfitReads = (unsettled: OutOfSync["Service"]): MisfitReads["Service"] => {
  const wanted = new Map<string, WantedRead>()
  const some = Latch.makeUnsafe(false)
  return {
    some,
    want: (read) => {
      const owner = ownerOfRef(read.ref)
      if (owner?.owner === "order") {
        unsettled.add({ clientId: read.clientId, orderId: owner.id, filledQty: "0", ended: false, wasOver: false })
        return
      }
      wanted.set(read.ref, read)
      some.openUnsafe()
    },
    take: () => {
      const taken = [...wanted.values()].slice(0, lookupLimit)
      for (const { ref } of taken) wanted.delete(ref)
      if (wanted.size === 0) some.closeUnsafe()
      return taken
    }
  }
}
