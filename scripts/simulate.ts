/**
 * npm run simulate -- --seeds N --seed S: deterministic simulations of the whole system, N seeds from S on. A seed that
 * breaks an invariant is printed with its last steps, and the exit status is 1; the same seed gives the same run again.
 */
import { parseArgs } from "node:util"
import { report } from "../test/simulation/report.ts"
import { simulate } from "../test/simulation/simulate.ts"

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "500" },
    seed: { type: "string", default: "1" },
    steps: { type: "string", default: "80" }
  }
})

const whole = (name: keyof typeof values): number => {
  const number = Number(values[name])
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name} must be a whole number from 1 on.`)
  return number
}

const seeds = whole("seeds")
const first = whole("seed")
const steps = whole("steps")
/** Seeds between two words of progress. */
const stride = 500

let failures = 0
for (let seed = first; seed < first + seeds; seed++) {
  const run = simulate(seed)
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
process.exitCode = failures === 0 ? 0 : 1
