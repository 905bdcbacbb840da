/**
 * Objects that are to be read again, because the venue has said something of them that does not fit (A2-115). Orders are read with
 * their trades (`OrderResync`), others are looked up by their refs (`layerMisfitReads`).
 */
import { Context, Effect, Latch, Layer } from "effect"
import { lookupLimit } from "../../../machines/venue/venueCalls.ts"
import { ownerOfRef } from "../../../machines/venue/venueRefs.ts"
import { Unsettled } from "../order/Unsettled.ts"

/** An object to read. */
export interface WantedRead {
  readonly clientId: number
  /** By which the venue is asked for it. */
  readonly ref: string
}

export class MisfitReads extends Context.Service<
  MisfitReads,
  {
    /** Has an object read soon. */
    readonly want: (read: WantedRead) => void
    /** Takes what is wanted, at most as much as one look-up holds. */
    readonly take: () => ReadonlyArray<WantedRead>
    /** Open while something is wanted. */
    readonly some: Latch.Latch
  }
>()("brokerage/runtime/services/venue/MisfitReads") {
  static readonly layer = Layer.effect(
    MisfitReads,
    Effect.map(Unsettled, (unsettled) => MisfitReads.of(misfitReads(unsettled)))
  )
}

/** Those of one process. */
export const misfitReads = (unsettled: Unsettled["Service"]): MisfitReads["Service"] => {
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
