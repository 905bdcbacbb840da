/**
 * A yes or no question on the controlling terminal. It does not use stdin and stdout, so pipes do not bypass the confirmation
 * (operator surface, rules for every command).
 */
import { closeSync, openSync, readSync, writeSync } from "node:fs"
import type { CliIo } from "./CliIo.ts"
import { wrapText } from "./views/wrapWords.ts"

const [terminalInput, terminalOutput] =
  process.platform === "win32" ? ["\\\\.\\CONIN$", "\\\\.\\CONOUT$"] : ["/dev/tty", "/dev/tty"]

/** The width of the output that is this terminal. */
const columnsOfTerminal = (): number => process.stdout.columns || process.stderr.columns || 80

/** Whether this process has a terminal. */
export const asks: CliIo["asks"] = () => {
  const input = opened(terminalInput, "r")
  if (input !== null) closeSync(input)
  return input !== null
}

/** Waits for the answer; Ctrl-C ends the command as usual. Anything but y or yes counts as no, end of input included. */
export const confirm: CliIo["confirm"] = (question, deed) => {
  const input = opened(terminalInput, "r")
  const output = input === null ? null : opened(terminalOutput, "w")
  try {
    if (input === null || output === null) return null
    writeSync(output, `${deed === "" ? "" : `${deed}\n\n`}${wrapText(`${question} [y/N] `, columnsOfTerminal())}`)
    return /^y(es)?$/i.test(readLine(input).trim())
  } finally {
    for (const descriptor of [input, output]) if (descriptor !== null) closeSync(descriptor)
  }
}

/** Null for a process without a terminal: /dev/tty exists, but can't be opened. */
const opened = (path: string, mode: "r" | "w"): number | null => {
  try {
    return openSync(path, mode)
  } catch {
    return null
  }
}

const readLine = (input: number): string => {
  const chunk = Buffer.alloc(1_024)
  let text = ""
  while (!text.includes("\n")) {
    const read = readSync(input, chunk)
    if (read === 0) break
    text += chunk.toString("utf8", 0, read)
  }
  return text
}
