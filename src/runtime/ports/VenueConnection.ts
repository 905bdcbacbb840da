/** The address of a service's venue and its credentials: from `serve --venue-url`, or of the simulator beside a sandbox. */
import type { Redacted } from "effect"

export interface VenueConnection {
  /** https, or http on a loopback address; without a path. */
  readonly url: string
  /** Sent as a bearer token. */
  readonly key: Redacted.Redacted
  /** PEM of the authority that its certificate is checked against; null: the public authorities. */
  readonly ca: string | null
}
