/**
 * The one place where commander meets the service: finds the connection, asks before what can't be undone, calls,
 * prints, and keeps the exit status (operator surface, rules for every command).
 */
import { setTimeout as pause } from "node:timers/promises"
import type { Command } from "commander"
import type { Effect } from "effect"
import { cliFailure, CliFailure, type CliIo, type ExitStatus, exitStatus, type Globals, isRefusal } from "./CliIo.ts"
import { findConnection } from "./connection.ts"
import { Progress } from "./progress.ts"
import { carriedOut, type Deed, dryRunDocument, dryRunView, grantView, speaksForItself, type Would } from "./dryRun.ts"
import type { CallService, OperatorClient, Success } from "./OperatorClient.ts"
import { refusalLines } from "./refusalText.ts"
import { cellText, escaped, type Names, unbroken } from "./views/cellText.ts"
import type { Change } from "./views/changes.ts"
import { type Cell, stack, text, type View } from "./views/View.ts"
import { wrapText } from "./views/wrapWords.ts"

export interface CallOptions<A> {
  /**
   * Asked on the terminal before anything happens, below what would be done (a dry run of the call); `--yes` skips it, and
   * without a terminal nothing happens but with it. A function asks the service for the figures first, in dry runs alone;
   * null: nothing has to be asked.
   */
  readonly confirm?: string | ((client: OperatorClient) => Effect.Effect<string | null, unknown>)
  /** What is shown above the dry run, such as who asked; false: the call can't be run dry, and its question says it all. */
  readonly deed?: false | ((client: OperatorClient) => Effect.Effect<View, unknown>)
  /** The object (KIND:ID) that it rules on: where somebody else has done so, they are named. */
  readonly about?: string | ((client: OperatorClient) => Effect.Effect<string | null, unknown>)
  /** The object (KIND:ID) of what is shown: who decided what on it is shown below. */
  readonly decided?: (data: A) => string
  /** The call changes nothing, though the command can: `--dry-run` makes no difference. */
  readonly reads?: boolean
  /** How far the call is, asked beside it now and then; null: nothing to say. */
  readonly progress?: (client: OperatorClient) => Effect.Effect<string | null, unknown>
  /** Fails the command after its answer is printed. */
  readonly failed?: (data: A) => CliFailure | null
  /** What a refusal's data shows a person below its sentence; null: nothing more. */
  readonly refused?: (data: unknown) => View | null
}

