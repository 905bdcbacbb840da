/**
 * The faults of the simulated venue (C1): what a tester has ordered, what is left of each and how often it struck. Faults
 * run on wall time, belong to this process alone and end with it; what one did to the books is in the log.
 */
import type { FaultKind, FaultRoute, VenueCommand, VenueView } from "../../../src/venue/VenueCommand.ts"
import { faultRefusal } from "../core/bounds.ts"

export type FaultOrder = Extract<VenueCommand, { readonly type: "fault" }>

/** What is about to happen, as faults are aimed at it; route null: only a fault on `all` hits it. */
export interface Target {
  readonly route: Exclude<FaultRoute, "all"> | null
  readonly symbol: string | null
}

/** A fault that strikes now. */
export interface Strike {
  readonly kind: FaultKind
  readonly delayMillis: number
}

interface Fault {
  readonly order: FaultOrder
  /** Wall time, Unix ms; null: until clear. */
  readonly until: number | null
  timesLeft: number | null
  struck: number
}

/** Faults that can be in force at once; ended ones make room. */
const faultLimit = 100
const usualDelayMillis = 2_000

export class Faults {
  private readonly wall: () => number
  private faults: Array<Fault> = []

  constructor(wall: () => number) {
    this.wall = wall
  }

  /** Puts a fault in force; answers why not, or null. */
  add(order: FaultOrder): string | null {
    const refusal = faultRefusal(order)
    if (refusal !== null) return refusal
    while (this.faults.length >= faultLimit) {
      const ended = this.faults.findIndex((fault) => !this.lives(fault))
      if (ended === -1) return `No more than ${faultLimit} faults are in force at once: clear them first.`
      this.faults.splice(ended, 1)
    }
    this.faults.push({
      order,
      until: order.forMillis === null ? null : this.wall() + order.forMillis,
      timesLeft: order.times,
      struck: 0
    })
    return null
  }

  clear(): void {
    this.faults = []
  }

  /** The oldest living fault of one of the kinds that is aimed here; it counts as having struck. */
  strike(kinds: ReadonlyArray<FaultKind>, target: Target): Strike | null {
    const fault = this.find(kinds, target)
    if (fault === undefined) return null
    fault.struck++
    if (fault.timesLeft !== null) fault.timesLeft--
    return { kind: fault.order.kind, delayMillis: fault.order.delayMillis ?? usualDelayMillis }
  }

  /** Whether such a fault is in force, without a strike of it. */
  awaits(kinds: ReadonlyArray<FaultKind>, target: Target): boolean {
    return this.find(kinds, target) !== undefined
  }

  /** Every fault with what is left of it; one that has ended stays until it is cleared or others need its room. */
  view(): VenueView["faults"] {
    return this.faults.map(({ order, until, timesLeft, struck }) => ({
      kind: order.kind,
      route: order.route,
      symbol: order.symbol,
      until,
      timesLeft,
      struck
    }))
  }

  private find(kinds: ReadonlyArray<FaultKind>, target: Target): Fault | undefined {
    return this.faults.find(
      (fault) => kinds.includes(fault.order.kind) && this.lives(fault) && aims(fault.order, target)
    )
  }

  private lives({ until, timesLeft }: Fault): boolean {
    return timesLeft !== 0 && (until === null || this.wall() < until)
  }
}

const aims = ({ route, symbol }: FaultOrder, target: Target): boolean =>
  (route === "all" || route === target.route) && (symbol === null || symbol === target.symbol)
