/**
 * `brokerage machine …`: the state machines the service runs. `list` and `show` read them from this program, without a
 * service; `list --counts` and `inspect` ask the running one (operator surface, Developers and QA).
 */
import { type Command, Option } from "commander"
import { writeFileSync } from "node:fs"
import type { Cli } from "../Cli.ts"
import { cliFailure, exitStatus } from "../CliIo.ts"
import { beforeOption, given, limitOption } from "../options.ts"
import { type Cell, fields, stack, table, text, time, type View } from "../views/View.ts"
import { changeOf, type Entry } from "./audit.ts"

type MachineFormat = "text" | "mermaid" | "svg" | "json"

export const addMachineCommands = (program: Command, cli: Cli): void => {
  const machine = program.command("machine").description("the state machines that the service really runs")
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
    .argument("<ID>", "object id; a block is CLIENT:CODE, an endpoint its partner's id or code")
    .addOption(limitOption(1_000))
    .addOption(beforeOption)
    .action((kind: string, id: string, { limit, before }: PageOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.machine.inspect({ params: { kind, id }, query: given({ limit, before }) }),
        instanceView
      )
    )
}

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
  readonly nextBefore: number | null
}

/** The object as it stands, then its time line, read downwards. */
export const instanceView = ({ kind, id, subject, state, version, ...rest }: Instance): View =>
  stack(
    fields({ kind, id, subject, state, version }),
    text(""),
    fields(rest.context as object),
    text(""),
    table(rest.timers, { timer: (row) => row.name, due: (row) => time(row.dueAt) }, "no pending timers"),
    ...(rest.calls.length === 0 ? [] : [text(""), table(rest.calls, callLine, "no calls")]),
    text(""),
    table(rest.history, timeLine, "no transitions yet"),
    ...(rest.nextBefore === null ? [] : [text(`older ones with --before ${rest.nextBefore}`)])
  )

type OpenCall = Instance["calls"][number]

/** A call that the venue has not answered: since when, how often it was asked for it, and what it has said. */
const callLine: Readonly<Record<string, (row: OpenCall) => Cell>> = {
  call: (row) => row.call,
  ref: (row) => row.ref,
  "in flight since": (row) => time(row.at),
  asked: (row) => row.asked,
  found: (row) => row.found
}

/** When, from where to where, what, by whom, on which request; rows of another object say which. */
const timeLine: Readonly<Record<string, (row: Entry) => Cell>> = {
  id: (row) => row.auditId,
  time: (row) => time(row.ts),
  transition: changeOf,
  action: (row) => row.action,
  object: (row) => row.object,
  by: (row) => `${row.role}/${row.keyLabel}`,
  request: (row) => row.requestId,
  reason: (row) => row.reason
}

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
          clause: (row) => row.clause
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

/** With --json the document is data of the machine; a chosen picture format travels inside it as text. */
const showMachine = (
  cli: Cli,
  name: string,
  options: { readonly format?: MachineFormat; readonly output?: string },
  command: Command
): Promise<void> =>
  cli.attempt(command, async (globals) => {
    const { isKind, kinds } = await import("../../src/machines/registry.ts")
    if (!isKind(name)) {
      throw cliFailure(exitStatus.usage, 4000, `There is no such machine. Known are: ${kinds.join(", ")}.`)
    }
    const { machineDiagram, machineDocument } = await import("../machineDiagram.ts")
    const json = globals.json === true
    const format = options.format ?? (json ? "json" : "text")
    const drawn = await machineDiagram(name, format)
    if (options.output !== undefined) {
      write(options.output, drawn)
      return cli.show(globals, { name, format, output: options.output }, fields)
    }
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
