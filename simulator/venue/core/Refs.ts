/**
 * What became of every reference that ever came: executed at most once, refused for good, or void, which it then stays
 * (A2-26). The object that it made or changed is kept by its id and answered as it stands when somebody asks.
 */

export interface Known {
  readonly outcome: "EXECUTED" | "REFUSED" | "VOID"
  readonly reason: string | null
  readonly at: number
  /** The ref of the order; ids of the others. */
  readonly order?: string
  readonly rfq?: number
  readonly contract?: number
  readonly swap?: number
}

/** What an executed or refused call is of. */
export type Subject = Pick<Known, "order" | "rfq" | "contract" | "swap">

export type RefsState = ReadonlyArray<readonly [ref: string, known: Known]>

export class Refs {
  private readonly known: Map<string, Known>

  constructor(state: RefsState = []) {
    this.known = new Map(state)
  }

  get(ref: string): Known | null {
    return this.known.get(ref) ?? null
  }

  /** Keeps the first thing that is said of a ref. */
  settle(ref: string, known: Known): Known {
    const first = this.known.get(ref)
    if (first !== undefined) return first
    this.known.set(ref, known)
    return known
  }

  state(): RefsState {
    return [...this.known]
  }
}
