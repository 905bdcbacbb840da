/**
 * Which deliveries the receiver has met: deliveries can arrive more than once, so a partner acts on each id once (doc 3,
 * "deduplicate on id"; SC-WHK-06). Bounded: beyond the limit the id met longest ago is forgotten.
 */
interface Met {
  receipts: number
  accepted: boolean
}

export interface Sighting {
  /** How often this id has arrived, this time included. */
  readonly receipts: number
  /** The receiver had accepted this id before: nothing more is to be done for it. */
  readonly duplicate: boolean
}

const defaultLimit = 10_000

export class SeenDeliveries {
  private readonly met = new Map<number, Met>()
  private readonly limit: number

  constructor(limit: number = defaultLimit) {
    this.limit = limit
  }

  /** How often this id has arrived. */
  receipts(id: number): number {
    return this.met.get(id)?.receipts ?? 0
  }

  /**
   * Notes one arrival. `accepted`: it is being acknowledged, also when the answer goes out too late for the sender; an
   * arrival that was refused or left unanswered does not make the next one a duplicate.
   */
  note(id: number, accepted: boolean): Sighting {
    const before = this.met.get(id) ?? { receipts: 0, accepted: false }
    const now = { receipts: before.receipts + 1, accepted: before.accepted || accepted }
    // Set again, so that the map's order is the order of the last arrival.
    this.met.delete(id)
    this.met.set(id, now)
    if (this.met.size > this.limit) this.met.delete(this.met.keys().next().value as number)
    return { receipts: now.receipts, duplicate: before.accepted }
  }
}
