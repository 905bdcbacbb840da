/** Parses command lines without running them, so that the commands of a scenario are checked before it plays. */
import { type Argument, type Command, CommanderError, type Option } from "commander"

/**
 * A check on the commands of a program whose actions it replaces, so the program can run nothing afterwards. The check returns
 * the fault of a line as a sentence, or null. A word with a `$variable` passes as the value of any option or argument.
 */
export const commandCheck = (program: Command): ((words: ReadonlyArray<string>) => string | null) => {
  let complaint = ""
  const prepare = (command: Command): void => {
    command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: (text) => void (complaint += text) })
    for (const part of [...command.options, ...command.registeredArguments]) passVariables(part)
    if (command.commands.length === 0) command.action(() => undefined)
    for (const child of command.commands) prepare(child)
  }
  prepare(program)
  return (words) => {
    complaint = ""
    try {
      program.parse(words, { from: "user" })
      return null
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error
      if (error.exitCode === 0) return null
      if (error.code === "commander.help") return `"${words.join(" ")}" is not a whole command`
      return complaint
        .replace(/^error: /, "")
        .trim()
        .replaceAll(/\s*\n\s*/g, " ")
    }
  }
}

/** Lets a value with a variable pass the parser of an option or argument, because the variable has no value yet. */
const passVariables = (part: Option | Argument): void => {
  const { parseArg } = part
  if (parseArg === undefined) return
  part.parseArg = <T>(value: string, previous: T): T =>
    value.includes("$") ? previous : (parseArg.call(part, value, previous) as T)
}
