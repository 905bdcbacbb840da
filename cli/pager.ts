/** Long answers page by page: $PAGER, or less, on a terminal (operator surface, rules for every command). */
import { spawn } from "node:child_process"
import type { CliIo } from "./CliIo.ts"

/**
 * Resolves when the reader has left it; false: there is none, or nobody wants one (PAGER empty or `cat`, a terminal that is
 * dumb). `chop`: lines are cut at the edge and scrolled, where the pager can.
 */
export const pageWith =
  (env: CliIo["env"]): CliIo["page"] =>
  (text, { chop }) => {
    const pager = env.PAGER ?? "less"
    if (pager.trim() === "" || pager.trim() === "cat" || env.TERM === "dumb") return Promise.resolve(false)
    const less = env.LESS ?? (chop ? "FRXS" : "FRX")
    return new Promise((resolve) => {
      // A shell, because PAGER is a command line.
      const child = spawn(pager, { shell: true, stdio: ["pipe", "inherit", "ignore"], env: { ...env, LESS: less } })
      // Ctrl-C is the pager's while it shows.
      const ignore = () => undefined
      process.on("SIGINT", ignore)
      const end = (shown: boolean) => {
        process.off("SIGINT", ignore)
        resolve(shown)
      }
      child.once("error", () => end(false))
      // 126 and 127: the shell has found no such program.
      child.once("close", (code) => end(code !== 126 && code !== 127))
      // Whoever leaves before the end has seen enough.
      child.stdin.on("error", () => undefined)
      child.stdin.end(text)
    })
  }
