/**
 * A refusal as text for a terminal: its sentence with the reason of docs/errors.md, the invalid fields, and the blockers
 * (operator surface, exit status).
 */
import type { Command } from "commander"
import { checkFields } from "../src/machines/shared/Refusal.ts"
import type { Envelope } from "./CliIo.ts"

/** The lines of a refusal. `command` gives the option names of the fields. */
export const refusalLines = ({ msg, data }: Envelope, command: Command | null = null): ReadonlyArray<string> => {
  const { errors, blockers, reason } = (data ?? {}) as Readonly<Record<string, unknown>>
  const faults = Object.entries((errors ?? {}) as Readonly<Record<string, string>>)
  const wrong = faults.map(([path, sentence]) => `${fieldName(path, command)}: ${sentence}`)
  const token = typeof reason === "string" ? ` (${reason})` : ""
  const inTheWay = Array.isArray(blockers) ? blockers.map((each) => `  ${String(each)}`) : []
  // With a single fault, its sentence replaces the general one.
  if (wrong.length === 1 && (msg === checkFields || msg === faults[0]?.[1]))
    return [`${wrong[0] ?? ""}${token}`, ...inTheWay]
  const head = msg === checkFields && wrong.length > 0 ? `${wrong.length} fields are wrong.` : msg
  // Further sentences of the message follow on lines of their own, indented so that none resembles a separate error.
  const [first = "", ...further] = `${head}${token}`.split("\n")
  return [first, ...further.map((line) => `  ${line}`), ...wrong.map((line) => `  ${line}`), ...inTheWay]
}

const fieldName = (path: string, command: Command | null): string =>
  command?.options.find((option) => option.attributeName() === path)?.long ?? path
