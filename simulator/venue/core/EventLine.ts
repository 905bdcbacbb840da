/**
 * The venue's one line of events: numbered without a gap, those of an account with a sequence of their own besides (A2-95,
 * A2-96). A `bust` is never among them: neither C1 nor `sim venue` has this venue take a trade back (A2-97).
 */
import type { VenueEvent, VenueFact } from "../../../src/machines/venue/VenueEvent.ts"
import type { Account } from "./Account.ts"

/** A fact before it has its place. */
type Unplaced<Fact> = Fact extends { readonly account: string } ? Omit<Fact, "account" | "sequence"> : never
export type AccountNews = Unplaced<VenueFact>

/** Events that are kept for readers who come back. */
export const eventsKept = 20_000
/** Events as young as this, business ms, are kept beyond those: a move that ends very many contracts is read at a reader's pace. */
export const youngMillis = 60_000
/** However young they are. */
export const eventsAtMost = 250_000
/** What one reading of an account's events answers at most. */
const pageLimit = 1_000

export interface EventLineState {
  readonly number: number
  /** The newest ones, oldest first. */
  readonly events: ReadonlyArray<VenueEvent>
}

/** Where those that are kept begin, of events in their order. */
export const firstKept = (events: ReadonlyArray<VenueEvent>): number => {
  const { length } = events
  if (length <= eventsKept) return 0
  const youngSince = (events[length - 1] as VenueEvent).at - youngMillis
  let [low, high] = [Math.max(0, length - eventsAtMost), length - eventsKept]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((events[middle] as VenueEvent).at < youngSince) low = middle + 1
    else high = middle
  }
  return low
}

export class EventLine {
  number: number
  private events: Array<VenueEvent>
  /** Length at which what is not kept is dropped: many at once, so that one costs nothing. */
  private dropAt = 2 * eventsKept
  private readonly listen: (event: VenueEvent) => void

  constructor(listen: (event: VenueEvent) => void, state: EventLineState = { number: 0, events: [] }) {
    this.listen = listen
    this.number = state.number
    this.events = [...state.events]
  }

  /** Says something of an account. */
  say(account: Account, at: number, news: AccountNews): void {
    const { type, ...rest } = news
    // The order of fields on the wire: what it is, whose, the rest.
    this.put(at, { type, account: account.name, sequence: ++account.sequence, ...rest } as VenueFact)
  }

  /** Says that what is listed has changed. */
  sayListing(at: number, version: number, symbol: string): void {
    this.put(at, { type: "listing", version, symbol })
  }

  /** The events after a number that is at most some inputs old, oldest first. */
  since(number: number): ReadonlyArray<VenueEvent> {
    return number === this.number ? [] : this.events.slice(number - this.number)
  }

  /** Null when they are not kept any more, or no event has that number. */
  after(number: number): ReadonlyArray<VenueEvent> | null {
    const oldest = this.number - this.kept().length
    return number < oldest || number > this.number ? null : this.kept().slice(number - oldest)
  }

  /** As far back as they are kept; null when the account has no such event. */
  ofAccount({ name, sequence }: Account, after: number): ReadonlyArray<VenueEvent> | null {
    if (after > sequence) return null
    const found: Array<VenueEvent> = []
    const kept = this.kept()
    for (let at = kept.length - 1; at >= 0 && found.length < sequence - after; at--) {
      const event = kept[at] as VenueEvent
      if ("account" in event.fact && event.fact.account === name) found.push(event)
    }
    return found.toReversed().slice(0, pageLimit)
  }

  state(): EventLineState {
    return { number: this.number, events: this.kept() }
  }

  private kept(): ReadonlyArray<VenueEvent> {
    const first = firstKept(this.events)
    return first === 0 ? this.events : this.events.slice(first)
  }

  private put(at: number, fact: VenueFact): void {
    const event: VenueEvent = { number: ++this.number, at, fact }
    this.events.push(event)
    if (this.events.length > this.dropAt) {
      this.events = this.events.slice(firstKept(this.events))
      this.dropAt = this.events.length + eventsKept
    }
    this.listen(event)
  }
}
