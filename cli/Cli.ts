/**
 * Runs the calls of commands: finds the connection, confirms irreversible calls, calls the service, prints the answer, and
 * keeps the exit status. Only this file connects commander with the service (operator surface, rules for every command).
 */
import { setTimeout as pause } from "node:timers/promises"
import type { Command } from "commander"
import { cliFailure, CliFailure, type CliIo, type ExitStatus, exitStatus, type Globals, isRefusal } from "./CliIo.ts"
import { findConnection } from "./connection.ts"
import { Progress } from "./progress.ts"
import { carriedOut, type Deed, dryRunDocument, dryRunView, grantView, isDryRunAnswer, type Would } from "./dryRun.ts"
import type { CallService, OperatorClient, Success } from "./OperatorClient.ts"
import { refusalLines } from "./refusalText.ts"
import { cellText, escaped, type Names, unbroken } from "./views/cellText.ts"
import type { Change } from "./views/changes.ts"
import { type Cell, stack, text, type View } from "./views/View.ts"
import { wrapText } from "./views/wrapWords.ts"

export interface CallOptions<A> {
  /**
   * A confirmation question, put on the terminal below the result of a dry run and before the call. `--yes` skips it; without
   * a terminal the call needs `--yes`. A function first reads figures from the service by dry runs; null means no question.
   */
  readonly confirm?: string | ((client: OperatorClient) => Promise<string | null>)
  /**
   * Text above the dry run, such as the requesting operator. False when the call has no dry run, and the question is complete
   * without one.
   */
  readonly deed?: false | ((client: OperatorClient) => Promise<View>)
  /** The object (KIND:ID) of a decision. When another operator has decided it already, the refusal names that operator. */
  readonly about?: string | ((client: OperatorClient) => Promise<string | null>)
  /** The object (KIND:ID) of the view; its decisions are listed below the view. */
  readonly decided?: (data: A) => string
  /** True when this call changes nothing although the command can: `--dry-run` then makes no difference. */
  readonly reads?: boolean
  /** Progress of the call, polled while it runs; null when there is none to show. */
  readonly progress?: (client: OperatorClient) => Promise<string | null>
  /** A failure of the command that is reported after its answer is printed, or null. */
  readonly failed?: (data: A) => CliFailure | null
  /** Renders a refusal's data below its sentence; null to show only the sentence. */
  readonly refused?: (data: unknown) => View | null
}

/** Renders an answer; `isDry` is true for the answer of a dry run. */
export type Shown<A> = (data: A, isDry: boolean) => View

/** Runs another command line, for a command that consists of commands. */
export type RunLine = (args: ReadonlyArray<string>, io: CliIo, callService?: CallService) => Promise<ExitStatus>

export class Cli {
  readonly io: CliIo
  readonly runLine: RunLine
  status: ExitStatus = exitStatus.done
  private readonly callService: CallService | undefined

  /** `callService` calls the service; by default each call opens a connection. */
  constructor(io: CliIo, runLine: RunLine = noLine, callService?: CallService) {
    this.io = io
    this.runLine = runLine
    this.callService = callService
  }

  /** Calls the service once and prints the answer on stdout. */
  async call<A>(
    command: Command,
    request: (client: OperatorClient) => Promise<Success<A>>,
    view: Shown<A>,
    options: CallOptions<A> = {}
  ): Promise<void> {
    await this.attempt(
      command,
      async (globals) => {
        const found = findConnection(globals, this.io)
        const connection = options.reads === true ? { ...found, dryRun: false } : found
        const callService = await this.service()
        const service: Service = { globals, query: (use) => callService({ ...connection, dryRun: false }, use) }
        try {
          if (connection.dryRun !== true && globals.yes !== true) {
            const dry: Service = { ...service, query: (use) => callService({ ...connection, dryRun: true }, use) }
            const standing = await this.confirmFirst(dry, request, view, options)
            if (standing !== null) return await this.showAnswer(service, standing, view, options)
          }
          const { progress } = options
          const answer = await this.whileWaiting(
            globals,
            callService(connection, request),
            progress === undefined ? undefined : () => service.query(progress)
          )
          if (connection.dryRun === true && answer.dryRun === undefined) throw carriedOut
          await this.showAnswer(service, answer, view, options)
        } catch (error) {
          throw await this.withRuling(service, error, options.about)
        }
      },
      options.refused
    )
  }

