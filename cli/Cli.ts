/**
 * The one place where commander meets the service: finds the connection, asks before what can't be undone, calls,
 * prints, and keeps the exit status (operator surface, rules for every command).
 */
import { setTimeout as pause } from "node:timers/promises"
import type { Command } from "commander"
import type { Effect } from "effect"
import { cliFailure, CliFailure, type CliIo, type ExitStatus, exitStatus, type Globals } from "./CliIo.ts"
import { findConnection } from "./connection.ts"
import { carriedOut, dryRunDocument, dryRunView, speaksForItself } from "./dryRun.ts"
import type { CallService, OperatorClient, Success } from "./OperatorClient.ts"
import type { View } from "./views/View.ts"

export interface CallOptions<A> {
  /**
   * Asked on the terminal before anything happens; `--yes` skips it, and without a terminal nothing happens but with it.
   * A function asks the service for the figures first, in dry runs alone; null: nothing has to be asked.
   */
  readonly confirm?: string | ((client: OperatorClient) => Effect.Effect<string | null, unknown>)
  /** The call changes nothing, though the command can: `--dry-run` makes no difference. */
  readonly reads?: boolean
  /** Fails the command after its answer is printed. */
  readonly failed?: (data: A) => CliFailure | null
  /** What a refusal's data shows a person below its sentence; null: nothing more. */
  readonly refused?: (data: unknown) => View | null
}

/** Runs one more command line, for a command that is made of commands. */
export type RunLine = (args: ReadonlyArray<string>, io: CliIo, callService?: CallService) => Promise<ExitStatus>

export class Cli {
  readonly io: CliIo
  readonly runLine: RunLine
  status: ExitStatus = exitStatus.done
  private readonly callService: CallService | undefined

  /** `callService`: how the service is called; default: on a connection of its own each time. */
  constructor(io: CliIo, runLine: RunLine = noLine, callService?: CallService) {
    this.io = io
    this.runLine = runLine
    this.callService = callService
  }

  /** One call of the service and its answer on stdout. */
  async call<A>(
    command: Command,
    request: (client: OperatorClient) => Effect.Effect<Success<A>, unknown>,
    view: (data: A) => View,
    options: CallOptions<A> = {}
  ): Promise<void> {
    await this.attempt(
      command,
      async (globals) => {
        const found = findConnection(globals, this.io)
        const connection = options.reads === true ? { ...found, dryRun: false } : found
        const callService = this.callService ?? (await import("./OperatorClient.ts")).callService
        const { confirm } = options
        if (confirm !== undefined && connection.dryRun !== true && globals.yes !== true) {
          const rehearsal = { ...connection, dryRun: true }
          this.ask(typeof confirm === "string" ? confirm : await callService(rehearsal, confirm))
        }
        const { data, dryRun } = await callService(connection, request)
        if (connection.dryRun === true && dryRun === undefined) throw carriedOut
        if (dryRun === undefined) await this.show(globals, data, view)
        else if (speaksForItself(data)) await this.show(globals, { ...data, ...dryRunDocument(data, dryRun) }, view)
        else await this.show(globals, dryRunDocument(data, dryRun), ({ answer }) => dryRunView(view(answer), dryRun))
        const failure = options.failed?.(data) ?? null
        if (failure !== null) throw failure
      },
      options.refused
    )
  }

  /**
   * The answer of a call that only reads, drawn again every two seconds on a terminal until a signal ends it; once elsewhere, and
   * with --json.
   */
  async watch<A>(
    command: Command,
    request: (client: OperatorClient) => Effect.Effect<Success<A>, unknown>,
    view: (data: A) => View
  ): Promise<void> {
    const { json } = command.optsWithGlobals<Globals>()
    if (json === true || !this.io.terminal) return this.call(command, request, view, { reads: true })
    await this.attempt(command, async (globals) => {
      const connection = { ...findConnection(globals, this.io), dryRun: false }
      const callService = this.callService ?? (await import("./OperatorClient.ts")).callService
      const { render } = await import("./views/render.ts")
      const ended = this.io.stopped().then(() => true)
      do {
        const { data } = await callService(connection, request)
        this.io.stdout(frame(`${render(view(data), this.styled)}\n\nCtrl-C ends it.`))
      } while (!(await Promise.race([ended, pause(redrawMillis, false)])))
    })
  }

  /** Runs a command that is more than one call; a CliFailure ends it with its status. */
  async attempt(
    command: Command,
    run: (globals: Globals) => Promise<void>,
    refused?: CallOptions<never>["refused"]
  ): Promise<void> {
    const globals = command.optsWithGlobals<Globals>()
    try {
      await run(globals)
    } catch (error) {
      this.fail(globals.json === true, error)
      const more = globals.json === true || !(error instanceof CliFailure) ? null : refused?.(error.envelope.data)
      if (more === null || more === undefined) return
      const { render } = await import("./views/render.ts")
      this.io.stderr(`\n${render(more, this.styled)}\n`)
    }
  }

  /** Exactly one JSON document with --json, a view for a person otherwise. */
  async show<A>(globals: Globals, data: A, view: (data: A) => View): Promise<void> {
    if (globals.json === true) return this.io.stdout(`${JSON.stringify(data)}\n`)
    const { render } = await import("./views/render.ts")
    this.io.stdout(`${render(view(data), this.styled)}\n`)
  }

  get styled(): boolean {
    const { NO_COLOR } = this.io.env
    return this.io.terminal && (NO_COLOR === undefined || NO_COLOR === "")
  }

  /** What went wrong, on stderr: the envelope with --json, its sentences otherwise. */
  fail(json: boolean, error: unknown): void {
    if (!(error instanceof CliFailure)) throw error
    this.status = error.status
    this.io.stderr(json ? `${JSON.stringify(error.envelope)}\n` : `${sentencesOf(error).join("\n")}\n`)
  }

  private ask(question: string | null): void {
    if (question === null) return
    const answer = this.io.confirm(question)
    if (answer === null) throw noTerminal
    if (!answer) throw cliFailure(exitStatus.refused, 4092, "Nothing was done.")
  }
}

const redrawMillis = 2_000

/** The screen from its upper left corner on: each line to its end, and what was below. */
const frame = (text: string): string => `\u001b[H${text.replaceAll("\n", "\u001b[K\n")}\u001b[K\n\u001b[J`

const noLine: RunLine = () => Promise.reject(new Error("this command line was made without a way to run another"))

const noTerminal = cliFailure(
  exitStatus.usage,
  4000,
  "This command asks before it acts, and there is no terminal to ask on: give --yes. Nothing was done."
)

const sentencesOf = ({ envelope }: CliFailure): ReadonlyArray<string> => {
  const data = (envelope.data ?? {}) as Readonly<Record<string, unknown>>
  const errors = Object.entries((data.errors ?? {}) as Readonly<Record<string, string>>)
  const blockers = Array.isArray(data.blockers) ? data.blockers.map((each) => `  ${String(each)}`) : []
  return [envelope.msg, ...errors.map(([path, sentence]) => `  ${path}: ${sentence}`), ...blockers]
}
