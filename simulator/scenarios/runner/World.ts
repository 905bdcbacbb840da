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

/** Processes that a run has started for itself, so that its steps may kill them. */
export interface OwnProcesses {
  /** kill -9 of the service, unless it has ended, and its start on the same directory and port. */
  readonly restart: () => Promise<void>
  /** From now on it dies with -9 when it passes this point of a commit (`serve --kill-at`), of `subject` alone (`client:7`) if given. */
  readonly dieAt: (point: string, subject?: string) => Promise<void>
  /** Resolves once the service has ended. */
  readonly ended: () => Promise<void>
  /** kill -9 of its database; false when none runs. The service starts it again. */
  readonly killDatabase: () => boolean
}

/** What a step of a partner's was answered in the end, or an event that a step waited for. */
export type Heard =
  | {
      readonly kind: "route"
      readonly method: string
      readonly path: string
      /** Null: it had none. */
      readonly request: unknown
      readonly status: number
      /** JSON as its value, anything else as text. */
      readonly answer: unknown
    }
  | { readonly kind: "event"; readonly event: string; readonly body: unknown }

export interface World {
  /** Is told of the partners' steps, in their order; absent: nobody keeps them. */
  readonly heard?: (heard: Heard) => void
  /** Origin of the service. */
  readonly url: string
  /** PEM of the authority to trust; null: the system's. */
  readonly ca: string | null
  /** Of an ADMIN. */
  readonly operatorKey: string
  /** Runs `brokerage ARGS --json --yes` on the service. */
  readonly command: (args: ReadonlyArray<string>) => Promise<CommandAnswer>
  /** Null: the service is somebody else's. */
  readonly own: OwnProcesses | null
  /** A certificate for 127.0.0.1 from the service's local authority, which it trusts for webhooks. PEM. */
  readonly tls: Effect.Effect<{ readonly cert: string; readonly key: string }, ReceiverNotStarted>
}
