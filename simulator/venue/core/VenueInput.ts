/** What the venue's core is made of, is given and answers: plain JSON throughout, so that a log can hold it. */
import type { ChannelMessage, KlineInterval } from "../../../src/machines/venue/marketData.ts"
import type { VenueCallName, VenueOutcome, VenueRequest } from "../../../src/machines/venue/venueCalls.ts"
import type { VenueEvent } from "../../../src/machines/venue/VenueEvent.ts"
import type { VenueCommand } from "../../../src/venue/VenueCommand.ts"
import type { Base } from "./defaultMarkets.ts"
import type { VenueKnobs } from "./VenueKnobs.ts"

/** Plain JSON: what the log's first record holds. */
export interface VenueOptions {
  readonly seed: number
  /** Business time at which the venue begins, Unix ms. */
  readonly startAt: number
  readonly tickMillis: number
  /** Instead of the default bases with their markets. */
  readonly markets?: ReadonlyArray<Base>
  readonly knobs: VenueKnobs
  readonly kept?: Kept
}

/** How much of what is over is kept: refs, then objects that have ended. Beyond it the oldest are not known any more. */
export interface Kept {
  readonly refs: number
  readonly orders: number
  readonly requests: number
  readonly contracts: number
  readonly swaps: number
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
