/**
 * What an input makes the venue say, held back until all of it is done: of an input that fails nothing was heard. What a long
 * jump of time says beyond the bound goes out on the way, so that it costs no memory.
 */
import type { ChannelMessage } from "../../../src/machines/venue/marketData.ts"
import type { VenueEvent } from "../../../src/machines/venue/VenueEvent.ts"
import type { VenueListeners } from "./VenueInput.ts"

const mostHeld = 10_000

export class Outbox implements VenueListeners {
  private readonly to: VenueListeners
  private held: Array<VenueEvent | ChannelMessage> = []

  constructor(to: VenueListeners) {
    this.to = to
  }

  readonly event = (event: VenueEvent): void => this.hold(event)
  readonly market = (message: ChannelMessage): void => this.hold(message)

  release(): void {
    const said = this.held
    if (said.length === 0) return
    this.held = []
    for (const one of said) {
      if ("fact" in one) this.to.event(one)
      else this.to.market(one)
    }
  }

  private hold(one: VenueEvent | ChannelMessage): void {
    this.held.push(one)
    if (this.held.length > mostHeld) this.release()
  }
}
