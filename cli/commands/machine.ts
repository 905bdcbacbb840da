/**
 * `brokerage machine …`: the state machines of the service. `list` and `show` use this program's own copy and need no
 * service; `list --counts` and `inspect` call the service (operator surface, Developers and QA).
 */
import { Argument, type Command, Option } from "commander"
import { writeFileSync } from "node:fs"
import type { PathStep } from "../../src/http/api/operator/MachineGroup.ts"
import type { Cli } from "../Cli.ts"
import { cliFailure, CliFailure, exitStatus } from "../CliIo.ts"
import { setTimeout as pause } from "node:timers/promises"
import { findConnection } from "../connection.ts"
import { beforeOption, given, instanceName, limitOption } from "../options.ts"
import { withoutPart } from "../views/clause.ts"
import { shortPrints, withShortPrints } from "../views/shortPrints.ts"
import {
  type Cell,
  fields,
  joined,
  partnerNamed,
  stack,
  table,
  text,
  time,
  type View,
  type RichText
} from "../views/View.ts"
import type { Entry } from "./audit.ts"

type MachineFormat = "text" | "mermaid" | "svg" | "json"

export const addMachineCommands = (program: Command, cli: Cli): void => {
  const machine = program.command("machine").description("the state machines that the service runs")
  machine
    .command("list")
    .description("all machines")
    .option("--counts", "how many objects the service has in each state")
    .action(({ counts }: { readonly counts?: boolean }, command: Command) =>
      counts === true ? countMachines(cli, command) : listMachines(cli, command)
    )
  machine
    .command("show")
    .description("one machine as a table, a diagram or data")
    .argument("<NAME>", "machine name")
    .addOption(new Option("--format <format>", "output format").choices(["text", "mermaid", "svg", "json"]))
    .option("--output <file>", "write to a file")
    .action((name: string, options: { readonly format?: MachineFormat; readonly output?: string }, command: Command) =>
      showMachine(cli, name, options, command)
    )
  machine
    .command("inspect")
    .description("one live object: state, context, pending timers, history")
    .argument("<KIND>", "machine name")
    .addArgument(
      new Argument("<ID>", "object id; a block is CLIENT:CODE, an endpoint its partner's id or code").argParser(
        instanceName
      )
    )
    .addOption(limitOption(1_000))
    .addOption(beforeOption)
    .option("--follow", "then keep printing new steps, one a line")
    .action((kind: string, id: string, options: InspectOptions, command: Command) =>
      options.follow === true ? followObject(cli, kind, id, command) : inspectObject(cli, kind, id, options, command)
    )
  machine
    .command("instances")
    .description("the objects in a state, oldest first, with the time of their entry")
    .argument("<KIND>", "machine name")
    .argument("<STATE>", "state name")
    .addOption(limitOption(1_000))
    .addOption(new Option("--after <ID>", "only those after this id").argParser(instanceName))
    .action((kind: string, state: string, { limit, after }: InstancesOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.machine.instances({ params: { kind, state }, query: given({ limit, after }) }),
        instancesView
      )
    )
}

interface InspectOptions extends PageOptions {
  readonly follow?: boolean
}

interface InstancesOptions {
  readonly limit?: number
  readonly after?: string
}

const inspectObject = (cli: Cli, kind: string, id: string, { limit, before }: PageOptions, command: Command) =>
  cli.call(
    command,
    (api) => api.machine.inspect({ params: { kind, id }, query: given({ limit, before }) }),
    instanceView
  )

/** Poll interval of `--follow`, and the longest pause while the service is unreachable; both ms. */
const pollMillis = 1_000
const longestPauseMillis = 15_000

/**
 * Prints past steps and each new one, until a signal or the object's final state. An unreachable service is reported once,
 * and the output continues when it is back.
 */
