/**
 * The environment of the command line as an interface, so that tests run it without a process. Library code returns an exit
 * status and never ends the process (operator surface, rules for every command).
 */

import type { LeverageProfile } from "../src/machines/market/marketTerms.ts"
import type { View } from "./views/View.ts"

/**
 * The exit statuses of the command line. `refused`: the service refused the command; `usage`: the command line itself is
 * wrong.
 */
export const exitStatus = { done: 0, refused: 1, usage: 2, unreachable: 3 } as const
export type ExitStatus = (typeof exitStatus)[keyof typeof exitStatus]

export interface CliIo {
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether stdout is a terminal, so that colours may be used. */
  readonly terminal: boolean
  /** Current columns and rows of that terminal. Null when stdout is no terminal; lines are then not wrapped. */
  readonly size: () => Size | null
  /** Current columns of the terminal on stderr; null when stderr is no terminal. */
  readonly errorColumns: () => number | null
  /** Shows text in a pager; false when no pager can be started, so that the caller prints the text itself. */
  readonly page: (text: string, options: { readonly chop: boolean }) => Promise<boolean>
  /**
   * Shows one line on stderr; the next line replaces it, and null clears it. Null when stderr is no terminal, where nothing
   * is shown.
   */
  readonly progress: ((line: string | null) => void) | null
  /** True when this process can open a terminal for a confirmation prompt. */
  readonly canPrompt: () => boolean
  /**
   * Puts a yes-or-no question on the controlling terminal, wherever input and output go. `deed`, the text of the planned
   * changes, is shown above it. Returns null without a terminal.
   */
  readonly confirm: (question: string, deed: string) => boolean | null
  /** Completes at a signal that ends the command; may be called repeatedly. */
  readonly stopped: () => Promise<void>
  /** Runs the service until a signal stops it, and returns its exit status. Only main.ts implements it. */
  readonly serve: (options: ServeRequest) => Promise<ExitStatus>
}

/** The size of a terminal in characters. */
export interface Size {
  readonly columns: number
  readonly rows: number
}

/** The parsed options of `brokerage serve`, for the composition root. */
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
  /** True when the end of stdin stops the service: it then ends with the process that holds the other end of the pipe. */
  readonly untilStdinEnds: boolean
}

/** The names that statements give the operator's firm; a name is absent where the operator sets none. */
export interface Firm {
  readonly name?: string
  readonly legalEntity?: string
  readonly venue?: string
}

/** Options that every command accepts. An absent option means its default. */
export interface Globals {
  readonly json?: boolean
  readonly yes?: boolean
  readonly dataDir?: string
  readonly url?: string
  readonly operatorKey?: string
  readonly operatorKeyFile?: string
  readonly profile?: string
  readonly ca?: string
  /** Shows every column, however narrow the terminal is. */
  readonly wide?: boolean
  /** Shows times in UTC instead of the local zone. */
  readonly utc?: boolean
  /** Shows the effects of a command that writes, and changes nothing. */
  readonly dryRun?: boolean
}

/** A refusal as printed: the service's envelope, or an envelope of the same shape for an error of the command line. */
export interface Envelope {
  readonly code: number
  readonly msg: string
  readonly error: string
  readonly data?: unknown
}

/** Ends a command with an exit status and an error for stderr. */
export class CliFailure extends Error {
  readonly status: ExitStatus
  readonly envelope: Envelope
  /** Additional output for people, below the error's sentences; null without any. */
  readonly more: View | null

  constructor(status: ExitStatus, envelope: Envelope, more: View | null = null) {
    super(envelope.msg)
    this.status = status
    this.envelope = envelope
    this.more = more
  }
}

/** The failure when the answer of a command can't be written to stdout. The command itself may have run. */
export const unwritten = (cause: string | undefined): CliFailure => {
  const sentence = `The answer could not be written (${cause ?? "unknown error"}): check the audit before repeating the command.`
  return new CliFailure(exitStatus.unreachable, {
    code: 5030,
    msg: sentence,
    error: sentence,
    data: { outcomeUnknown: true }
  })
}

/** A failure of the command line: code 4000 for wrong usage, 5030 for an unreachable service. */
export const cliFailure = (status: ExitStatus, code: number, sentence: string): CliFailure =>
  new CliFailure(status, { code, msg: sentence, error: sentence })

/** The exit status of a service that has ended. Rejects with a CliFailure when the service has failed. */
export const servedStatus = (ended: Promise<"stopped" | "usurped">): Promise<ExitStatus> =>
  ended.then(
    (end) => (end === "stopped" ? exitStatus.done : exitStatus.refused),
    (error: unknown) => {
      throw cliFailure(exitStatus.refused, 5030, error instanceof Error ? error.message : String(error))
    }
  )

/** The answer, or `otherwise` when the service refuses the call or can't be reached. */
export const orElse = <A, B>(answer: Promise<A>, otherwise: B): Promise<A | B> =>
  answer.catch((error: unknown) => {
    if (!(error instanceof CliFailure)) throw error
    return otherwise
  })

/** True when the service refused the command. Other failures are an unreachable service or wrong usage. */
export const isRefusal = ({ status, envelope }: CliFailure): boolean =>
  status === exitStatus.refused && envelope.code !== 5030
