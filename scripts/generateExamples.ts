/**
 * Plays the scenarios of scripts/examples on a service of its own and records requests, answers and deliveries as the examples
 * of the reference. Figures and times differ in each run, so existing examples stay as long as their shapes match. With --check
 * it writes nothing and fails if they do not.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { recorded, recordedFile } from "../src/http/examples/recorded.ts"
import { differentShape, distil } from "./examples/distil.ts"

const scenarios = join(import.meta.dirname, "examples")
const main = join(import.meta.dirname, "../cli/main.ts")

/** The recordings of the scenarios as JSON lines. Throws if one fails, which prints its own reason. */
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
if (difference === null) console.log("The examples are current.")
else if (process.argv.includes("--check")) {
  console.error(`src/http/examples/recorded.json differs from a run (${difference}): run npm run examples`)
  process.exitCode = 1
} else {
  writeFileSync(recordedFile, `${JSON.stringify(fresh, null, 2)}\n`)
  console.log(`The examples are updated: ${difference}`)
}