  async service(): Promise<CallService> {
    return this.callService ?? (await import("./OperatorClient.ts")).callService
  }

  private async showAnswer<A>(
    service: Service,
    { data, dryRun, changes }: Success<A>,
    view: Shown<A>,
    options: CallOptions<A>
  ): Promise<void> {
    const { globals } = service
    if (dryRun === undefined) {
      await this.show(
        globals,
        data,
        async (all) =>
          this.withDecisions(
            service,
            await this.headed(service, changes, data, view(all, false), options.about),
            options.decided?.(all)
          ),
        service
      )
    } else if (isDryRunAnswer(data)) {
      const refusal = refusalOf(data)
      if (refusal === null || globals.json === true)
        await this.show(globals, { ...data, ...dryRunDocument(data, dryRun) }, (all) => view(all, true), service)
      if (refusal !== null) throw refusal
    } else {
      const deed = deedView(data, dryRun, view, "It would write:")
      const shown = async () =>
        stack(text("Dry run: nothing is written."), await this.headed(service, changes, data, deed))
      await this.show(globals, dryRunDocument(data, dryRun), shown, service)
    }
    const failure = options.failed?.(data) ?? null
    if (failure !== null) throw failure
  }

  /** Puts the changes of a command above its answer; without changes, the last decision on the object. */
  private async headed(
    service: Service,
    changes: ReadonlyArray<Change> | undefined,
    data: unknown,
    view: View,
    about?: CallOptions<never>["about"]
  ): Promise<View> {
    if (changes === undefined) return view
    const [{ readNames }, { callingsOf, changesView }] = await Promise.all([
      import("./names.ts"),
      import("./views/changes.ts")
    ])
    const { partner } = await service.query((api) =>
      readNames(api, new Set(changes.some(isOfPartner) ? ["partner"] : []))
    )
    const head = changesView(changes, callingsOf(data, partner))
    const before = changes.length > 0 || about === undefined ? null : await this.rulingOn(service, about)
    return stack(head, ...(before === null ? [] : [before]), text(""), view)
  }

  private async rulingOn({ query }: Service, about: NonNullable<CallOptions<never>["about"]>): Promise<View | null> {
    const { lastRuling } = await import("./lastRuling.ts")
    const object = typeof about === "string" ? about : await query(about)
    return object === null ? null : query((api) => lastRuling(api, object))
  }

  private async withDecisions({ query }: Service, view: View, object: string | undefined): Promise<View> {
    if (object === undefined) return view
    const { decisionsOn } = await import("./views/decisions.ts")
    const decisions = await query((api) => decisionsOn(api, object))
    return decisions === null ? view : stack(view, text(""), decisions)
  }

  /** Adds the last decision on the object to a refusal, when the object's state caused the refusal. */
  private async withRuling(service: Service, error: unknown, about: CallOptions<never>["about"]): Promise<unknown> {
    const isConflict = error instanceof CliFailure && error.envelope.code === 4092 && error !== declined
    if (!isConflict || about === undefined || service.globals.json === true) return error
    const ruling = await this.rulingOn(service, about).catch(() => null)
    return ruling === null ? error : new CliFailure(error.status, error.envelope, ruling)
  }

  /**
   * Shows the answer of a read. On a terminal it is refreshed every two seconds until a signal. Elsewhere, and with --json,
   * it is shown once.
   */
  async watch<A>(
    command: Command,
    request: (client: OperatorClient) => Promise<Success<A>>,
    view: (data: A) => View
  ): Promise<void> {
    const { json } = command.optsWithGlobals<Globals>()
    if (json === true || !this.io.terminal || this.io.env.TERM === "dumb")
      return this.call(command, request, view, { reads: true })
    await this.attempt(command, async (globals) => {
      const connection = { ...findConnection(globals, this.io), dryRun: false }
      const callService = await this.service()
      const ended = this.io.stopped().then(() => true)
      do {
        const { data } = await callService(connection, request)
        this.io.stdout(frame(`${await this.drawn(globals, view(data), null)}\n\nCtrl-C ends it.`))
      } while (!(await Promise.race([ended, pause(redrawMillis, false)])))
    })
  }

