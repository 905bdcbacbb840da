/**
 * What the command line needs from its surroundings, so that tests run it without a process (operator surface, rules for
 * every command). Libraries never exit: they answer an exit status.
 */

import type { LeverageProfile } from "../src/machines/market/marketTerms.ts"
import type { View } from "./views/View.ts"

/** 0 done, 1 refused by the service, 2 wrong usage, 3 service unreachable. */
export const exitStatus = { done: 0, refused: 1, usage: 2, unreachable: 3 } as const
export type ExitStatus = (typeof exitStatus)[keyof typeof exitStatus]

export interface CliIo {
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  /** Stdout is a terminal: colours may be used. */
  readonly terminal: boolean
  /** Columns and rows of that terminal now; null: stdout is none, and lines are as long as they are. */
  readonly size: () => Size | null
  /** Columns of the terminal that stderr is now; null: stderr is none. */
  readonly errorColumns: () => number | null
  /** Shows text page by page; false when there is no pager to show it with. */
  readonly page: (text: string, options: { readonly chop: boolean }) => Promise<boolean>
  /** One line on stderr that the next one replaces, null takes it away; null itself when stderr is no terminal. */
  readonly progress: ((line: string | null) => void) | null
  /** Whether there is a terminal to ask on. */
  readonly asks: () => boolean
  /**
   * Asks a yes or no question on the terminal that the command was started from, wherever its input and output go, below
   * what would be done; null when there is none.
   */
  readonly confirm: (question: string, deed: string) => boolean | null
  /** Completes when a signal asks the command to end; it may be called often. */
  readonly stopped: () => Promise<void>
  /** Runs the service until a signal stops it (main.ts alone knows how); its exit status. */
  readonly serve: (options: ServeRequest) => Promise<ExitStatus>
}

/** Of a terminal. */
export interface Size {
  readonly columns: number
  readonly rows: number
}

/** `brokerage serve` as parsed; the composition root takes exactly this. */
export interface ServeRequest {
  readonly role: "all" | "router" | "edge"
  readonly routerUrls: ReadonlyArray<string>
  readonly routerCa: string | null
  readonly passOperator: boolean
  readonly host: string
  readonly port: number
  readonly dataDir: string
  readonly databaseUrl: string | null
  readonly venueUrl: string | null
  readonly venueKeyFile: string | null
  readonly venueCa: string | null
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null
  readonly sandbox: boolean
  readonly demo: boolean
  readonly json: boolean
  readonly edgeHosts: ReadonlyArray<string>
  readonly allowWebhookHosts: ReadonlyArray<string>
  readonly fourEyes: ReadonlyArray<string> | null
  readonly leverageProfile: LeverageProfile
  readonly blockedJurisdictions: ReadonlyArray<string> | null
  readonly identityProviders: ReadonlyArray<string> | null
  readonly firm: Firm | null
  readonly killAt: { readonly point: string; readonly times: number } | null
}

/** How statements name the firm, as far as the operator says it. */
export interface Firm {
  readonly name?: string
  readonly legalEntity?: string
  readonly venue?: string
}

/** Options every command takes. */
export interface Globals {
  readonly json?: boolean
  readonly yes?: boolean
  readonly dataDir?: string
  readonly url?: string
  readonly operatorKey?: string
  readonly operatorKeyFile?: string
  readonly profile?: string
  readonly ca?: string
  /** Every column, however narrow the terminal is. */
  readonly wide?: boolean
  /** Times in UTC instead of the reader's zone. */
  readonly utc?: boolean
  /** Of the commands that write. */
  readonly dryRun?: boolean
}

/** A refusal as printed: the service's envelope, or one of the same shape for what never reached it. */
export interface Envelope {
  readonly code: number
  readonly msg: string
  readonly error: string
  readonly data?: unknown
}

/** Ends a command with a status and what goes to stderr. */
export class CliFailure extends Error {
  readonly status: ExitStatus
  readonly envelope: Envelope
  /** What a person reads below its sentences. */
  readonly more: View | null

  constructor(status: ExitStatus, envelope: Envelope, more: View | null = null) {
    super(envelope.msg)
    this.status = status
    this.envelope = envelope
    this.more = more
  }
}

/** The answer of a command could not be written to stdout: the command may be done all the same. */
export const unwritten = (cause: string | undefined): CliFailure => {
  const sentence = `The answer could not be written (${cause ?? "unknown error"}): check the audit before repeating the command.`
  return new CliFailure(exitStatus.unreachable, {
    code: 5030,
    msg: sentence,
    error: sentence,
    data: { outcomeUnknown: true }
  })
}

/** A failure that is the command line's own: code 4000 for usage, 5030 when nobody answers. */
export const cliFailure = (status: ExitStatus, code: number, sentence: string): CliFailure =>
  new CliFailure(status, { code, msg: sentence, error: sentence })

/** The exit status of a service that has ended. Rejects with a CliFailure if the service has failed. */
export const servedStatus = (ended: Promise<"stopped" | "usurped">): Promise<ExitStatus> =>
  ended.then(
    (end) => (end === "stopped" ? exitStatus.done : exitStatus.refused),
    (error: unknown) => {
      throw cliFailure(exitStatus.refused, 5030, error instanceof Error ? error.message : String(error))
    }
  )

/** The service has said no; anything else has failed: nobody answers, or the command line is wrong. */
export const isRefusal = ({ status, envelope }: CliFailure): boolean =>
  status === exitStatus.refused && envelope.code !== 5030
