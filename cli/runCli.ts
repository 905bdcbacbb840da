/** One run of the command line: arguments in, exit status out (operator surface: 0, 1, 2, 3). */
import { type Command, CommanderError } from "commander"
import { readFileSync } from "node:fs"
import { Cli, type RunLine } from "./Cli.ts"
import { cliFailure, exitStatus } from "./CliIo.ts"
import { buildProgram } from "./program.ts"

/** Never throws for anything a user can do; a thrown error is a defect of ours. */
export const runCli: RunLine = async (args, io, callService) => {
  // Alone only, as in the launcher: `screening import` has an option of this name.
  if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
    io.stdout(`${packageVersion()}\n`)
    return exitStatus.done
  }
  const cli = new Cli(io, runCli, callService)
  const program = buildProgram(cli)
  // What commander has to say about wrong usage: printed as it is, or inside one envelope with --json.
  const complaints: Array<string> = []
  eachCommand(program, (command) =>
    command.exitOverride().configureOutput({
      writeOut: io.stdout,
      writeErr: (text) => void complaints.push(text)
    })
  )
  const json = args.includes("--json")
  try {
    await program.parseAsync(args, { from: "user" })
    return cli.status
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return exitStatus.done
    const said = complaints.join("")
    if (json) cli.fail(true, cliFailure(exitStatus.usage, 4000, sentenceOf(said, error)))
    else io.stderr(said)
    return exitStatus.usage
  }
}

const packageVersion = (): string => {
  const described = readFileSync(new URL("../package.json", import.meta.url), "utf8")
  return (JSON.parse(described) as { readonly version: string }).version
}

const sentenceOf = (said: string, error: CommanderError): string =>
  error.code === "commander.help"
    ? "A command is needed."
    : said
        .replace(/^error: /, "")
        .split("\n")[0]
        ?.trim() || error.message

const eachCommand = (command: Command, visit: (command: Command) => void): void => {
  visit(command)
  for (const child of command.commands) eachCommand(child, visit)
}
