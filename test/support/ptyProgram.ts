/** A program in a terminal of its own with 80 columns and 24 rows (`script`), as a user types to it and reads it. */
import { spawn } from "node:child_process"
import { stripVTControlCharacters } from "node:util"
import { quoted } from "../../src/machines/shared/Text.ts"

export interface PtyProgram {
  /** The printed text, without control sequences. */
  readonly text: () => string
  /** The nth match in the printed text, once it is complete. Rejects with the text if the program ends before. */
  readonly shows: (pattern: RegExp, nth?: number) => Promise<string>
  readonly type: (text: string) => void
  /** The exit status. */
  readonly ended: Promise<number | null>
  /** Closes the terminal, and with it the program. */
  readonly close: () => Promise<number | null>
}

export const startPty = (
  words: ReadonlyArray<string>,
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {}
): PtyProgram => {
  const child = spawn(
    "script",
    ["-qec", `stty cols 80 rows 24; exec ${words.map(quoted).join(" ")}`, "/dev/null"],
    options
  )
  let printed = ""
  const text = () => stripVTControlCharacters(printed).replaceAll("\r", "")
  const checks = new Set<() => void>()
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    printed += chunk
    for (const check of checks) check()
  })
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
  return {
    text,
    shows: (pattern, nth = 1) =>
      new Promise((resolve, reject) => {
        const check = () => {
          const match = [...text().matchAll(new RegExp(pattern, "gm"))][nth - 1]
          if (match === undefined) return
          checks.delete(check)
          resolve(match[0])
        }
        checks.add(check)
        void ended.then(() => reject(new Error(`ended without ${pattern}: ${text()}`)))
        check()
      }),
    type: (typed) => void child.stdin.write(typed),
    ended,
    close: () => {
      child.kill("SIGTERM")
      return ended
    }
  }
}
