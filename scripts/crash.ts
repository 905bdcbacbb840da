/**
 * npm run crash -- --rounds N --target service|database|both|mixed --seed S: kills the service and its database under load,
 * repeatedly, and verifies after each round that no acknowledged write was lost or doubled. Exit status 1 if one was. `mixed`
 * uses all kinds of kills, pause points, outages and take-overs.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect } from "effect"
import { Option } from "commander"
import { whole } from "../cli/options.ts"
import { type CrashFigures, crashRun, type Target, targets } from "../test/crash/crashRun.ts"
import type { RoundReport } from "../test/crash/crashRound.ts"
import { scriptCommand } from "./scriptCommand.ts"

interface Options {
  readonly rounds: number
  readonly target: Target
  readonly seed: number
  readonly rate: number
  readonly workers: number
  readonly traders: number
  readonly falling?: true
  readonly outage: number
}

const fromOne = whole(1, Number.MAX_SAFE_INTEGER)
const {
  target,
  outage,
  falling = false,
  ...run
} = scriptCommand(
  "crash",
  "Kills the service and its database under load and proves that nothing acknowledged was lost or doubled."
)
  .option("--rounds <n>", "how many blows", fromOne, 20)
  .addOption(new Option("--target <target>", "what is killed").choices(targets).default("mixed"))
  .option("--seed <n>", "of the load and the blows", fromOne, 1)
  .option("--rate <n>", "requests a second", fromOne, 2_000)
  .option("--workers <n>", "callers at a time", fromOne, 32)
  .option("--traders <n>", "clients that trade", fromOne, 6)
  .option("--falling", "let the market fall with each blow, and clients be closed out")
  .option("--outage <seconds>", "how long an outage lasts", fromOne, 20)
  .parse()
  .opts<Options>()

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
  "orders",
  "trades",
  "lost",
  "doubled",
  "faults"
]
const widths = [5, 16, 6, 9, 8, 11, 5, 5, 7, 6, 6, 4, 7, 6]
const line = (cells: ReadonlyArray<string | number>): string =>
  cells.map((cell, n) => String(cell).padStart(widths[n] ?? 0)).join("  ")

const show = (report: RoundReport, index: number): void => {
  const { audit, trade } = report
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
    audit.replays + trade.replays,
    trade.orders,
    trade.trades,
    audit.lost.length + trade.lost.length,
    audit.doubled.length + trade.doubled.length
  ]
  console.log(line([...cells, report.faults.length]))
  for (const fault of report.faults.slice(0, 20)) console.log(`       ${fault}`)
}

const summary = (figures: CrashFigures): string =>
  [
    "",
    `${figures.rounds} rounds, ${figures.acknowledged} acknowledged requests, ${figures.underWay} under way when a blow fell`,
    `${figures.foundAgain} answers swallowed by a blow and given by the replay, ${figures.replays} replays compared byte for byte`,
    `${figures.orders} orders acknowledged, ${figures.trades} trades booked`,
    `lost ${figures.lost}, doubled ${figures.doubled}, faults ${figures.faults}`,
    "recovery, ms from the blow, or the end of an outage, to the first answer after it (least, median, most):",
    ...figures.recovery.map(
      ({ blow, rounds, millis }) => `  ${blow.padEnd(16)} ${rounds} rounds  ${millis.join(" / ")}`
    )
  ].join("\n")

const program = Effect.gen(function* () {
  yield* Console.log(`crash run: ${run.rounds} rounds, target ${target}, seed ${run.seed}`)
  yield* Console.log(line(columns))
  const figures = yield* crashRun({ ...run, target, falling, outageMillis: outage * 1_000, onRound: show })
  yield* Console.log(summary(figures))
  if (figures.faults > 0) process.exitCode = 1
})

NodeRuntime.runMain(program)
