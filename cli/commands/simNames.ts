/**
 * `brokerage sim names`: the sandbox's special last names, and the way to each state of each machine. It comes from this
 * program, without a service (operator surface, Developers and QA).
 */
import type { Command } from "commander"
import type { Cli } from "../Cli.ts"
import { cliFailure, exitStatus } from "../CliIo.ts"
import { stack, table, text } from "../views/View.ts"

export const addSimNamesCommand = (sim: Command, cli: Cli): void => {
  sim
    .command("names")
    .description("names and values that lead to every state in a sandbox")
    .option("--machine <NAME>", "only the states of this machine")
    .action(({ machine }: { readonly machine?: string }, command: Command) => showNames(cli, machine, command))
}

/** Shows names and states. The names apply to all machines; `--machine` limits the states to those of one. */
const showNames = (cli: Cli, machine: string | undefined, command: Command): Promise<void> =>
  cli.attempt(command, async (globals) => {
    const { isKind, kinds } = await import("../../src/machines/registry.ts")
    if (machine !== undefined && !isKind(machine)) {
      throw cliFailure(
        exitStatus.usage,
        4000,
        `There is no machine of this name. The machines are: ${kinds.join(", ")}.`
      )
    }
    const { sandboxNames } = await import("../../src/machines/sandbox/sandboxNames.ts")
    const { sandboxOutcomes } = await import("../../src/machines/sandbox/sandboxOutcomes.ts")
    const states = sandboxOutcomes.filter((row) => machine === undefined || row.machine === machine)
    const names = machine === undefined ? sandboxNames.map(({ lastName, shows }) => ({ lastName, shows })) : []
    await cli.show(globals, { names, states }, (data) => {
      const stateTable = table(
        data.states,
        {
          machine: (row) => row.machine,
          state: (row) => (row.final ? `${row.state} (final)` : row.state),
          by: (row) => row.by,
          how: (row) => row.how
        },
        "no states"
      )
      const nameTable = table(
        data.names,
        { "last name": (row) => row.lastName, effect: (row) => row.shows },
        "no names"
      )
      return data.names.length === 0 ? stateTable : stack(nameTable, text(""), stateTable)
    })
  })
