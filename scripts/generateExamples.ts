/**
 * Plays the scenarios of scripts/examples on a service of its own and writes what was asked, answered and told as the examples of
 * the reference. Figures and times are another run's each time, so the examples that are there stay as long as their shapes are
 * those of the run; with --check it writes nothing and fails when they are not (style C.7: generate, verify).
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { recorded, recordedFile } from "../src/http/examples/recorded.ts"
import { differentShape, distil } from "./examples/distil.ts"

const scenarios = join(import.meta.dirname, "examples")
const main = join(import.meta.dirname, "../cli/main.ts")

/** What the scenarios heard, as JSON lines. Throws when one fails: it says why by itself. */
const play = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "brokerage-examples-"))
  try {
    const record = join(folder, "heard.jsonl")
    const files = readdirSync(scenarios)
      .filter((name) => name.endsWith(".yaml"))
      .map((name) => join(scenarios, name))
    const words = ["sim", "run", ...files, "--own", "--seed", "1", "--record", record]
    const { status } = spawnSync(process.execPath, [main, ...words], { stdio: "inherit" })
    if (status !== 0) throw new Error(`sim run ended with ${status}`)
    return readFileSync(record, "utf8")
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const fresh = distil(play())
const difference = existsSync(recordedFile) ? differentShape(recorded(), fresh) : "/"
if (difference === null) console.log("The examples are as a run says.")
else if (process.argv.includes("--check")) {
  console.error(`src/http/examples/recorded.json is not what a run says (${difference}): run npm run examples`)
  process.exitCode = 1
} else {
  writeFileSync(recordedFile, `${JSON.stringify(fresh, null, 2)}\n`)
  console.log(`The examples are written anew: ${difference}`)
}
