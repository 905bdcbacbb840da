/** Shows long answers in a pager: $PAGER, or less, on a terminal (operator surface, rules for every command). */
import { spawn } from "node:child_process"
import type { CliIo } from "./CliIo.ts"

/**
 * Shows the text in the pager and resolves when the pager exits. False without a pager, and when paging is off (PAGER empty
 * or `cat`, a dumb terminal). `chop`: long lines are cut at the edge and can be scrolled, if the pager supports that.
 */
export const pageWith =
  (env: CliIo["env"]): CliIo["page"] =>
  (text, { chop }) => {
    const pager = env.PAGER ?? "less"
    if (pager.trim() === "" || pager.trim() === "cat" || env.TERM === "dumb") return Promise.resolve(false)
    const less = env.LESS ?? (chop ? "FRXS" : "FRX")
    return new Promise((resolve) => {
      // PAGER is a command line and not a file name, so a shell runs it.
      const child = spawn(pager, { shell: true, stdio: ["pipe", "inherit", "ignore"], env: { ...env, LESS: less } })
      // The pager handles Ctrl-C while it runs, so this process ignores it.
      const ignore = () => undefined
      process.on("SIGINT", ignore)
      const end = (shown: boolean) => {
        process.off("SIGINT", ignore)
        resolve(shown)
      }
      child.once("error", () => end(false))
      // Exit status 126 or 127 comes from the shell: it found no such program, so the text was not shown.
      child.once("close", (code) => end(code !== 126 && code !== 127))
      // A reader may quit before the end of the text. The write error that follows is no failure.
      child.stdin.on("error", () => undefined)
      child.stdin.end(text)
    })
  }
