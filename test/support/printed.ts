/**
 * Collects all output of a test that it does not expect (`expectLog`). Worker processes run many test files, so this
 * module replaces the streams once per process; the set-up of each file (silence.ts) runs for every file.
 */
import { format } from "node:util"
import { isExpected } from "./expectLog.ts"

const printed: Array<string> = []

/** Removes and returns the unexpected output so far, joined by line breaks. */
export const takePrinted = (): string => printed.splice(0).join("\n")

const note = (text: string): void => {
  if (text.trim() !== "" && !isExpected(text)) printed.push(text)
}

for (const method of ["debug", "error", "info", "log", "trace", "warn"] as const)
  console[method] = (...parts: ReadonlyArray<unknown>) => note(format(...parts))

for (const stream of [process.stdout, process.stderr])
  stream.write = (chunk: string | Uint8Array, ...rest: ReadonlyArray<unknown>): boolean => {
    note(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString())
    const done = rest.at(-1)
    if (typeof done === "function") queueMicrotask(() => void done())
    return true
  }
