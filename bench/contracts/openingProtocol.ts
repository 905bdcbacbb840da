/** What the measure of openings says to its generator and to its reference. */
import type { Slice } from "../load/protocol.ts"

/** `open`: requests for quotes, each read until it has one, and accepted. `preview`: previews of the same request. */
export interface OpeningQuestion extends Pick<
  Slice,
  "port" | "ca" | "partnerKey" | "clientIds" | "connections" | "millis"
> {
  readonly kind: "open" | "preview"
}

export interface OpeningResult {
  /** Ended inside the window, per second. */
  readonly rate: number
  /** All of them, those that ended after the window included: what the books must hold. */
  readonly done: number
  readonly p50Millis: number
  readonly p99Millis: number
}

/** The reference that opens contracts at a venue. */
export interface OpeningServerQuestion {
  readonly databaseUrl: string
  readonly certificate: string
  readonly key: string
  readonly venueUrl: string
  readonly venueKey: string
}
