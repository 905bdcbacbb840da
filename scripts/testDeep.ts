/**
 * npm run test:deep: the deep tier of tests, whole or by named sets: larger samples, every scenario, and one slice of the whole
 * matrix. Exits as vitest does.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import durations from "../test/support/durations.json" with { type: "json" }
import { filesOf, setsOf, testFiles } from "../test/support/tiers.ts"
import { scriptCommand } from "./scriptCommand.ts"

const root = join(import.meta.dirname, "..")
const sets = setsOf(Object.values(filesOf("deep", testFiles(root))).flat())

const command = scriptCommand(
  "test:deep",
  "Runs the deep tier of tests, including one slice of the whole matrix (SLICE=3/14)."
)
  .option(
    "--set <name>",
    `runs this set only; repeatable: ${[...sets.keys()].join(", ")}`,
    (name, names: Array<string>) => [...names, name],
    []
  )
  .option("--list", "prints the sets with their files and minutes")
  .argument("[files...]", "runs these test files only")
  .parse()
const options = command.opts<{ readonly set: ReadonlyArray<string>; readonly list?: true }>()

/** The recorded durations were measured on two cores with three workers. */
const workers = 3
const deep: Readonly<Record<string, number>> = durations.deep
if (options.list === true) {
  for (const [name, files] of sets) {
    const spent = files.map((file) => deep[file] ?? 0)
    const millis = Math.max(...spent, spent.reduce((sum, each) => sum + each, 0) / workers)
    const took = files.some((file) => file in deep) ? `about ${(millis / 60_000).toFixed(1)} minutes` : "not measured"
    console.log(`${name.padEnd(12)}${String(files.length).padStart(4)} files  ${took}`)
  }
} else {
  const chosen = options.set.flatMap((name) => {
    const files = sets.get(name)
    if (files === undefined) return command.error(`error: there is no set "${name}": ${[...sets.keys()].join(", ")}`)
    return files
  })
  const vitest = join(root, "node_modules/vitest/vitest.mjs")
  const { status } = spawnSync(process.execPath, [vitest, "run", "--mode", "deep", ...chosen, ...command.args], {
    cwd: root,
    stdio: "inherit"
  })
  process.exitCode = status ?? 1
}
