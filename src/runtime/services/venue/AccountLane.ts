/**
 * What waits of one account: its events one after the other in the order in which they came, a few of them held by
 * themselves, the rest together.
 */
import { type Effect, Semaphore } from "effect"
import type { AccountFact, VenueEvent } from "../../../machines/venue/VenueEvent.ts"

export type AccountEvent = VenueEvent & { readonly fact: AccountFact }

/** Events that are held by themselves. */
const heldAlone = 4

/** An event that waits, and those that have joined it. */
interface Waiting {
  /** Of the highest sequence. */
  last: AccountEvent
  readonly numbers: Array<number>
}

export class AccountLane {
  /** Those that wait for their turn or have it. */
  private users = 0
  /** The one that later events join. */
  private joined: Waiting | null = null
  private readonly turns = Semaphore.makeUnsafe(1)

  /** Runs work in its turn. */
  one<A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E> {
    this.users++
    return this.turns.withPermits(1)(work)
  }

  /** True when nobody waits any more. */
  left(): boolean {
    return --this.users === 0
  }

  /** An event comes; beyond those that are held by themselves it takes later ones with it, if that `may` be. */
  await(event: AccountEvent, may: boolean): Waiting {
    const waiting: Waiting = { last: event, numbers: [event.number] }
    if (may && this.users >= heldAlone) this.joined = waiting
    return waiting
  }

  /** Its turn has come: nothing joins it any more. */
  begin(waiting: Waiting): void {
    if (this.joined === waiting) this.joined = null
  }

  /** False when there is nothing to join. */
  join(event: AccountEvent): boolean {
    const { joined } = this
    if (joined === null) return false
    joined.numbers.push(event.number)
    if (event.fact.sequence > joined.last.fact.sequence) joined.last = event
    return true
  }
}
