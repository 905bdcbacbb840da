/** Which venue a service speaks to, and how it is let in: of `serve --venue-url`, or of the simulator beside a sandbox. */
import type { Redacted } from "effect"

export interface VenueConnection {
  /** https, or http on a loopback address; without path. */
  readonly url: string
  /** Sent as bearer token. */
  readonly key: Redacted.Redacted
  /** PEM of the authority that its certificate is checked against; null: the public ones. */
  readonly ca: string | null
}