const followObject = (cli: Cli, kind: string, id: string, command: Command): Promise<void> =>
  cli.attempt(command, async (globals) => {
    const { callService } = await import("../OperatorClient.ts")
    const ended = cli.io.stopped().then(() => true)
    let shown: ReadonlySet<string> = new Set()
    let failures = 0
    do {
      try {
        // The connection is found again for each poll, because a restarted service may listen at another address.
        const connection = findConnection(globals, cli.io)
        const { data } = await callService(connection, (api) =>
          api.machine.inspect({ params: { kind, id }, query: {} })
        )
        if (failures > 0) cli.io.stderr("The service answers again.\n")
        failures = 0
        for (const step of data.path.filter((each) => !shown.has(markOf(each))))
          cli.io.stdout(`${globals.json === true ? JSON.stringify(step) : cli.line(globals, lineOf(step))}\n`)
        shown = new Set(data.path.map(markOf))
        if (data.next.length === 0) return cli.io.stderr(`It is ${data.state}: nothing can happen to it any more.\n`)
      } catch (error) {
        if (!(error instanceof CliFailure) || error.status !== exitStatus.unreachable) throw error
        if (failures++ === 0) cli.io.stderr("The service can not be reached; the command retries.\n")
      }
    } while (!(await Promise.race([ended, pause(pauseAfter(failures), false)])))
  })

const pauseAfter = (failures: number): number =>
  failures === 0 ? pollMillis : Math.min(longestPauseMillis, pollMillis * 2 ** Math.min(failures, 4))

/** The identity of a step across polls. The source state is no part of it, because a later poll may fill it in. */
const markOf = ({ at, event, actions, requestId, reason }: Step): string =>
  JSON.stringify([at, event, actions, requestId, reason])

interface PageOptions {
  readonly limit?: number
  readonly before?: number
}

interface Instance {
  readonly kind: string
  readonly id: string
  readonly subject: string
  readonly state: string
  readonly version: string
  readonly context: unknown
  readonly timers: ReadonlyArray<{ readonly name: string; readonly dueAt: number }>
  readonly calls: ReadonlyArray<{
    readonly ref: string
    readonly call: string
    readonly at: number
    readonly asked: number
    readonly found: string
  }>
  readonly history: ReadonlyArray<Entry>
  readonly path: ReadonlyArray<Step>
  readonly next: ReadonlyArray<Move>
  readonly nextBefore: number | null
}

/** The object's current state, then its history, oldest first. */
export const instanceView = ({ kind, id, subject, state, version, ...rest }: Instance): View =>
  stack(
    fields({ kind, id, subject, state, version }),
    text(""),
    fields(withShortPrints(rest.context) as object),
    text(""),
    table(rest.timers, { timer: (row) => row.name, due: (row) => time(row.dueAt) }, "no pending timers"),
    ...(rest.calls.length === 0 ? [] : [text(""), table(rest.calls, callLine, "no calls")]),
    text(""),
    table(rest.path, wayLine, "no transitions yet"),
    text(""),
    table(movesOf(rest.next), moveLine, "nothing can happen next: this state is final"),
    ...(rest.nextBefore === null ? [] : [text(`older ones with --before ${rest.nextBefore}`)])
  )

type OpenCall = Instance["calls"][number]

/** The columns of an in-doubt call: its start, the number of status queries, and the last result. */
const callLine: Readonly<Record<string, (row: OpenCall) => Cell>> = {
  call: (row) => row.call,
  ref: (row) => row.ref,
  "in flight since": (row) => time(row.at),
  queries: (row) => row.asked,
  found: (row) => row.found
}

type Step = typeof PathStep.Type

interface Move {
  readonly event: string
  readonly guard: string
  readonly to: string
  readonly movers: ReadonlyArray<{ readonly by: string; readonly does: string; readonly roles: ReadonlyArray<string> }>
}

const wayOf = ({ from, to }: Step): string => [from, to].filter((state) => state !== null).join(" -> ")
const eventOf = ({ event, guard, actions }: Step): string =>
  `${event ?? actions.join(", ")}${guard === "" ? "" : ` [${guard}]`}`

/** Columns of a step: time, states, event, actor and request. */
const wayLine: Parameters<typeof table<Step>>[1] = {
  time: (row) => time(row.at),
  transition: wayOf,
  event: eventOf,
  action: { cell: (row) => row.actions.join(", "), rank: 8 },
  by: { cell: (row) => row.by, rank: 6 },
  request: { cell: (row) => row.requestId, rank: 9 },
  reason: { cell: (row) => reasonOf(row), rank: 4 }
}

const reasonOf = ({ reason }: Step): string | null => (reason === null ? null : shortPrints(reason))

const lineOf = (step: Step): RichText =>
  joined([time(step.at), wayOf(step), eventOf(step), step.by, step.requestId, reasonOf(step)], "  ")

