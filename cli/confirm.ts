/**
 * A yes-or-no question on the controlling terminal. It does not use stdin or stdout, so pipes can't bypass the confirmation
 * (operator surface, rules for every command).
 */
import { closeSync, openSync, readSync, writeSync } from "node:fs"
import type { CliIo } from "./CliIo.ts"
import { wrapText } from "./views/wrapWords.ts"

const [terminalInput, terminalOutput] =
  process.platform === "win32" ? ["\\\\.\\CONIN$", "\\\\.\\CONOUT$"] : ["/dev/tty", "/dev/tty"]

/** Columns of the terminal, from whichever output is connected to it; 80 when neither is. */
const columnsOfTerminal = (): number => process.stdout.columns || process.stderr.columns || 80

/** True when this process can open its controlling terminal. */
export const canPrompt: CliIo["canPrompt"] = () => {
  const input = opened(terminalInput, "r")
  if (input !== null) closeSync(input)
  return input !== null
}

/**
 * Waits for the answer; Ctrl-C ends the command as usual. Every answer except y or yes counts as no, and so does the end of
 * input.
 */
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

/** Opens the terminal. Null for a process without one: there /dev/tty exists but can't be opened. */
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
