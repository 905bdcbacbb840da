/**
 * Set-up of every test file: a test that prints what it does not expect (`expectLog`) fails, with what it printed. So the
 * output of a run that passes has no stack traces, and an error that nobody looks for is found by the test that meets it.
 */
import { format } from "node:util"
import { afterAll, afterEach, assert } from "vitest"
import { isExpected } from "./expectLog.ts"

const printed: Array<string> = []

/** What was printed since it was last asked for, and not expected; a line each. */
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

const assertSilence = (): void => {
  const text = takePrinted()
  if (text !== "") assert.fail(`printed, and nothing expects it (expectLog):\n${text}`)
}
// Registered before those of any file, so they run after them.
afterEach(assertSilence)
afterAll(assertSilence)
