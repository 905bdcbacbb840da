/** Options, inputs and results of the venue's core: plain JSON, so that a log can store them. */
import type { ChannelMessage, KlineInterval } from "../../../src/machines/venue/marketData.ts"
import type { VenueCallName, VenueOutcome, VenueRequest } from "../../../src/machines/venue/venueCalls.ts"
import type { VenueEvent } from "../../../src/machines/venue/VenueEvent.ts"
import type { VenueChange, VenueCommand } from "../../../src/venue/VenueCommand.ts"
import type { Base } from "./defaultMarkets.ts"
import type { VenueKnobs } from "./VenueKnobs.ts"

/** The options with which a venue begins: plain JSON, the first record of its log. */
export interface VenueOptions {
  readonly seed: number
  /** Business time at which the venue begins, Unix ms. */
  readonly startAt: number
  readonly tickMillis: number
  /** Bases with their markets that replace the default ones. */
  readonly markets?: ReadonlyArray<Base>
  readonly knobs: VenueKnobs
  readonly kept?: Kept
}

/** Limits on the refs and on the ended objects that the venue keeps; beyond a limit the oldest are dropped. */
export interface Kept {
  readonly refs: number
  readonly orders: number
  readonly requests: number
  readonly contracts: number
  readonly swaps: number
}

/** A call by its name; `VenueInput` pairs each with its own request. */
export type VenueCall = {
  readonly [Name in VenueCallName]: { readonly name: Name; readonly request: VenueRequest<Name> }
}[VenueCallName]

/** All inputs of the venue, which its log holds one a line. Times are business time, Unix ms. */
export type VenueInput =
  /**
   * Moves the venue's time forward, never back. Everything due by then happens: price ticks, touches, expiries, funding,
   * makers. `steps`: the most price steps, 10,000 without it.
   */
  | { readonly type: "time"; readonly to: number; readonly steps?: number }
  | ({ readonly type: "call" } & VenueCall)
  /** A call that is refused before it reaches the books, by a dealer's last look or by a fault. */
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
  /** One outcome for a call or a declined call. A void of several refs has one outcome for each ref, in order. */
  readonly outcomes: ReadonlyArray<VenueOutcome>
  /**
   * The id of the object that the input made: of the quote, or the one that VenueCommandAnswer defines for a command;
   * otherwise null.
   */
  readonly id: number | null
  /** The reason that a command or a quote was refused; null when it was executed. */
  readonly refusal: string | null
  /** The changes of an executed command. */
  readonly change?: VenueChange
}

export interface VenueListeners {
  readonly event: (event: VenueEvent) => void
  readonly market: (message: ChannelMessage) => void
}

export interface KlineWindow {
  readonly symbol: string
  readonly interval: KlineInterval
  /** The window of the klines, Unix ms: `from` inclusive, `to` exclusive; null: open on that side. */
  readonly from: number | null
  readonly to: number | null
  readonly limit: number
}
