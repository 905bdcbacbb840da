/**
 * A yes or no question on the terminal that the command was started from (operator surface, rules for every command).
 * Not on stdin and stdout: a pipe behind or before the command takes no confirmation away.
 */
import { closeSync, openSync, readSync, writeSync } from "node:fs"
import type { CliIo } from "./CliIo.ts"
import { wrapText } from "./views/wrapWords.ts"

const [terminalInput, terminalOutput] =
  process.platform === "win32" ? ["\\\\.\\CONIN$", "\\\\.\\CONOUT$"] : ["/dev/tty", "/dev/tty"]

/** Whichever of the outputs is that terminal says how wide it is. */
const columnsOfTerminal = (): number => process.stdout.columns || process.stderr.columns || 80

/** Whether this process has a terminal. */
export const asks: CliIo["asks"] = () => {
  const input = opened(terminalInput, "r")
  if (input !== null) closeSync(input)
  return input !== null
}

/** Waits for the answer; Ctrl-C ends the command as ever. Anything but y or yes is no, the end of the input, too. */
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

/** Null for a process without a terminal: /dev/tty is there, but not for it. */
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
