/**
 * The outcome of every reference: executed at most once, refused for good, or void for ever. A lookup returns the current state
 * of the object, which is referred to by id. Over the limit the oldest references with ended objects are dropped, because
 * callers do not need them any more (A2-26).
 */
import type { VenueNounName } from "../../../src/machines/venue/venueNouns.ts"
import { Line } from "./Line.ts"

type NounIds = { readonly [N in VenueNounName]?: number }

export interface Known extends NounIds {
  readonly outcome: "EXECUTED" | "REFUSED" | "VOID"
  readonly reason: string | null
  readonly at: number
  /** An order is named by its ref, any other object by its id. */
  readonly order?: string
  readonly rfq?: number
  readonly contract?: number
}

/** The object of an executed or refused call. */
export type Subject = Omit<Known, "outcome" | "reason" | "at">

export type RefsState = ReadonlyArray<readonly [ref: string, known: Known]>

/** Refs checked for dropping at each arrival over the limit. */
const checksAtOnce = 4

export class Refs {
  private readonly known: Map<string, Known>
  /** Known refs, oldest first; one with a live object moves to the end when it is checked. */
  private readonly line = new Line<string>()
  private readonly kept: number
  private readonly isLive: (of: Known) => boolean

  constructor(kept: number, isLive: (of: Known) => boolean, state: RefsState = []) {
    this.kept = kept
    this.isLive = isLive
    this.known = new Map(state)
    for (const [ref] of state) this.line.push(ref)
  }

  get(ref: string): Known | null {
    return this.known.get(ref) ?? null
  }

  /** Stores the first outcome of a ref. */
  settle(ref: string, known: Known): Known {
    const first = this.known.get(ref)
    if (first !== undefined) return first
    this.known.set(ref, known)
    this.line.push(ref)
    this.forget()
    return known
  }

  state(): RefsState {
    return this.line.all().map((ref) => [ref, this.known.get(ref) as Known])
  }

  /**
   * Drops refs over the limit whose objects have ended, the oldest first. Checks only a few, so that the cost is limited even if
   * all objects are live.
   */
  private forget(): void {
    for (let n = 0; n < checksAtOnce && this.line.size > this.kept; n++) {
      const oldest = this.line.shift() as string
      const known = this.known.get(oldest)
      if (known !== undefined && this.isLive(known)) this.line.push(oldest)
      else this.known.delete(oldest)
    }
  }
}
