/**
 * Decides the next delivery to send. Each partner has a lane with at most four deliveries in flight. Lanes are served
 * round robin, so a hanging endpoint fills only its own partner's slots. A lane whose endpoint responds quickly may
 * hold leased deliveries ahead of its slots, which saves a lease per slot; after a failure it returns them at once.
 *
 * Some slots are reserved for quick lanes. Once many slow lanes are busy, each slow lane has only one slot. So hundreds
 * of hanging endpoints leave slots for the others. No clock and no effects (A3-34).
 */
import type { DeliveryRow } from "../../tables/webhook.ts"
import type { Lane as DueLane } from "../../store/writes/deliveryWrites.ts"

export interface LaneLimits {
  /** The most deliveries in flight per partner. */
  readonly perPartner: number
  /** The most deliveries in flight in total. They use sockets, and memory for bodies. */
  readonly total: number
  /** The part of `total` that only quick lanes may use. */
  readonly reserved: number
  /** The most leased deliveries per partner while its endpoint responds quickly, in flight included. */
  readonly ahead: number
  /** The most leased deliveries in total. */
  readonly held: number
  /** The most partners in one lease. */
  readonly perLease: number
}

export const laneLimits: LaneLimits = {
  perPartner: 4,
  total: 512,
  reserved: 128,
  ahead: 32,
  held: 4_096,
  perLease: 256
}

interface Lane {
  readonly partnerId: number
  inFlight: number
  /** Leased and not yet started, the oldest first. */
  ready: Array<DeliveryRow>
  quick: boolean
  /** True while the lane is in `startable`. */
  queued: boolean
}

/**
 * Not a `FairLimiter`: no caller waits for a slot, the worker takes the next delivery, round robin over the lanes. The limits of a
 * lane change with the speed of its endpoint, and leases of rows count beside the slots.
 */
export class DeliveryLanes {
  inFlight = 0
  /** The part of `inFlight` in lanes that are not quick. */
  private slow = 0
  private waiting = 0
  private readonly limits: LaneLimits
  private readonly lanes = new Map<number, Lane>()
  /** Partners that may have due deliveries without a lease, the longest wait first. */
  private readonly hungry = new Set<number>()
  /** Lanes with a ready delivery and a free slot, round robin. Quick and slow lanes alternate. */
  private readonly startable: { readonly quick: Array<Lane>; readonly slow: Array<Lane> } = { quick: [], slow: [] }
  private slowFirst = false

  constructor(limits: LaneLimits = laneLimits) {
    this.limits = limits
  }

  /** Records that the partner may have due deliveries. */
  mayHave(partnerId: number): void {
    this.hungry.add(partnerId)
  }

  /** The partners of the next lease, with their limits. A partner is leased again only after `mayHave` has named it. */
  nextLease(): ReadonlyArray<DueLane> {
    const lease: Array<DueLane> = []
    let room = this.limits.held - this.inFlight - this.waiting
    for (const partnerId of this.hungry) {
      if (lease.length === this.limits.perLease || room <= 0) break
      const limit = Math.min(this.room(this.lane(partnerId)), room)
      if (limit === 0) continue
      room -= limit
      lease.push({ partnerId, limit })
      this.hungry.delete(partnerId)
    }
    return lease
  }

  /** True if the next lease would name a partner. */
  get wantsLease(): boolean {
    if (this.inFlight + this.waiting >= this.limits.held) return false
    for (const partnerId of this.hungry) if (this.wants(partnerId)) return true
    return false
  }

  /** True if the next lease would name this partner. */
  wants(partnerId: number): boolean {
    return this.hungry.has(partnerId) && this.room(this.lane(partnerId)) > 0
  }

  /** Adds the rows of a lease. A lane that received its full limit may have further due deliveries. */
  leased(lease: ReadonlyArray<DueLane>, rows: ReadonlyArray<DeliveryRow>): void {
    for (const row of rows) {
      this.lane(row.partnerId).ready.push(row)
      this.waiting++
    }
    const counts = Map.groupBy(rows, (row) => row.partnerId)
    for (const { partnerId, limit } of lease) {
      if ((counts.get(partnerId)?.length ?? 0) >= limit) this.hungry.add(partnerId)
      this.enqueue(this.lane(partnerId))
    }
  }

  /** Takes the next delivery to send, with a slot. Null: no delivery is ready, or no slot is free. */
  next(): DeliveryRow | null {
    if (this.inFlight >= this.limits.total) return null
    this.slowFirst = !this.slowFirst
    const { quick, slow } = this.startable
    return this.slowFirst ? (this.nextSlow(slow) ?? this.start(quick)) : (this.start(quick) ?? this.nextSlow(slow))
  }

  private nextSlow(queue: Array<Lane>): DeliveryRow | null {
    return this.slow < this.limits.total - this.limits.reserved ? this.start(queue) : null
  }

  private start(queue: Array<Lane>): DeliveryRow | null {
    for (let lane = queue.shift(); lane !== undefined; lane = queue.shift()) {
      lane.queued = false
      // A lane without a free slot is queued again once one of its slots becomes free.
      const row = lane.inFlight < this.slots(lane) ? lane.ready.shift() : undefined
      if (row === undefined) continue
      this.waiting--
      lane.inFlight++
      this.inFlight++
      if (!lane.quick) this.slow++
      this.enqueue(lane)
      return row
    }
    return null
  }

  /** The slots of a lane. While slow lanes use half of their share, each slow lane has only one. */
  private slots(lane: Lane): number {
    const crowded = this.slow * 2 >= this.limits.total - this.limits.reserved
    return crowded && !lane.quick ? 1 : this.limits.perPartner
  }

  /** Frees a slot. `quick`: the endpoint acknowledged quickly. Returns leased deliveries that have to be returned. */
  finished(partnerId: number, quick: boolean): ReadonlyArray<DeliveryRow> {
    const lane = this.lane(partnerId)
    if (!lane.quick) this.slow -= lane.inFlight
    lane.inFlight--
    this.inFlight--
    lane.quick = quick
    if (!quick) this.slow += lane.inFlight
    const surplus = quick ? [] : lane.ready.splice(this.limits.perPartner)
    this.waiting -= surplus.length
    if (surplus.length > 0) this.hungry.add(partnerId)
    this.enqueue(lane)
    return surplus
  }

  /** Removes every leased delivery of the partner that has not been started, for its return. */
  drop(partnerId: number): ReadonlyArray<DeliveryRow> {
    const lane = this.lane(partnerId)
    const rows = lane.ready.splice(0)
    this.waiting -= rows.length
    return rows
  }

  dropAll(): ReadonlyArray<DeliveryRow> {
    return [...this.lanes.keys()].flatMap((partnerId) => this.drop(partnerId))
  }

  /**
   * The number of further deliveries that the lane may lease. A quick lane is refilled once half of its deliveries are
   * done.
   */
  private room(lane: Lane): number {
    const holds = lane.inFlight + lane.ready.length
    if (!lane.quick) return Math.max(0, this.limits.perPartner - holds)
    return holds > this.limits.ahead / 2 ? 0 : this.limits.ahead - holds
  }

  private enqueue(lane: Lane): void {
    if (lane.queued || lane.ready.length === 0 || lane.inFlight >= this.slots(lane)) return
    lane.queued = true
    this.startable[lane.quick ? "quick" : "slow"].push(lane)
  }

  private lane(partnerId: number): Lane {
    let lane = this.lanes.get(partnerId)
    if (lane === undefined) {
      lane = { partnerId, inFlight: 0, ready: [], quick: false, queued: false }
      this.lanes.set(partnerId, lane)
    }
    return lane
  }
}
