/**
 * Holds back the events and messages of an input until all of it is applied, so that a failed input publishes nothing and an
 * event number never has two payloads. During a long jump of time it drops what readers could not catch up on: events beyond
 * the venue's own limit, and all but the newest messages of a channel.
 */
import type { ChannelMessage } from "../../../src/machines/venue/marketData.ts"
import type { VenueEvent } from "../../../src/machines/venue/VenueEvent.ts"
import { eventsKept, firstKept } from "./EventLine.ts"
import type { VenueListeners } from "./VenueInput.ts"

/** Limit on market data messages of one input. */
export const messagesKept = 10_000

export class Outbox implements VenueListeners {
  private readonly to: VenueListeners
  private events: Array<VenueEvent> = []
  /** Length at which surplus events are dropped: in bulk, so that the cost of each is low. */
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
    // Marks go first, because the service checks events against them.
    for (const message of messages) this.to.market(message)
    for (const event of events) this.to.event(event)
  }
}

/**
 * The newest messages overall, and the last of each channel: readers detect the gap by the sequence and still get the latest
 * state.
 */
const newest = (messages: ReadonlyArray<ChannelMessage>): Array<ChannelMessage> => {
  const ends = new Map(messages.slice(0, -messagesKept).map((one) => [`${one.channel}:${one.symbol}`, one]))
  return [...ends.values(), ...messages.slice(-messagesKept)]
}