/** One row for each event and target state. The guards that lead there are named in the same row. */
const movesOf = (moves: ReadonlyArray<Move>): ReadonlyArray<Move> => {
  const seen = new Map<string, Move>()
  for (const move of moves) {
    const key = `${move.event} ${move.to}`
    const guards = [seen.get(key)?.guard ?? "", move.guard].filter((guard) => guard !== "")
    seen.set(key, { ...move, guard: guards.join(" or ") })
  }
  return [...seen.values()]
}

const moverOf = ({ by, does, roles }: Move["movers"][number]): string =>
  by === "operator" ? `${does} (${roles.join(", ")})` : `${by}: ${does}`

const moveLine: Readonly<Record<string, (row: Move) => Cell>> = {
  next: (row) => row.event,
  to: (row) => row.to,
  guard: (row) => row.guard,
  "triggered by": (row) => row.movers.map(moverOf).join("; ")
}

interface InstancePage {
  readonly kind: string
  readonly state: string
  readonly instances: ReadonlyArray<{
    readonly id: string
    readonly since: number | null
    readonly partnerId: number | null
    readonly clientId: number | null
  }>
  readonly nextAfter: string | null
}

const instancesView = ({ kind, state, instances, nextAfter }: InstancePage): View =>
  stack(
    table(
      instances,
      {
        id: (row) => row.id,
        since: (row) => time(row.since),
        partner: (row) => partnerNamed(row.partnerId),
        client: (row) => row.clientId
      },
      `no ${kind} is ${state}`
    ),
    ...(nextAfter === null ? [] : [text(`More with --after ${nextAfter}.`)])
  )

const listMachines = (cli: Cli, command: Command): Promise<void> =>
  cli.attempt(command, async (globals) => {
    const { kinds, machines } = await import("../../src/machines/registry.ts")
    const list = kinds.map((name) => {
      const { title, meaning, clause, machine } = machines[name]
      return { name, title, meaning, clause, version: machine.version ?? "1", states: Object.keys(machine.root.states) }
    })
    await cli.show(globals, { machines: list }, (data) =>
      table(
        data.machines,
        {
          name: (row) => row.name,
          version: (row) => row.version,
          states: (row) => row.states.join(" "),
          clause: (row) => withoutPart(row.clause)
        },
        "no machines"
      )
    )
  })

const countMachines = (cli: Cli, command: Command): Promise<void> =>
  cli.call(
    command,
    (api) => api.machine.list({}),
    ({ machines }) =>
      table(
        machines,
        {
          name: (row) => row.name,
          objects: (row) => Object.values(row.states).reduce((sum, count) => sum + count, 0),
          states: (row) =>
            Object.entries(row.states)
              .map(([state, count]) => `${state} ${count}`)
              .join("  ")
        },
        "no machines"
      )
  )

/**
 * Shows the machine. With --json the document has the machine's data, and the picture in the chosen format as one text
 * member.
 */
const showMachine = (
  cli: Cli,
  name: string,
  options: { readonly format?: MachineFormat; readonly output?: string },
  command: Command
): Promise<void> =>
  cli.attempt(command, async (globals) => {
    const { isKind, kinds } = await import("../../src/machines/registry.ts")
    if (!isKind(name)) {
      throw cliFailure(
        exitStatus.usage,
        4000,
        `There is no machine of this name. The machines are: ${kinds.join(", ")}.`
      )
    }
    const { machineDiagram, machineDocument, machineView } = await import("../machineDiagram.ts")
    const json = globals.json === true
    const format = options.format ?? (json ? "json" : "text")
    const drawn = await machineDiagram(name, format)
    if (options.output !== undefined) {
      write(options.output, drawn)
      return cli.show(globals, { name, format, output: options.output }, fields)
    }
    if (!json && format === "text") return cli.show(globals, machineDocument(name), machineView)
    if (!json) return cli.io.stdout(drawn)
    cli.io.stdout(`${JSON.stringify(format === "json" ? machineDocument(name) : { name, format, text: drawn })}\n`)
  })

const write = (file: string, text: string): void => {
  try {
    writeFileSync(file, text)
  } catch {
    throw cliFailure(exitStatus.usage, 4000, "The file of --output can not be written.")
  }
}
