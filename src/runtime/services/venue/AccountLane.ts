/** What waits of one account: its events by their sequence, and whose turn it is with the account. */
import { type Effect, Semaphore } from "effect"
import type { AccountFact, VenueEvent } from "../../../machines/venue/VenueEvent.ts"

export type AccountEvent = VenueEvent & { readonly fact: AccountFact }

export class AccountLane {
  readonly account: string
  /** By sequence. The mark of the cursor bounds them, together with those of all accounts (EventCursor). */
  private events: Array<AccountEvent> = []
  /** Whether they are being taken. */
  isWorked = false
  /** Those that wait for their turn or have it. */
  private users = 0
  private readonly turns = Semaphore.makeUnsafe(1)

  constructor(account: string) {
    this.account = account
  }

  get waiting(): ReadonlyArray<AccountEvent> {
    return this.events
  }

  /** Somebody has the turn. */
  get isTaken(): boolean {
    return this.users > 0
  }

  /** Nobody needs the lane. */
  get isIdle(): boolean {
    return this.users === 0 && !this.isWorked
  }

  add(event: AccountEvent): void {
    const { events } = this
    let at = events.length
    while (at > 0 && (events[at - 1] as AccountEvent).fact.sequence > event.fact.sequence) at--
    events.splice(at, 0, event)
  }

  /** These wait no more. */
  drop(taken: ReadonlyArray<AccountEvent>): void {
    const gone = new Set(taken)
    this.events = this.events.filter((event) => !gone.has(event))
  }

  /** Runs work in its turn. */
  one<A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E> {
    this.users++
    return this.turns.withPermits(1)(work)
  }

  left(): void {
    this.users--
  }
}
