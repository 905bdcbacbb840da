/**
 * npm run crash -- --rounds N --target service|database|both|mixed --seed S: kills the service and its database under
 * load, again and again, and proves after each round that nothing acknowledged was lost or doubled. Exit status 1 when
 * anything was. `mixed` walks through all kinds of blows, pause points, outages and take-over included.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { parseArgs } from "node:util"
import { type CrashFigures, crashRun, type Target, targets } from "../test/crash/crashRun.ts"
import type { RoundReport } from "../test/crash/crashRound.ts"

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "20" },
    target: { type: "string", default: "mixed" },
    seed: { type: "string", default: "1" },
    rate: { type: "string", default: "2000" },
    workers: { type: "string", default: "32" },
    outage: { type: "string", default: "20" }
  }
})

const whole = (name: keyof typeof values): number => {
  const number = Number(values[name])
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name} must be a whole number from 1 on.`)
  return number
}

const columns = [
  "round",
  "blow",
  "before",
  "under way",
  "ready ms",
  "recovery ms",
  "503",
  "found",
  "replays",
  "lost",
  "doubled",
  "faults"
]
const widths = [5, 16, 6, 9, 8, 11, 5, 5, 7, 4, 7, 6]
const line = (cells: ReadonlyArray<string | number>): string =>
  cells.map((cell, n) => String(cell).padStart(widths[n] ?? 0)).join("  ")

const show = (report: RoundReport, index: number): void => {
  const { audit } = report
  const { before, underWay, recoveryMillis, unavailable, foundAgain } = report
  const cells = [
    index,
    report.blow,
    before,
    underWay,
    report.readyMillis ?? "-",
    recoveryMillis,
    unavailable,
    foundAgain,
    audit.replays
  ]
  console.log(line([...cells, audit.lost.length, audit.doubled.length, report.faults.length]))
  for (const fault of report.faults.slice(0, 20)) console.log(`       ${fault}`)
}

const summary = (figures: CrashFigures): string =>
  [
    "",
    `${figures.rounds} rounds, ${figures.acknowledged} acknowledged requests, ${figures.underWay} under way when a blow fell`,
    `${figures.foundAgain} answers swallowed by a blow and told by the replay, ${figures.replays} replays compared byte for byte`,
    `lost ${figures.lost}, doubled ${figures.doubled}, faults ${figures.faults}`,
    "recovery, ms from the blow, or the end of an outage, to the first answer after it (least, median, most):",
    ...figures.recovery.map(
      ({ blow, rounds, millis }) => `  ${blow.padEnd(16)} ${rounds} rounds  ${millis.join(" / ")}`
    )
  ].join("\n")

const program = Effect.gen(function* () {
  const target = targets.find((each) => each === values.target)
  if (target === undefined) return yield* Effect.die(new Error(`--target must be one of: ${targets.join(", ")}.`))
  const run = { rounds: whole("rounds"), seed: whole("seed"), rate: whole("rate"), workers: whole("workers") }
  yield* Console.log(`crash run: ${run.rounds} rounds, target ${target satisfies Target}, seed ${run.seed}`)
  yield* Console.log(line(columns))
  const figures = yield* crashRun({ ...run, target, outageMillis: whole("outage") * 1_000, onRound: show })
  yield* Console.log(summary(figures))
  if (figures.faults > 0) process.exitCode = 1
})

NodeRuntime.runMain(program)
