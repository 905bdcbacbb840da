/**
 * npm run simulate -- --seeds N --seed S: deterministic simulations of the whole system, N seeds from S on. A seed that
 * breaks an invariant is printed with its last steps, and the exit status is 1; the same seed gives the same run again.
 */
import { whole } from "../cli/options.ts"
import { Coverage } from "../test/simulation/Coverage.ts"
import { report } from "../test/simulation/report.ts"
import { simulate } from "../test/simulation/simulate.ts"
import { scriptCommand } from "./scriptCommand.ts"

interface Options {
  readonly seeds: number
  readonly seed: number
  readonly steps: number
}

const fromOne = whole(1, Number.MAX_SAFE_INTEGER)
const {
  seeds,
  seed: first,
  steps
} = scriptCommand("simulate", "Deterministic simulations of the whole system; the same seed gives the same run again.")
  .option("--seeds <n>", "how many seeds", fromOne, 500)
  .option("--seed <n>", "the first one", fromOne, 1)
  .option("--steps <n>", "last steps shown of a run that breaks an invariant", fromOne, 80)
  .parse()
  .opts<Options>()
/** Seeds between two words of progress. */
const stride = 500

/** Of an error's stack, where one run is looked at. */
const keptFrames = 20

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
