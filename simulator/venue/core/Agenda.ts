/** Scheduled work in order of time; at equal times in order of insertion. Plain JSON. */
import type { VenueNounName } from "../../../src/machines/venue/venueNouns.ts"

export type Due =
  | { readonly type: "quote"; readonly rfqId: number; readonly quoteId: number }
  | { readonly type: "window"; readonly rfqId: number }
  | { readonly type: "offer"; readonly offerId: number }
  | { readonly type: "maturity"; readonly swapId: number }
  /** A writer pays the remaining part of a swap's debt. */
  | { readonly type: "payment"; readonly swapId: number }
  /** Work of an object in the books of a noun (NounBooks). */
  | { readonly type: "noun"; readonly noun: VenueNounName; readonly id: number }

export interface Entry {
  readonly at: number
  readonly due: Due
}

export class Agenda {
  // The next entry is the last element.
  private readonly entries: Array<Entry>

  constructor(entries: ReadonlyArray<Entry> = []) {
    this.entries = [...entries]
  }

  add(at: number, due: Due): void {
    let low = 0
    let high = this.entries.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.entries[middle] as Entry).at > at) low = middle + 1
      else high = middle
    }
    this.entries.splice(low, 0, { at, due })
  }

  /** The time of the next entry; infinity for none. */
  get next(): number {
    return this.entries.at(-1)?.at ?? Number.POSITIVE_INFINITY
  }

  /** Removes the next entry and returns its work; null when the agenda is empty. */
  take(): Due | null {
    return this.entries.pop()?.due ?? null
  }

  state(): ReadonlyArray<Entry> {
    return [...this.entries]
  }
}
