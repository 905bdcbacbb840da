/**
 * Rate limits: two exact sliding windows of 60,000 ms per principal, one for reads and one for all other requests. Requests
 * are kept as counts per millisecond, so memory depends on the length of the window and not on the limit, which the operator
 * may set up to 10^9 (doc 1, Limits; A1-04, A1-05, RATE-001).
 */
import { rateLimits } from "../../machines/shared/Limits.ts"
import type { PrincipalId } from "../../runtime/services/shared/KeyedRequest.ts"
import { AddressMap } from "./AddressMap.ts"

export type RateKind = "read" | "trade"

/** The state of a window, for the headers of an answer. */
export interface RateVerdict {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  /** Milliseconds until the next slot frees; at least 1 for a refused request. */
  readonly resetMillis: number
}

const { windowMillis } = rateLimits

/** The slots of a new window, a power of two. Most callers need few. */
const fewSlots = 8

/** One window: a ring of (millisecond, requests) pairs, oldest first. */
export class RateWindow {
  private times = new Float64Array(fewSlots)
  private counts = new Float64Array(fewSlots)
  private head = 0
  private length = 0
  private total = 0
  private latest = 0

  /** Counts a request at `now` (Unix ms) unless `limit` is used up. When the clock steps back, the last time counts as now. */
  hit(now: number, limit: number): RateVerdict {
    const at = Math.max(now, this.latest)
    this.latest = at
    this.expire(at)
    if (this.total >= limit) return { allowed: false, limit, remaining: 0, resetMillis: this.freesAt(limit) - at }
    this.add(at)
    return { allowed: true, limit, remaining: limit - this.total, resetMillis: this.freesAt(this.total) - at }
  }

  /** Whether the window is empty at `now`: a new window would then give the same answers. */
  isIdle(now: number): boolean {
    return this.latest + windowMillis <= now
  }

  /** The time at which the window holds fewer than `limit` requests again. */
  private freesAt(limit: number): number {
    let left = this.total
    for (let i = 0; i < this.length; i++) {
      const slot = (this.head + i) & (this.times.length - 1)
      left -= this.counts[slot] ?? 0
      if (left < limit) return (this.times[slot] ?? 0) + windowMillis
    }
    return this.latest + windowMillis
  }

  private expire(at: number): void {
    while (this.length > 0 && (this.times[this.head] ?? 0) <= at - windowMillis) {
      this.total -= this.counts[this.head] ?? 0
      this.head = (this.head + 1) & (this.times.length - 1)
      this.length--
    }
  }

  private add(at: number): void {
    this.total++
    const mask = this.times.length - 1
    const last = (this.head + this.length - 1) & mask
    if (this.length > 0 && this.times[last] === at) {
      this.counts[last] = (this.counts[last] ?? 0) + 1
      return
    }
    if (this.length === this.times.length) this.grow()
    const slot = (this.head + this.length) & (this.times.length - 1)
    this.times[slot] = at
    this.counts[slot] = 1
    this.length++
  }

  /** Doubles the ring. At most 65,536 slots are needed, because the window has 60,000 different milliseconds. */
  private grow(): void {
    const size = this.times.length
    const times = new Float64Array(size * 2)
    const counts = new Float64Array(size * 2)
    for (let i = 0; i < this.length; i++) {
      const slot = (this.head + i) & (size - 1)
      times[i] = this.times[slot] ?? 0
      counts[i] = this.counts[slot] ?? 0
    }
    this.times = times
    this.counts = counts
    this.head = 0
  }
}

/** The most addresses whose windows are kept. */
const addressesMost = 100_000

/** Up to this number of windows, idle ones are not removed. */
const fewPrincipals = 1_024

/**
 * The windows of all principals that called within the last minute. Idle ones are removed each time the number has doubled,
 * so such searches are rare.
 */
export class RateWindows {
  private readonly windows = new Map<PrincipalId, { readonly read: RateWindow; readonly trade: RateWindow }>()
  private full = fewPrincipals

  hit(principal: PrincipalId, kind: RateKind, now: number, limit: number): RateVerdict {
    let pair = this.windows.get(principal)
    if (pair === undefined) {
      if (this.windows.size >= this.full) this.forgetIdle(now)
      this.windows.set(principal, (pair = { read: new RateWindow(), trade: new RateWindow() }))
    }
    return pair[kind].hit(now, limit)
  }

  /** The number of principals with windows. */
  get size(): number {
    return this.windows.size
  }

  private forgetIdle(now: number): void {
    for (const [principal, { read, trade }] of this.windows) {
      if (read.isIdle(now) && trade.isIdle(now)) this.windows.delete(principal)
    }
    this.full = Math.max(fewPrincipals, this.windows.size * 2)
  }
}

/** The windows of network addresses, for callers without a credential. */
export class AddressWindows {
  private readonly windows: AddressMap<RateWindow>
  private readonly limit: number

  /** `limit`: requests of one address in 60 seconds. `most`: addresses whose windows are kept. */
  constructor(limit: number, most = addressesMost) {
    this.limit = limit
    this.windows = new AddressMap(most)
  }

  /** Counts a request of the network at `now` (Unix ms) unless its limit is used up. */
  hit(network: string, now: number): RateVerdict {
    return this.windows.take(network, () => new RateWindow()).hit(now, this.limit)
  }

  /** The number of addresses with windows. */
  get size(): number {
    return this.windows.size
  }
}

/** Rounds up to seconds, for Retry-After and RateLimit-Reset. */
export const wholeSeconds = (millis: number): number => Math.ceil(millis / 1_000)
