/**
 * Checks that the needed tools of tests are installed (test/support/tools.ts). With --install it installs missing ones as root. It
 * fails with the names of those that are still missing.
 */
import { spawnSync } from "node:child_process"
import { missingNeeded } from "../test/support/tools.ts"
import { scriptCommand } from "./scriptCommand.ts"

const { install } = scriptCommand("test:tools", "Finds the programs that tests need.")
  .option("--install", "installs missing ones with apt-get, as root")
  .parse()
  .opts<{ readonly install?: true }>()

const before = missingNeeded()
if (install === true && before.names.length > 0 && process.getuid?.() === 0) {
  const apt = (...args: ReadonlyArray<string>) => spawnSync("apt-get", args, { stdio: "inherit" })
  apt("update")
  apt("install", "-y", "--no-install-recommends", ...before.packages)
}
const left = missingNeeded()
if (left.names.length > 0) {
  console.error(
    `Tests need ${left.names.join(", ")}, which this machine lacks. On Debian: apt-get install ${left.packages.join(" ")}.`
  )
  process.exit(1)
}
