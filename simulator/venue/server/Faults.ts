/**
 * The faults of the simulated venue: the tester's orders, their remaining uses and their strikes. Faults run on wall time,
 * belong to this process and end with it; their effects on the books are in the log (C1).
 */
import type { FaultKind, FaultRoute, VenueCommand, VenueView } from "../../../src/venue/VenueCommand.ts"
import { faultRefusal } from "../core/bounds.ts"

export type FaultOrder = Extract<VenueCommand, { readonly type: "fault" }>

/** The target of an operation, for the aim of faults; route null: only a fault on `all` matches. */
export interface Target {
  readonly route: Exclude<FaultRoute, "all"> | null
  readonly symbol: string | null
}

/** The effect of an active fault on one request. */
export interface Strike {
  readonly kind: FaultKind
  readonly delayMillis: number
}

interface Fault {
  readonly order: FaultOrder
  /** Wall time, Unix ms; null: until cleared. */
  readonly until: number | null
  timesLeft: number | null
  struck: number
}

/** Limit on active faults. */
const faultLimit = 100
const usualDelayMillis = 2_000

export class Faults {
  private readonly wall: () => number
  private faults: Array<Fault> = []

  constructor(wall: () => number) {
    this.wall = wall
  }

  /** Puts a fault in force; returns why not, or null. */
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

  /** The oldest fault in force of one of the kinds that matches the target, or null; counts a strike. */
  strike(kinds: ReadonlyArray<FaultKind>, target: Target): Strike | null {
    const fault = this.find(kinds, target)
    if (fault === undefined) return null
    fault.struck++
    if (fault.timesLeft !== null) fault.timesLeft--
    return { kind: fault.order.kind, delayMillis: fault.order.delayMillis ?? usualDelayMillis }
  }

  /** Whether a fault of these kinds is in force for the target, without counting a strike. */
  awaits(kinds: ReadonlyArray<FaultKind>, target: Target): boolean {
    return this.find(kinds, target) !== undefined
  }

  /** Every fault with its remaining uses; an ended one stays until it is cleared or replaced. */
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
