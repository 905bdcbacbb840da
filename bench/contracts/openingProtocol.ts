/** The messages between the measure of openings, its load generator and its reference. */
import type { Slice } from "../load/protocol.ts"

/**
 * `open`: requests for quotes, each polled until it has a quote, and accepted. `preview`: previews of the same request.
 */
export interface OpeningQuestion extends Pick<
  Slice,
  "port" | "ca" | "partnerKey" | "clientIds" | "connections" | "millis"
> {
  readonly kind: "open" | "preview"
}

export interface OpeningResult {
  /** Requests that ended inside the window, per second. */
  readonly rate: number
  /** All ended requests, including those that ended after the window. The books must hold exactly these. */
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
