/**
 * Which call is made next: a lane a client, its calls in the order of their commits and one at a time, lanes served in turn,
 * so many at once. Plain bookkeeping without time or effects.
 */
import type { VenueCallRow } from "../../store/tables/venue.ts"

/** A committed call that is still to be made. */
export interface Waiting {
  readonly row: VenueCallRow
  /** Wall time after which it is not made, Unix ms. */
  readonly deadline: number
}

interface Lane {
  readonly clientId: number
  readonly calls: Array<Waiting>
  busy: boolean
}

export class CallLanes {
  /** Calls on their way to the venue. */
  running = 0
  private readonly atOnce: number
  private readonly lanes = new Map<number, Lane>()
  /** Lanes with a call and none on its way, in turn. */
  private readonly ready: Array<Lane> = []
  private readonly held = new Set<string>()

  constructor(atOnce: number) {
    this.atOnce = atOnce
  }

  add(waiting: Waiting): void {
    const { ref, clientId } = waiting.row
    this.held.add(ref)
    let lane = this.lanes.get(clientId)
    if (lane === undefined) this.lanes.set(clientId, (lane = { clientId, calls: [], busy: false }))
    lane.calls.push(waiting)
    if (!lane.busy && lane.calls.length === 1) this.ready.push(lane)
  }

  /** Whether `next` would give one. */
  get startable(): boolean {
    return this.ready.length > 0 && this.running < this.atOnce
  }

  /** The next call, with its lane taken; null when there is none or all ways are taken. */
  next(): Waiting | null {
    if (!this.startable) return null
    const lane = this.ready.shift() as Lane
    lane.busy = true
    this.running++
    return lane.calls[0] as Waiting
  }

  /** Frees the lane. `done`: the call is not to be made again, by this process. */
  free({ row: { ref, clientId } }: Waiting, done: boolean): void {
    const lane = this.lanes.get(clientId) as Lane
    lane.busy = false
    this.running--
    if (done) {
      lane.calls.shift()
      this.held.delete(ref)
    }
    if (lane.calls.length > 0) this.ready.push(lane)
    else this.lanes.delete(clientId)
  }

  /** Its end is known: it is not made, and its answer is not waited for. */
  forget(ref: string): void {
    this.held.delete(ref)
  }

  /** Whether a call is this process's to make or on its way. */
  has(ref: string): boolean {
    return this.held.has(ref)
  }

  get size(): number {
    return this.held.size
  }
}
