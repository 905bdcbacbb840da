/**
 * The venue's single sequence of events: numbered without gaps; events of an account have a second number of their own. It
 * never contains a `bust`, because neither C1 nor `sim venue` lets this venue cancel a trade (A2-95, A2-96, A2-97).
 */
import type { VenueEvent, VenueFact } from "../../../src/machines/venue/VenueEvent.ts"
import type { Account } from "./Account.ts"

/** A fact about an account before it gets its account and sequence number. */
type Unplaced<Fact> = Fact extends { readonly account: string } ? Omit<Fact, "account" | "sequence"> : never
export type AccountNews = Unplaced<VenueFact>

/** The number of the newest events that are always kept, for readers that reconnect. */
export const eventsKept = 20_000
/**
 * Events younger than this, business ms, are kept beyond `eventsKept`, so that readers can catch up after a move that ends very
 * many contracts.
 */
export const youngMillis = 60_000
/** The limit on events of any age. */
export const eventsAtMost = 250_000
/** Limit on events of one read for an account. */
const pageLimit = 1_000

export interface EventLineState {
  readonly number: number
  /** The newest events, oldest first. */
  readonly events: ReadonlyArray<VenueEvent>
}

/** Index of the first event to keep, of events in order. */
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
  /** The number of events at which old events are dropped. They are dropped in bulk, so that the cost of each is low. */
  private dropAt = 2 * eventsKept
  private readonly listen: (event: VenueEvent) => void

  constructor(listen: (event: VenueEvent) => void, state: EventLineState = { number: 0, events: [] }) {
    this.listen = listen
    this.number = state.number
    this.events = [...state.events]
  }

  /** Publishes a fact about an account under the account's next sequence number. */
  publish(account: Account, at: number, news: AccountNews): void {
    const { type, ...rest } = news
    // Order of fields on the wire: type, account, sequence, then the fields of the news.
    this.put(at, { type, account: account.name, sequence: ++account.sequence, ...rest } as VenueFact)
  }

  /** Publishes that a market's listing has changed; `version` counts the changes of all listings. */
  publishListing(at: number, version: number, symbol: string): void {
    this.put(at, { type: "listing", version, symbol })
  }

  /** The events after a number, oldest first. Only for numbers of the last few inputs, whose events are all kept. */
  since(number: number): ReadonlyArray<VenueEvent> {
    return number === this.number ? [] : this.events.slice(number - this.number)
  }

  /** The events after a number; null if they are not kept any more, or no event has that number. */
  after(number: number): ReadonlyArray<VenueEvent> | null {
    const oldest = this.number - this.kept().length
    return number < oldest || number > this.number ? null : this.kept().slice(number - oldest)
  }

  /** Kept events of an account after the sequence number `after`; null for a number beyond the last. */
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
