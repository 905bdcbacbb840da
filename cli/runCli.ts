/** One run of the command line: arguments in, exit status out (operator surface: 0, 1, 2, 3). */
import { type Command, CommanderError } from "commander"
import { readFileSync } from "node:fs"
import { Cli, type RunLine } from "./Cli.ts"
import { CliFailure, cliFailure, exitStatus } from "./CliIo.ts"
import { answerMoments } from "./moment.ts"
import { buildProgram } from "./program.ts"
import { wrapText } from "./views/wrapWords.ts"

/** Columns of the help text when stdout is no terminal. */
const pipedColumns = 80

/** Runs one command line. Never throws for wrong usage; a thrown error is a defect. */
export const runCli: RunLine = async (args, io, callService) => {
  // `--version` counts only as the single argument, as in the launcher: `screening import` has an option with this name.
  if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
    io.stdout(`${packageVersion()}\n`)
    return exitStatus.done
  }
  const cli = new Cli(io, runCli, callService)
  const program = await buildProgram(cli, args)
  // Commander's messages on wrong usage. They are printed unchanged, or inside one envelope with --json.
  const complaints: Array<string> = []
  const helpColumns = () => io.size()?.columns ?? pipedColumns
  eachCommand(program, (command) =>
    command.exitOverride().configureOutput({
      // Commander does not wrap the text below the options, so it is wrapped here.
      writeOut: (text) => io.stdout(wrapText(text, helpColumns())),
      getOutHelpWidth: helpColumns,
      getErrHelpWidth: () => io.errorColumns() ?? pipedColumns,
      writeErr: (text) => void complaints.push(text)
    })
  )
  program.hook("preAction", (_, command) => answerMoments(cli, command))
  const json = args.includes("--json")
  try {
    await program.parseAsync(args, { from: "user" })
    return cli.status
  } catch (error) {
    if (error instanceof CliFailure) {
      cli.fail(json, error)
      return cli.status
    }
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return exitStatus.done
    const complaint = complaints.join("")
    if (json) cli.fail(true, cliFailure(exitStatus.usage, 4000, sentenceOf(complaint, error)))
    else io.stderr(wrapText(complaint, io.errorColumns()))
    return exitStatus.usage
  }
}

const packageVersion = (): string => {
  const described = readFileSync(new URL("../package.json", import.meta.url), "utf8")
  return (JSON.parse(described) as { readonly version: string }).version
}

const sentenceOf = (complaint: string, error: CommanderError): string =>
  error.code === "commander.help"
    ? "A command is needed."
    : complaint
        .replace(/^error: /, "")
        .split("\n")[0]
        ?.trim() || error.message

const eachCommand = (command: Command, visit: (command: Command) => void): void => {
  visit(command)
  for (const child of command.commands) eachCommand(child, visit)
}