/** How an answer is shown; `isDry`: nothing of it has happened. */
export type Shown<A> = (data: A, isDry: boolean) => View

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
    view: Shown<A>,
    options: CallOptions<A> = {}
  ): Promise<void> {
    await this.attempt(
      command,
      async (globals) => {
        const found = findConnection(globals, this.io)
        const connection = options.reads === true ? { ...found, dryRun: false } : found
        const callService = await this.service()
        const service: Service = { globals, ask: (use) => callService({ ...connection, dryRun: false }, use) }
        try {
          if (connection.dryRun !== true && globals.yes !== true) {
            const dry: Service = { ...service, ask: (use) => callService({ ...connection, dryRun: true }, use) }
            const standing = await this.askFirst(dry, request, view, options)
            if (standing !== null) return await this.showAnswer(service, standing, view, options)
          }
          const { progress } = options
          const answer = await this.whileWaiting(
            globals,
            callService(connection, request),
            progress === undefined ? undefined : () => service.ask(progress)
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

  /** How the service is called. */
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
    } else if (speaksForItself(data)) {
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

  /** What a command that writes has changed, above its answer; where nothing has, who was there before. */
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
    const { partner } = await service.ask((api) =>
      readNames(api, new Set(changes.some(isOfPartner) ? ["partner"] : []))
    )
    const head = changesView(changes, callingsOf(data, partner))
    const before = changes.length > 0 || about === undefined ? null : await this.rulingOn(service, about)
    return stack(head, ...(before === null ? [] : [before]), text(""), view)
  }

  private async rulingOn({ ask }: Service, about: NonNullable<CallOptions<never>["about"]>): Promise<View | null> {
    const { lastRuling } = await import("./lastRuling.ts")
    const object = typeof about === "string" ? about : await ask(about)
    return object === null ? null : ask((api) => lastRuling(api, object))
  }

  private async withDecisions({ ask }: Service, view: View, object: string | undefined): Promise<View> {
    if (object === undefined) return view
    const { decisionsOn } = await import("./views/decisions.ts")
    const decisions = await ask((api) => decisionsOn(api, object))
    return decisions === null ? view : stack(view, text(""), decisions)
  }

  /** A refusal by the object's state, with who brought it there. */
  private async withRuling(service: Service, error: unknown, about: CallOptions<never>["about"]): Promise<unknown> {
    const isConflict = error instanceof CliFailure && error.envelope.code === 4092 && error !== declined
    if (!isConflict || about === undefined || service.globals.json === true) return error
    const ruling = await this.rulingOn(service, about).catch(() => null)
    return ruling === null ? error : new CliFailure(error.status, error.envelope, ruling)
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
      this.fail(globals.json === true, error, command)
      if (globals.json === true || !(error instanceof CliFailure)) return
      const shown = [error.more, refused?.(error.envelope.data)].filter((more) => more !== null && more !== undefined)
      for (const more of shown) this.io.stderr(`\n${await this.drawn(globals, more, null, this.io.errorColumns())}\n`)
    }
  }

  /** Exactly one JSON document with --json, a view for a person otherwise. `service`: where names of ids are asked for. */
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

  /** The view as text for this reader. `otherwise`: how wide the place is when stdout is no terminal. */
  async drawn(globals: Globals, view: View, service: Service | null, otherwise: number | null = null): Promise<string> {
    const { render } = await import("./views/render.ts")
    const size = this.io.size()
    const columns = globals.wide === true ? null : (size?.columns ?? otherwise)
    const times = size === null && otherwise === null ? "exact" : globals.utc === true ? "utc" : "short"
    return render(view, { styled: this.styled, columns, times, names: await namesFor(view, service) })
  }

  /** One line for this reader, as long as it is: of what is told piece by piece. */
  line({ utc }: Globals, line: Cell): string {
    const times = this.io.size() === null && this.io.errorColumns() === null ? "exact" : utc === true ? "utc" : "short"
    return cellText(line, { styled: false, columns: null, times }).replaceAll(unbroken, " ")
  }

  get styled(): boolean {
    const { NO_COLOR, TERM } = this.io.env
    return this.io.terminal && TERM !== "dumb" && (NO_COLOR === undefined || NO_COLOR === "")
  }

  /** What went wrong, on stderr: the envelope with --json, its sentences otherwise. `command`: which one was asked for. */
  fail(json: boolean, error: unknown, command: Command | null = null): void {
    if (!(error instanceof CliFailure)) throw error
    this.status = error.status
    const said = () => `${markOf(error)}${refusalLines(error.envelope, command).map(escaped).join("\n")}\n`
    this.io.stderr(json ? `${JSON.stringify(error.envelope)}\n` : wrapText(said(), this.io.errorColumns()))
  }

  /**
   * Shows what the call would do and asks; throws what refuses it, and for no. Of a ruling that is there already nothing is asked,
   * and nothing sent: answers what stands.
   */
  private async askFirst<A>(
    { globals, ask }: Service,
    request: (client: OperatorClient) => Effect.Effect<Success<A>, unknown>,
    view: Shown<A>,
    { confirm, deed, about }: CallOptions<A>
  ): Promise<Success<A> | null> {
    if (confirm === undefined) return null
    if (typeof confirm === "string" && !this.io.asks()) throw noTerminal
    const question = typeof confirm === "string" ? confirm : await ask(confirm)
    if (question === null) return null
    if (!this.io.asks()) throw noTerminal
    const head = deed === undefined || deed === false ? [] : [await ask(deed)]
    const rehearsed = deed === false ? null : await ask(request)
    const refusal = rehearsed !== null && speaksForItself(rehearsed.data) ? refusalOf(rehearsed.data) : null
    if (refusal !== null) throw refusal
    if (rehearsed !== null && about !== undefined && doesNothing(rehearsed))
      return { code: 0, data: rehearsed.data, changes: [] }
    const shown =
      rehearsed?.dryRun === undefined || speaksForItself(rehearsed.data)
        ? head
        : [
            ...head,
            ...head.map(() => text("")),
            await this.headed(
              { globals, ask },
              rehearsed.changes,
              rehearsed.data,
              deedView(rehearsed.data, rehearsed.dryRun, view, "It would write:")
            )
          ]
    const drawn = shown.length === 0 ? "" : await this.drawn(globals, stack(...shown), { globals, ask }, askedColumns)
    const answer = this.io.confirm(question, drawn)
    if (answer === null) throw noTerminal
    if (!answer) throw declined
    return null
  }

  /** A call that takes its time says so. `ask`: how far it is. */
  async whileWaiting<A>(globals: Globals, answer: Promise<A>, ask?: () => Promise<string | null>): Promise<A> {
    // That it takes its time is for whoever looks on; how far it is, for logs too.
    if (ask === undefined && this.io.progress === null) return answer
    const progress = this.progressOf(globals)
    const began = Date.now()
    let isAsking = false
    let isOver = false
    const timer = setInterval(() => {
      const waited = () => `${Math.round((Date.now() - began) / 1_000)} s`
      if (ask === undefined) return progress.tell(`Waiting for the service: ${waited()}`)
      if (isAsking) return
      isAsking = true
      // What can't be asked is not said: the call itself answers for how the service is.
      const unsaid = () => null
      void ask()
        .catch(unsaid)
        .then((line) => {
          isAsking = false
          if (line !== null && !isOver) progress.tell(`${line}, ${waited()}`)
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

  /** Where a command says how far it is. */
  progressOf({ json }: Globals): Progress {
    return new Progress(this.io, json === true)
  }
}

/** A call's service: what is asked beside it. */
interface Service {
  readonly globals: Globals
  readonly ask: <A>(use: (client: OperatorClient) => Effect.Effect<A, unknown>) => Promise<A>
}

/** Of the terminal that is asked on when stdout is another place. */
const askedColumns = 80
const progressMillis = 1_000

const isOfPartner = ({ object }: Change): boolean => /^(partner|reliance):/.test(object ?? "")

const doesNothing = ({ dryRun, changes }: Success<unknown>): boolean =>
  dryRun !== undefined && changes?.length === 0 && Object.keys(dryRun.rows).length === 0 && dryRun.events.length === 0

/** A dry run as shown: under four eyes what the grant would do, too. */
const deedView = <A>(data: A, would: Would, view: Shown<A>, head: string): View => {
  const { deed } = (typeof data === "object" && data !== null ? data : {}) as { readonly deed?: Deed }
  return deed === undefined
    ? dryRunView(view(data, true), would, head)
    : stack(view(data, true), text(""), grantView(deed, view as never))
}

/** What a dry run that answers with blockers would be refused with; null when nothing stands in the way. */
const refusalOf = (data: unknown): CliFailure | null => {
  const { blockers } = data as { readonly blockers?: ReadonlyArray<string> }
  if (blockers === undefined || blockers.length === 0) return null
  const sentence = "It would be refused: something stands in the way."
  return new CliFailure(exitStatus.refused, { code: 4092, msg: sentence, error: sentence, data: { blockers } })
}

/** The answer to the question was no. */
const declined = cliFailure(exitStatus.refused, 4092, "Nothing was done.")

const redrawMillis = 2_000

/** The screen from its upper left corner on: each line to its end, and what was below. */
const frame = (text: string): string => `\u001b[H${text.replaceAll("\n", "\u001b[K\n")}\u001b[K\n\u001b[J`

/** A service that refuses is told from a command line that fails; a no is neither. */
const markOf = (failure: CliFailure): string =>
  failure === declined ? "" : isRefusal(failure) ? "refused: " : "error: "

const namesFor = async (view: View, service: Service | null): Promise<Names> => {
  const { namesIn, noNames, readNames } = await import("./names.ts")
  const kinds = namesIn(view)
  return service === null || kinds.size === 0 ? noNames : service.ask((api) => readNames(api, kinds))
}

const noLine: RunLine = () => Promise.reject(new Error("this command line was made without a way to run another"))

const noTerminal = cliFailure(
  exitStatus.usage,
  4000,
  "This command needs a confirmation, and there is no terminal to ask on: give --yes. Nothing was done."
)
