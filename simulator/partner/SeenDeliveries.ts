/**
 * Recognises repeated deliveries: a delivery can arrive more than once, so a partner processes each id once. The memory is
 * bounded: over the limit, the id seen longest ago is forgotten (doc 3, "deduplicate on id"; SC-WHK-06).
 */
interface Met {
  receipts: number
  accepted: boolean
}

export interface Sighting {
  /** Number of arrivals of this delivery id, the present one included. */
  readonly receipts: number
  /** True if the receiver accepted this id before, so that the delivery needs no work. */
  readonly duplicate: boolean
}

const defaultLimit = 10_000

export class SeenDeliveries {
  private readonly met = new Map<number, Met>()
  private readonly limit: number

  constructor(limit: number = defaultLimit) {
    this.limit = limit
  }

  /** Number of arrivals of this id. */
  receipts(id: number): number {
    return this.met.get(id)?.receipts ?? 0
  }

  /**
   * Records an arrival. `accepted`: the receiver acknowledges the delivery, even if the answer is too late for the
   * sender. An arrival that was refused or not answered does not make the next one a duplicate.
   */
  note(id: number, accepted: boolean): Sighting {
    const before = this.met.get(id) ?? { receipts: 0, accepted: false }
    const now = { receipts: before.receipts + 1, accepted: before.accepted || accepted }
    // Removing and inserting the id keeps the map in the order of the last arrivals.
    this.met.delete(id)
    this.met.set(id, now)
    if (this.met.size > this.limit) this.met.delete(this.met.keys().next().value as number)
    return { receipts: now.receipts, duplicate: before.accepted }
  }
}
