/**
 * npm run simulate -- --seeds N --seed S: deterministic simulations of the whole system, N seeds from S on. For a seed that
 * breaks an invariant it prints the last steps and exits 1; the same seed repeats the same run. With --noticed it records which
 * seeds detect each deliberate fault, for `power.test.ts`.
 */
import { writeFileSync } from "node:fs"
import { whole } from "../cli/options.ts"
import { Coverage } from "../test/simulation/Coverage.ts"
import { mutations } from "../test/simulation/mutations.ts"
import { noticedByFile, noticing } from "../test/simulation/noticing.ts"
import { report } from "../test/simulation/report.ts"
import { simulate } from "../test/simulation/simulate.ts"
import { scriptCommand } from "./scriptCommand.ts"

interface Options {
  readonly seeds: number
  readonly seed: number
  readonly steps: number
  readonly noticed: boolean
}

const fromOne = whole(1, Number.MAX_SAFE_INTEGER)
const {
  seeds,
  seed: first,
  steps,
  noticed
} = scriptCommand("simulate", "Deterministic simulations of the whole system; the same seed gives the same run again.")
  .option("--seeds <n>", "how many seeds", fromOne, 500)
  .option("--seed <n>", "the first one", fromOne, 1)
  .option("--steps <n>", "last steps shown of a run that breaks an invariant", fromOne, 80)
  .option("--noticed", "keep which seeds tell of each deliberate fault", false)
  .parse()
  .opts<Options>()
/** Seeds between two progress lines. */
const stride = 500

/** The most frames of an error's stack that are printed for a single run. */
const keptFrames = 20

const searchSeeds = (): void => {
  let failures = 0
  const seen = new Coverage()
  for (let seed = first; seed < first + seeds; seed++) {
    const run = simulate(seed, {}, seeds === 1 ? keptFrames : 0)
    seen.add(run.coverage)
    if (run.finding !== null) {
      failures++
      console.log(`${report(run, steps)}\n`)
    } else if (seeds === 1) console.log(report(run), run.figures)
    const done = seed - first + 1
    if (done % stride === 0) console.log(`${done} seeds, ${failures} with a finding`)
  }
  console.log(
    failures === 0
      ? `${seeds} seeds from ${first} on: every invariant holds.`
      : `${failures} of ${seeds} seeds have a finding.`
  )
  console.log(`Margins: ${seen.margins}.`)
  process.exitCode = failures === 0 ? 0 : 1
}

const keepNoticed = (): void => {
  const kept = mutations.map((mutation) => {
    const known = [...noticing(mutation).runs.values()].map((run) => run.seed)
    console.log(`${mutation.name}: ${known.join(", ")}`)
    return [mutation.name, known] as const
  })
  writeFileSync(noticedByFile, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`)
}

if (noticed) keepNoticed()
else searchSeeds()
