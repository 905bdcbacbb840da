/**
 * Which call is made next. Clients are served in turn; of one client several calls are on their way at once, begun in the order
 * of their commits. Calls of one object (`ownerOfRef`: an order, a request for quotes, a contract) are made one at a time in
 * that order, so that a cancel or an amendment never overtakes what it is of. An object whose answer is lost keeps its own
 * calls back, and nobody else's. Plain bookkeeping without time or effects.
 *
 * Nothing else rests on the order of calls at the venue, because what depends on an earlier call is committed only once its end
 * is: a reduce-only order needs a position, so a booked fill; a leg follows its parent's fill; an accept follows the quote of
 * its request; a close-out sends orders after the ends of its cancels, or 2 s (F9). Where two calls could meet at the venue all
 * the same (two legs of a group, a close-out's order and a cancel that is late, a tear-up and a close), it takes them in any
 * order: reduce-only caps, and what came too late is refused. Two legs of a group go side by side on purpose: if the answer of
 * the one is lost, the other protects.
 */
import { ownerOfRef } from "../../../machines/venue/venueRefs.ts"
import { ShortLivedMap } from "../../engine/ShortLivedMap.ts"
import type { VenueCallRow } from "../../tables/venue.ts"

/** Calls on their way at once, and of one client: what one has hanging leaves ways to the others. */
export const callsAtOnce = 64
export const callsOfClient = 8

/** A committed call that is still to be made. */
export interface Waiting {
  readonly row: VenueCallRow
  /** Wall time after which it is not made, Unix ms. */
  readonly deadline: number
}

/** How many calls may be on their way at once. */
export interface Bounds {
  readonly atOnce: number
  /** Of the client of this call; one lets its first call be alone while the account is opened (A2-95). */
  readonly ofClient: (row: VenueCallRow) => number
}

interface Call {
  readonly waiting: Waiting
  readonly lane: Lane
  readonly object: string
  onItsWay: boolean
}

interface Lane {
  readonly clientId: number
  /** In the order of the commits, without those whose end is known. */
  readonly calls: Array<Call>
  /** Calls on their way, also those whose end is known meanwhile. */
  running: number
  isOffered: boolean
}

export class CallLanes {
  /** Calls on their way to the venue. */
  running = 0
  private readonly bounds: Bounds
  private readonly lanes = new ShortLivedMap<number, Lane>()
  /** Lanes with a call that may be made, in turn. */
  private readonly ready: Array<Lane> = []
  private readonly held = new ShortLivedMap<string, Call>()

  constructor(bounds: Bounds) {
    this.bounds = bounds
  }

  add(waiting: Waiting): void {
    const { ref, clientId } = waiting.row
    let lane = this.lanes.get(clientId)
    if (lane === undefined) this.lanes.set(clientId, (lane = { clientId, calls: [], running: 0, isOffered: false }))
    const call = { waiting, lane, object: objectOf(ref), onItsWay: false }
    this.held.set(ref, call)
    lane.calls.push(call)
    this.offer(lane)
  }

  /** Whether it is worth asking for the `next`. */
  get startable(): boolean {
    return this.ready.length > 0 && this.running < this.bounds.atOnce
  }

  /** The next call, on its way from now on; null when none may be made now. */
  next(): Waiting | null {
    while (this.startable) {
      const lane = this.ready.shift() as Lane
      lane.isOffered = false
      const call = this.firstOf(lane)
      // Its end has been heard since it was offered.
      if (call === null) continue
      call.onItsWay = true
      lane.running++
      this.running++
      this.offer(lane)
      return call.waiting
    }
    return null
  }

  /** The call is not on its way any more. `done`: it is not to be made again, by this process. */
  free({ row: { ref, clientId } }: Waiting, done: boolean): void {
    const lane = this.lanes.get(clientId) as Lane
    lane.running--
    this.running--
    const call = this.held.get(ref)
    if (call !== undefined) call.onItsWay = false
    if (done) this.drop(ref)
    this.settle(lane)
  }

  /** Its end is known: it is not made, its answer is not waited for, and the next call of its object may be made. */
  forget(ref: string): void {
    const lane = this.drop(ref)
    if (lane !== null) this.settle(lane)
  }

  /** Whether a call is this process's to make or on its way. */
  has(ref: string): boolean {
    return this.held.has(ref)
  }

  get size(): number {
    return this.held.size
  }

  /** The oldest call that may be made now; null: none. */
  private firstOf({ calls, running }: Lane): Call | null {
    const [oldest] = calls
    if (oldest === undefined || running >= this.bounds.ofClient(oldest.waiting.row)) return null
    if (!oldest.onItsWay) return oldest
    const before = new Set<string>()
    for (const call of calls) {
      if (!call.onItsWay && !before.has(call.object)) return call
      before.add(call.object)
    }
    return null
  }

  /** Puts a lane at the end of the turn, if it has a call that may be made. */
  private offer(lane: Lane): void {
    if (lane.isOffered || this.firstOf(lane) === null) return
    lane.isOffered = true
    this.ready.push(lane)
  }

  private drop(ref: string): Lane | null {
    const call = this.held.get(ref)
    if (call === undefined) return null
    this.held.delete(ref)
    const { lane } = call
    lane.calls.splice(lane.calls.indexOf(call), 1)
    return lane
  }

  private settle(lane: Lane): void {
    if (lane.calls.length === 0 && lane.running === 0) this.lanes.delete(lane.clientId)
    else this.offer(lane)
  }
}

const objectOf = (ref: string): string => {
  const of = ownerOfRef(ref)
  return of === null ? ref : `${of.owner}:${of.id}`
}
