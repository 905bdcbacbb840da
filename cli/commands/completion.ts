/**
 * `brokerage completion bash|zsh|fish`: prints a shell script generated from the command tree. It completes commands, options
 * and tokens without calls to the service (operator surface, rules for every command).
 */
import { Argument, type Command, type Option } from "commander"
import type { Cli } from "../Cli.ts"

const shells = ["bash", "zsh", "fish"] as const

export const addCompletionCommand = (program: Command, cli: Cli): void => {
  program
    .command("completion")
    .description("print a completion script for your shell: source it from the shell's own settings")
    .addArgument(new Argument("<shell>", "the shell").choices(shells))
    .action((shell: (typeof shells)[number]) => {
      const places = placesOf(program)
      cli.io.stdout(shell === "fish" ? fishScript(places) : bashScript(places, shell === "zsh"))
    })
}

/** A node of the command tree and its completions. */
interface Place {
  /** The preceding words, such as `partner create`; empty at the root. */
  readonly path: string
  readonly commands: ReadonlyArray<{ readonly name: string; readonly meaning: string }>
  readonly options: ReadonlyArray<Offered>
  /** The tokens that the arguments of the command may have. */
  readonly tokens: ReadonlyArray<string>
}

interface Offered {
  readonly long: string
  readonly meaning: string
  /** Completions of the option's value; null when the option has no value. */
  readonly value: ReadonlyArray<string> | "file" | "any" | null
}

const placesOf = (program: Command): ReadonlyArray<Place> => {
  const common = program.options.map(offered)
  const visit = (command: Command, path: ReadonlyArray<string>): ReadonlyArray<Place> => [
    {
      path: path.join(" "),
      commands: command.commands.map((child) => ({ name: child.name(), meaning: firstPart(child.description()) })),
      options: [...(command === program ? [] : shownOptions(command)), ...common],
      tokens: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? [])
    },
    ...command.commands.flatMap((child) => visit(child, [...path, child.name()]))
  ]
  return visit(program, [])
}

const shownOptions = ({ options }: Command): ReadonlyArray<Offered> =>
  options.filter(({ hidden }) => !hidden).map(offered)

const offered = ({ long, description, argChoices, required, optional, flags }: Option): Offered => ({
  long: long ?? "",
  meaning: firstPart(description),
  value: !required && !optional ? null : (argChoices ?? (/file|dir/i.test(flags) ? "file" : "any"))
})

/** The first part of a text, in one line and without characters that are special to a shell. */
const firstPart = (text: string): string =>
  (text.split(/[;:(]/)[0] ?? "")
    .replaceAll("'", "’")
    .replaceAll(/[^\p{L}\p{N}’ ,.-]/gu, "")
    .trim()

const valueWords = ({ value }: Offered): string =>
  value === "file" ? "<file>" : value === "any" ? "" : (value ?? []).join(" ")

const bashScript = (places: ReadonlyArray<Place>, zsh: boolean): string => {
  const paths = places.filter(({ path }) => path !== "").map(({ path }) => `"${path}"`)
  const values = places.flatMap(({ path, options }) =>
    options
      .filter(({ value }) => value !== null)
      .map((option) => `    "${path}:${option.long}") offer="${valueWords(option)}" ;;`)
  )
  const words = places.map(({ path, commands, options, tokens }) => {
    const all = [...commands.map(({ name }) => name), ...tokens]
    return `    "${path}") offer="${all.join(" ")}" options="${options.map(({ long }) => long).join(" ")}" ;;`
  })
  return `${zsh ? "#compdef brokerage\nautoload -U +X bashcompinit && bashcompinit\n" : ""}# Completion of brokerage. Made by: brokerage completion ${zsh ? "zsh" : "bash"}
_brokerage() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" at="" offer="" options="" next i
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="\${at:+$at }\${COMP_WORDS[i]}"
    case "$next" in
    ${paths.join(" | ")}) at="$next" ;;
    esac
  done
  case "$at:$prev" in
${values.join("\n")}
  *)
    case "$at" in
${words.join("\n")}
    esac
    # Options where one is begun, as elsewhere.
    [[ "$cur" == -* ]] && offer="$options"
    ;;
  esac
  if [[ "$offer" == "<file>" ]]; then
    COMPREPLY=($(compgen -f -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$offer" -- "$cur"))
  fi
}
complete -o default -F _brokerage brokerage
`
}

const fishScript = (places: ReadonlyArray<Place>): string => {
  const paths = places.filter(({ path }) => path !== "").map(({ path }) => `'${path}'`)
  const lines = places.flatMap(({ path, commands, options, tokens }) => {
    const at = `complete -c brokerage -n "__brokerage_at '${path}'"`
    return [
      ...commands.map(({ name, meaning }) => `${at} -f -a '${name}' -d '${meaning}'`),
      ...(tokens.length === 0 ? [] : [`${at} -f -a '${tokens.join(" ")}'`]),
      ...options.map((option) => {
        const { long, meaning, value } = option
        const takes = value === null ? "-f" : value === "file" ? "-r -F" : `-x -a '${valueWords(option)}'`
        return `${at} ${takes} -l ${long.slice(2)} -d '${meaning}'`
      })
    ]
  })
  return `# Completion of brokerage. Made by: brokerage completion fish
function __brokerage_at
    set -l path
    for word in (commandline -opc)[2..]
        if contains -- (string join -- ' ' $path $word) ${paths.join(" ")}
            set -a path $word
        end
    end
    set -l here (string join -- ' ' $path)
    test "$argv[1]" = "$here"
end
${lines.join("\n")}
`
}
