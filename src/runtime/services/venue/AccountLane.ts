/** The queue of one account: its waiting events in sequence, and a lock for work on the account. */
import { type Effect, Semaphore } from "effect"
import type { AccountFact, VenueEvent } from "../../../machines/venue/VenueEvent.ts"

export type AccountEvent = VenueEvent & { readonly fact: AccountFact }

export class AccountLane {
  readonly account: string
  /** Sorted by sequence. EventCursor limits the number of events of all accounts together. */
  private events: Array<AccountEvent> = []
  /** True: the lane has a worker or waits for one. */
  isWorked = false
  /** The number of users that hold the lock or wait for it. */
  private users = 0
  private readonly turns = Semaphore.makeUnsafe(1)

  constructor(account: string) {
    this.account = account
  }

  get waiting(): ReadonlyArray<AccountEvent> {
    return this.events
  }

  /** True: the lock is held or awaited. */
  get isTaken(): boolean {
    return this.users > 0
  }

  /** True: no worker uses the lane, and the lock is free. */
  get isIdle(): boolean {
    return this.users === 0 && !this.isWorked
  }

  add(event: AccountEvent): void {
    const { events } = this
    let at = events.length
    while (at > 0 && (events[at - 1] as AccountEvent).fact.sequence > event.fact.sequence) at--
    events.splice(at, 0, event)
  }

  /** Removes processed events. */
  drop(taken: ReadonlyArray<AccountEvent>): void {
    const gone = new Set(taken)
    this.events = this.events.filter((event) => !gone.has(event))
  }

  /** Runs work under the lock. */
  one<A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E> {
    this.users++
    return this.turns.withPermits(1)(work)
  }

  left(): void {
    this.users--
  }
}
