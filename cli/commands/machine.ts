/**
 * `brokerage machine …`: the state machines the service runs. `list` and `show` read them from this program, without a
 * service; `inspect` asks the running one (operator surface, Developers and QA).
 */
import { type Command, Option } from "commander"
import { writeFileSync } from "node:fs"
import type { Cli } from "../Cli.ts"
import { cliFailure, exitStatus } from "../CliIo.ts"
import { fields, stack, table, text, time } from "../views/View.ts"
import { entriesView } from "./audit.ts"

type MachineFormat = "text" | "mermaid" | "svg" | "json"

export const addMachineCommands = (program: Command, cli: Cli): void => {
  const machine = program.command("machine").description("the state machines that the service really runs")
  machine
    .command("list")
    .description("all machines")
    .action((_: object, command: Command) =>
      cli.attempt(command, async (globals) => {
        const { kinds, machines } = await import("../../src/machines/registry.ts")
        const list = kinds.map((name) => {
          const { title, meaning, clause, machine } = machines[name]
          return {
            name,
            title,
            meaning,
            clause,
            version: machine.version ?? "1",
            states: Object.keys(machine.root.states)
          }
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
    .argument("<ID>", "object id; a block is CLIENT:CODE")
    .action((kind: string, id: string, _: object, command: Command) =>
      cli.call(
        command,
        (api) => api.machine.inspect({ params: { kind, id } }),
        ({ timers, history, context, ...rest }) =>
          stack(
            fields(rest),
            text(""),
            fields(context as object),
            text(""),
            table(timers, { timer: (row) => row.name, due: (row) => time(row.dueAt) }, "no pending timers"),
            text(""),
            entriesView(history)
          )
      )
    )
}

/** With --json the document is data about the machine; a chosen picture format travels inside it as text. */
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
    const drawn = machineDiagram(name, format)
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