  /** Runs a command that makes several calls; a CliFailure ends it with the failure's exit status. */
  async attempt(
    command: Command,
    run: (globals: Globals) => Promise<void>,
    refused?: CallOptions<never>["refused"]
  ): Promise<void> {
    const globals = command.optsWithGlobals<Globals>()
    try {
      await run(globals)
    } catch (error) {
      this.fail(globals.json === true, error, command)
      if (globals.json === true || !(error instanceof CliFailure)) return
      const shown = [error.more, refused?.(error.envelope.data)].filter((more) => more !== null && more !== undefined)
      for (const more of shown) this.io.stderr(`\n${await this.drawn(globals, more, null, this.io.errorColumns())}\n`)
    }
  }

  /** Prints one JSON document with --json, otherwise a view. `service` resolves the names of ids. */
  async show<A>(
    globals: Globals,
    data: A,
    view: (data: A) => View | Promise<View>,
    service: Service | null = null
  ): Promise<void> {
    if (globals.json === true) return this.io.stdout(`${JSON.stringify(data)}\n`)
    const shown = `${await this.drawn(globals, await view(data), service)}\n`
    const size = this.io.size()
    const isLong = size !== null && shown.split("\n").length > size.rows
    if (isLong && (await this.io.page(shown, { chop: globals.wide === true }))) return
    this.io.stdout(shown)
  }

  /** Renders the view as text for this output. `otherwise` is the width when stdout is no terminal. */
  async drawn(globals: Globals, view: View, service: Service | null, otherwise: number | null = null): Promise<string> {
    const { render } = await import("./views/render.ts")
    const size = this.io.size()
    const columns = globals.wide === true ? null : (size?.columns ?? otherwise)
    const times = size === null && otherwise === null ? "exact" : globals.utc === true ? "utc" : "short"
    return render(view, { styled: this.styled, columns, times, names: await namesFor(view, service) })
  }

  /** Renders one unwrapped line, for output that arrives in pieces. */
  line({ utc }: Globals, line: Cell): string {
    const times = this.io.size() === null && this.io.errorColumns() === null ? "exact" : utc === true ? "utc" : "short"
    return cellText(line, { styled: false, columns: null, times }).replaceAll(unbroken, " ")
  }

  get styled(): boolean {
    const { NO_COLOR, TERM } = this.io.env
    return this.io.terminal && TERM !== "dumb" && (NO_COLOR === undefined || NO_COLOR === "")
  }

  /** Prints an error on stderr: the envelope with --json, otherwise its sentences. `command`: the command that failed. */
  fail(json: boolean, error: unknown, command: Command | null = null): void {
    if (!(error instanceof CliFailure)) throw error
    this.status = error.status
    const sentences = () => `${markOf(error)}${refusalLines(error.envelope, command).map(escaped).join("\n")}\n`
    this.io.stderr(json ? `${JSON.stringify(error.envelope)}\n` : wrapText(sentences(), this.io.errorColumns()))
  }

  /**
   * Shows a dry run of the call and prompts for confirmation; throws a refusal, or `declined`. When the object is decided
   * already, there is no question and no call, and the existing decision is returned.
   */
  private async confirmFirst<A>(
    { globals, query }: Service,
    request: (client: OperatorClient) => Promise<Success<A>>,
    view: Shown<A>,
    { confirm, deed, about }: CallOptions<A>
  ): Promise<Success<A> | null> {
    if (confirm === undefined) return null
    if (typeof confirm === "string" && !this.io.canPrompt()) throw noTerminal
    const question = typeof confirm === "string" ? confirm : await query(confirm)
    if (question === null) return null
    if (!this.io.canPrompt()) throw noTerminal
    const head = deed === undefined || deed === false ? [] : [await query(deed)]
    const rehearsed = deed === false ? null : await query(request)
    const refusal = rehearsed !== null && isDryRunAnswer(rehearsed.data) ? refusalOf(rehearsed.data) : null
    if (refusal !== null) throw refusal
    if (rehearsed !== null && about !== undefined && doesNothing(rehearsed))
      return { code: 0, data: rehearsed.data, changes: [] }
    const shown =
      rehearsed?.dryRun === undefined || isDryRunAnswer(rehearsed.data)
        ? head
        : [
            ...head,
            ...head.map(() => text("")),
            await this.headed(
              { globals, query },
              rehearsed.changes,
              rehearsed.data,
              deedView(rehearsed.data, rehearsed.dryRun, view, "It would write:")
            )
          ]
    const drawn =
      shown.length === 0 ? "" : await this.drawn(globals, stack(...shown), { globals, query }, promptColumns)
    const answer = this.io.confirm(question, drawn)
    if (answer === null) throw noTerminal
    if (!answer) throw declined
    return null
  }

