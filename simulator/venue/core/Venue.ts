/**
 * The simulated venue's core: books, contracts, requests, swaps, prices and time of one venue, pure and deterministic. The
 * same options and inputs give the same state, events and messages on every machine; nothing here knows wall time, chance
 * from outside or a transport.
 */
import type { ChannelMessage, KlineInterval, KlinePage } from "../../../src/machines/venue/marketData.ts"
import type { VenueCallName, VenueOutcome, VenueRequest } from "../../../src/machines/venue/venueCalls.ts"
import type { VenueEvent } from "../../../src/machines/venue/VenueEvent.ts"
import type { VenueListing, VenueOffer } from "../../../src/machines/venue/VenueMarket.ts"
import type { VenueAccount } from "../../../src/machines/venue/venueObjects.ts"
import type { VenueCommand, VenueView } from "../../../src/venue/VenueCommand.ts"
import type { Base } from "./defaultMarkets.ts"
import type { Dealer, VenueKnobs } from "./VenueKnobs.ts"

/** Plain JSON: what the log's first record holds. */
export interface VenueOptions {
  readonly seed: number
  /** Business time at which the venue begins, Unix ms. */
  readonly startAt: number
  readonly tickMillis: number
  /** Instead of the default bases with their markets. */
  readonly markets?: ReadonlyArray<Base>
  readonly knobs: VenueKnobs
}

/** A call by its name; `VenueInput` holds each with its own request. */
export type VenueCall = {
  readonly [Name in VenueCallName]: { readonly name: Name; readonly request: VenueRequest<Name> }
}[VenueCallName]

/** Everything that can happen to the venue: what its log holds, one a line. Times are business time, Unix ms. */
export type VenueInput =
  /** Time passes: ticks, touches, expiries, stamps, makers. Never back. */
  | { readonly type: "time"; readonly to: number }
  | ({ readonly type: "call" } & VenueCall)
  /** A call that is refused by decision from outside: a dealer's last look, a fault. */
  | ({ readonly type: "decline"; readonly reason: string } & VenueCall)
  | { readonly type: "void"; readonly refs: ReadonlyArray<string> }
  | {
      readonly type: "quote"
      readonly rfqRef: string
      readonly dealer: string
      readonly price: string
      readonly qty: string
      readonly validUntil: number
    }
  | { readonly type: "withdraw"; readonly rfqRef: string; readonly quoteId: number }
  | { readonly type: "command"; readonly command: VenueCommand }

export interface Applied {
  /** Of a call or a decline its one; of a voiding one a ref, in order. */
  readonly outcomes: ReadonlyArray<VenueOutcome>
  /** What it made, or null: of `quote` the quote, of a command what VenueCommandAnswer says. */
  readonly id: number | null
  /** Why a command or a quote did nothing, in words; null when it did. */
  readonly refusal: string | null
}

export interface VenueListeners {
  readonly event: (event: VenueEvent) => void
  readonly market: (message: ChannelMessage) => void
}

export interface KlineWindow {
  readonly symbol: string
  readonly interval: KlineInterval
  /** Unix ms; `from` inclusive, `to` exclusive. */
  readonly from: number | null
  readonly to: number | null
  readonly limit: number
}

/** Plain JSON. */
export type VenueState = { readonly version: 1; readonly [part: string]: unknown }

export class Venue {
  readonly options: VenueOptions
  /** Business time, Unix ms. */
  now: number
  /** Of the last event; 0 before the first. */
  number = 0

  constructor(options: VenueOptions, listeners: VenueListeners) {
    this.options = options
    this.now = options.startAt
    void listeners
  }

  /** A venue that goes on from a state as the one that gave it would. */
  static restore(state: VenueState, listeners: VenueListeners): Venue {
    return new Venue(state["options"] as VenueOptions, listeners)
  }

  apply(input: VenueInput): Applied {
    throw new Error(`not yet: ${input.type}`)
  }

  state(): VenueState {
    return { version: 1, options: this.options }
  }

  listing(): VenueListing {
    return { version: 1, at: this.now, markets: [], stakingMarkets: [] }
  }

  /** The board of staking offers. */
  offers(): ReadonlyArray<VenueOffer> {
    return []
  }

  /** The channel as it was last said, whole; null for a market without it. */
  snapshot(channel: ChannelMessage["channel"], symbol: string): ChannelMessage | null {
    return channel === symbol ? null : null
  }

  /** Null for an unknown market. */
  klines(window: KlineWindow): KlinePage | null {
    return window.limit < 0 ? null : null
  }

  account(name: string): VenueAccount | null {
    return name === "" ? null : null
  }

  /** What became of refs; UNKNOWN for one that has not come. */
  lookup(refs: ReadonlyArray<string>): ReadonlyArray<VenueOutcome> {
    return refs.length === 0 ? [] : []
  }

  /** Events after a number, oldest first; null when they are not kept any more, or the number is of no event. */
  eventsAfter(number: number): ReadonlyArray<VenueEvent> | null {
    return number === 0 ? [] : null
  }

  /** At most 1,000 events of an account after a sequence of its own; null: unknown account, or not kept any more. */
  accountEvents(name: string, after: number): ReadonlyArray<VenueEvent> | null {
    return name === String(after) ? [] : null
  }

  dealers(): ReadonlyArray<Dealer> {
    return []
  }

  /** What `sim venue show` says of the markets. */
  markets(): VenueView["markets"] {
    return []
  }
}
