/**
 * What the command line needs from its surroundings, so that tests run it without a process (operator surface, rules for
 * every command). Libraries never exit: they answer an exit status.
 */

import type { LeverageProfile } from "../src/machines/market/marketTerms.ts"

/** 0 done, 1 refused by the service, 2 wrong usage, 3 service unreachable. */
export const exitStatus = { done: 0, refused: 1, usage: 2, unreachable: 3 } as const
export type ExitStatus = (typeof exitStatus)[keyof typeof exitStatus]

export interface CliIo {
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  /** Stdout is a terminal: colours may be used. */
  readonly terminal: boolean
  /**
   * Asks a yes or no question on the terminal that the command was started from, wherever its input and output go; null
   * when there is none.
   */
  readonly confirm: (question: string) => boolean | null
  /** Completes when a signal asks the command to end; it may be called often. */
  readonly stopped: () => Promise<void>
  /** Runs the service until a signal stops it (main.ts alone knows how); its exit status. */
  readonly serve: (options: ServeRequest) => Promise<ExitStatus>
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
  readonly ca?: string
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

  constructor(status: ExitStatus, envelope: Envelope) {
    super(envelope.msg)
    this.status = status
    this.envelope = envelope
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
