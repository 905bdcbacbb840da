/**
 * What an input makes the venue say, held back until all of it is done: of an input that fails nothing was heard, however
 * long the jump of time, so that no number is ever heard with two contents. What a long jump says beyond what anybody can
 * come back for is dropped on the way: of events those that the venue does not keep itself, of a channel all but the newest.
 */
import type { ChannelMessage } from "../../../src/machines/venue/marketData.ts"
import type { VenueEvent } from "../../../src/machines/venue/VenueEvent.ts"
import { eventsKept, firstKept } from "./EventLine.ts"
import type { VenueListeners } from "./VenueInput.ts"

/** Market data messages that one input publishes at most. */
export const messagesKept = 10_000

export class Outbox implements VenueListeners {
  private readonly to: VenueListeners
  private events: Array<VenueEvent> = []
  /** Length at which those that are not kept are dropped: many at once, so that one costs nothing. */
  private dropAt = 2 * eventsKept
  private messages: Array<ChannelMessage> = []

  constructor(to: VenueListeners) {
    this.to = to
  }

  readonly event = (event: VenueEvent): void => {
    this.events.push(event)
    if (this.events.length <= this.dropAt) return
    this.events = this.events.slice(firstKept(this.events))
    this.dropAt = this.events.length + eventsKept
  }

  readonly market = (message: ChannelMessage): void => {
    this.messages.push(message)
    if (this.messages.length > 2 * messagesKept) this.messages = newest(this.messages)
  }

  release(): void {
    const { events, messages } = this
    if (events.length > 0) {
      this.events = []
      this.dropAt = 2 * eventsKept
    }
    if (messages.length > 0) this.messages = []
    // Marks first: the service judges events by them.
    for (const message of messages) this.to.market(message)
    for (const event of events) this.to.event(event)
  }
}

/** The newest of all, and the last of each channel: a reader sees a gap in its sequence, and none misses how it ended. */
const newest = (messages: ReadonlyArray<ChannelMessage>): Array<ChannelMessage> => {
  const ends = new Map(messages.slice(0, -messagesKept).map((one) => [`${one.channel}:${one.symbol}`, one]))
  return [...ends.values(), ...messages.slice(-messagesKept)]
}
