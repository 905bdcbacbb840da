/** What a run of scenarios needs from whoever starts it: one running sandbox service, and its command line. */
import type { Effect } from "effect"
import type { ReceiverNotStarted } from "../../partner/WebhookReceiver.ts"

/** What a command line did. */
export interface CommandAnswer {
  readonly exit: number
  /** The JSON document on stdout, or null. */
  readonly document: unknown
  /** The envelope on stderr, or null. */
  readonly refusal: { readonly code: number; readonly msg: string; readonly data?: unknown } | null
}

export interface World {
  /** Origin of the service. */
  readonly url: string
  /** PEM of the authority to trust; null: the system's. */
  readonly ca: string | null
  /** Of an ADMIN. */
  readonly operatorKey: string
  /** Runs `brokerage ARGS --json --yes` on the service. */
  readonly command: (args: ReadonlyArray<string>) => Promise<CommandAnswer>
  /** A certificate for 127.0.0.1 from the service's local authority, which it trusts for webhooks. PEM. */
  readonly tls: Effect.Effect<{ readonly cert: string; readonly key: string }, ReceiverNotStarted>
}