  /** Shows progress while a call runs. `query` reads the progress. */
  async whileWaiting<A>(globals: Globals, answer: Promise<A>, query?: () => Promise<string | null>): Promise<A> {
    // Only a terminal shows the waiting time; progress is written to logs too.
    if (query === undefined && this.io.progress === null) return answer
    const progress = this.progressOf(globals)
    const began = Date.now()
    let isQuerying = false
    let isOver = false
    const timer = setInterval(() => {
      const waited = () => `${Math.round((Date.now() - began) / 1_000)} s`
      if (query === undefined) return progress.report(`Waiting for the service: ${waited()}`)
      if (isQuerying) return
      isQuerying = true
      // A failed progress query is ignored, because the call itself reports the state of the service.
      const noProgress = () => null
      void query()
        .catch(noProgress)
        .then((line) => {
          isQuerying = false
          if (line !== null && !isOver) progress.report(`${line}, ${waited()}`)
        })
    }, progressMillis)
    try {
      return await answer
    } finally {
      clearInterval(timer)
      isOver = true
      progress.end()
    }
  }

  /** Shows progress for this command; silent with --json. */
  progressOf({ json }: Globals): Progress {
    return new Progress(this.io, json === true)
  }
}

/** The service that a command's call used, with the options of that command line: further queries go to it. */
interface Service {
  readonly globals: Globals
  readonly query: <A>(use: (client: OperatorClient) => Promise<A>) => Promise<A>
}

/** Columns of the text above a confirmation prompt when stdout is no terminal. The prompt's own terminal may be wider. */
const promptColumns = 80
const progressMillis = 1_000

const isOfPartner = ({ object }: Change): boolean => /^(partner|reliance):/.test(object ?? "")

const doesNothing = ({ dryRun, changes }: Success<unknown>): boolean =>
  dryRun !== undefined && changes?.length === 0 && Object.keys(dryRun.rows).length === 0 && dryRun.events.length === 0

/** Renders the answer of a dry run; under four eyes, with the effects that the second operator's grant will have. */
const deedView = <A>(data: A, would: Would, view: Shown<A>, head: string): View => {
  const { deed } = (typeof data === "object" && data !== null ? data : {}) as { readonly deed?: Deed }
  return deed === undefined
    ? dryRunView(view(data, true), would, head)
    : stack(view(data, true), text(""), grantView(deed, view as never))
}

/** The refusal that a dry run predicts by its blockers; null without blockers. */
const refusalOf = (data: unknown): CliFailure | null => {
  const { blockers } = data as { readonly blockers?: ReadonlyArray<string> }
  if (blockers === undefined || blockers.length === 0) return null
  const sentence = "It would be refused: items are still open."
  return new CliFailure(exitStatus.refused, { code: 4092, msg: sentence, error: sentence, data: { blockers } })
}

/** The failure when the operator answers no. */
const declined = cliFailure(exitStatus.refused, 4092, "Nothing was done.")

const redrawMillis = 2_000

/** Overwrites the screen from its upper left corner and clears the rest. */
const frame = (text: string): string => `\u001b[H${text.replaceAll("\n", "\u001b[K\n")}\u001b[K\n\u001b[J`

/** The word before a failure: `refused` if the service refused the call, otherwise `error`; empty if the operator declined. */
const markOf = (failure: CliFailure): string =>
  failure === declined ? "" : isRefusal(failure) ? "refused: " : "error: "

const namesFor = async (view: View, service: Service | null): Promise<Names> => {
  const { namesIn, noNames, readNames } = await import("./names.ts")
  const kinds = namesIn(view)
  return service === null || kinds.size === 0 ? noNames : service.query((api) => readNames(api, kinds))
}

const noLine: RunLine = () => Promise.reject(new Error("this command line was made without a way to run another"))

const noTerminal = cliFailure(
  exitStatus.usage,
  4000,
  "This command needs a confirmation, and there is no terminal for the question: give --yes. Nothing was done."
)
