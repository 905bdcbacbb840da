/**
 * Schedules the calls to the venue. Clients take turns. A client may have several calls in flight, which start in
 * commit order. Calls of one object (`ownerOfRef`: an order, a request for quotes, a contract) run one at a time in
 * that order, so a cancel or an amendment never overtakes the placing. An in-doubt call delays only the calls of its
 * own object. No IO and no clock.
 *
 * No other part depends on the order of calls at the venue, because a dependent call is committed only after the
 * outcome of the earlier one:
 * - A reduce-only order needs a position, and so a booked fill.
 * - A leg follows its parent's fill.
 * - An accept follows the quote of its request.
 * - A close-out sends orders after the outcomes of its cancels, or after 2 s.
 *
 * Some calls may still meet at the venue: two legs of a group, a close-out's order and a late cancel, a tear-up and a
 * close. Any order of these is safe, because reduce-only caps the quantity and the venue refuses late calls. Two legs
 * of a group run concurrently, so that one of them protects even if the answer to the other is lost (A2-95, F9).
 */
import { ownerOfRef } from "../../../machines/venue/venueRefs.ts"
import { ShortLivedMap } from "../../engine/ShortLivedMap.ts"
import type { VenueCallRow } from "../../tables/venue.ts"

/**
 * The most calls in flight, in total and per client. The limit per client keeps hanging calls of one client from using
 * all capacity.
 */
export const callsAtOnce = 64
export const callsOfClient = 8

/** A committed call that waits to be sent. */
export interface Waiting {
  readonly row: VenueCallRow
  /** The wall time after which the call is not sent, Unix ms. */
  readonly deadline: number
}

/** The limits of calls in flight. */
export interface Bounds {
  readonly atOnce: number
  /** The limit of the call's client. It is 1 until the account is opened, so that the first call runs alone. */
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
  /** Calls in commit order, without those with a known outcome. */
  readonly calls: Array<Call>
  /** The number of calls in flight, including those whose outcome is already known. */
  running: number
  isOffered: boolean
}

export class CallLanes {
  /** The number of calls in flight. */
  running = 0
  private readonly bounds: Bounds
  private readonly lanes = new ShortLivedMap<number, Lane>()
  /** Lanes with a call that can be sent, in round-robin order. */
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

  /** Whether `next` may return a call. */
  get startable(): boolean {
    return this.ready.length > 0 && this.running < this.bounds.atOnce
  }

  /** Takes the next call, which counts as in flight from now. Null: no call can be sent now. */
  next(): Waiting | null {
    while (this.startable) {
      const lane = this.ready.shift() as Lane
      lane.isOffered = false
      const call = this.firstOf(lane)
      // The outcome of the lane's call became known after the lane was queued.
      if (call === null) continue
      call.onItsWay = true
      lane.running++
      this.running++
      this.offer(lane)
      return call.waiting
    }
    return null
  }

  /** Marks a call as no longer in flight. `done`: this process must not send it again. */
  free({ row: { ref, clientId } }: Waiting, done: boolean): void {
    const lane = this.lanes.get(clientId) as Lane
    lane.running--
    this.running--
    const call = this.held.get(ref)
    if (call !== undefined) call.onItsWay = false
    if (done) this.drop(ref)
    this.settle(lane)
  }

  /** Removes a call whose outcome is known, which allows the next call of its object. */
  forget(ref: string): void {
    const lane = this.drop(ref)
    if (lane !== null) this.settle(lane)
  }

  /** Whether the call waits in this process, or is in flight. */
  has(ref: string): boolean {
    return this.held.has(ref)
  }

  get size(): number {
    return this.held.size
  }

  /** The oldest call of a lane that can be sent now; null: none. */
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

  /** Adds a lane to the end of the round, if it has a call that can be sent. */
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
