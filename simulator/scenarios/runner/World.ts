/** The environment of a run of scenarios: one running sandbox service and its command line. */
import type { Effect } from "effect"
import type { ReceiverNotStarted } from "../../partner/WebhookReceiver.ts"

/** The result of a command line. */
export interface CommandAnswer {
  readonly exit: number
  /** The JSON document on stdout, or null. */
  readonly document: unknown
  /** The envelope on stderr, or null. */
  readonly refusal: { readonly code: number; readonly msg: string; readonly data?: unknown } | null
}

/** Processes of the run's own, which its steps may kill. */
export interface OwnProcesses {
  /** Sends kill -9 to the service, unless it has ended, and restarts it on the same directory and port. */
  readonly restart: () => Promise<void>
  /**
   * Arms a kill -9 at the next pass of this point of a commit (`serve --kill-at`), of `subject` alone (`client:7`) if given.
   */
  readonly dieAt: (point: string, subject?: string) => Promise<void>
  /** Resolves once the service has ended. */
  readonly ended: () => Promise<void>
  /** Sends kill -9 to the service's database; false if none runs. The service restarts the database. */
  readonly killDatabase: () => boolean
}

/** The final answer of a partner step, or an event that a step waited for. */
export type Observed =
  | {
      readonly kind: "route"
      readonly method: string
      readonly path: string
      /** The body of the request; null: no body. */
      readonly request: unknown
      readonly status: number
      /** The body of the answer: JSON as a value, other text unchanged. */
      readonly answer: unknown
    }
  | { readonly kind: "event"; readonly event: string; readonly body: unknown }

export interface World {
  /** Gets the results of partner steps in order; absent: they are dropped. */
  readonly observe?: (observed: Observed) => void
  /** Origin of the service. */
  readonly url: string
  /** PEM of the authority to trust; null: the system's. */
  readonly ca: string | null
  /** An operator key with the role ADMIN. */
  readonly operatorKey: string
  /** Runs `brokerage ARGS --json --yes` on the service. */
  readonly command: (args: ReadonlyArray<string>) => Promise<CommandAnswer>
  /** The processes that the run started; null: the run did not start the service. */
  readonly own: OwnProcesses | null
  /** A certificate for 127.0.0.1 from the service's local authority, which the service trusts for webhooks; PEM. */
  readonly tls: Effect.Effect<{ readonly cert: string; readonly key: string }, ReceiverNotStarted>
}
