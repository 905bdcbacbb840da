/**
 * A crash run: many rounds of seeded faults, several rounds per world, with the figures of all rounds. The test runs a
 * few short rounds, `npm run crash` any number.
 */
import { Effect } from "effect"
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { type CrashWorldOptions, withCrashWorld } from "./CrashWorld.ts"
import { crashRound, type RoundReport } from "./crashRound.ts"
import { type Blow, blows } from "./strike.ts"

export const targets = ["service", "database", "both", "mixed"] as const
export type Target = (typeof targets)[number]

export interface CrashRunOptions {
  readonly rounds: number
  readonly target: Target
  readonly seed: number
  readonly rate: number
  readonly workers: number
  /** Clients that trade. */
  readonly traders: number
  /** True: the market falls with each fault, and clients are closed out. */
  readonly falling: boolean
  readonly outageMillis: number
  readonly onRound: (report: RoundReport, index: number) => void
}

export interface CrashFigures {
  readonly rounds: number
  readonly acknowledged: number
  readonly underWay: number
  readonly foundAgain: number
  readonly replays: number
  /** The traders' acknowledged orders and booked trades. */
  readonly orders: number
  readonly trades: number
  readonly lost: number
  readonly doubled: number
  readonly faults: number
  /** Recovery times in ms, by fault: smallest, median, largest. */
  readonly recovery: ReadonlyArray<{
    readonly blow: Blow
    readonly rounds: number
    readonly millis: readonly [number, number, number]
  }>
}

/** Rounds on one data directory before a new one is made, because its books grow and every round checks all of them. */
const roundsPerWorld = 10

/** The faults of a run, in order: those of the target, or all kinds in seeded order, each equally often. */
export const blowsOf = (target: Target, rounds: number, seed: number): ReadonlyArray<Blow> => {
  if (target !== "mixed") return Array.from({ length: rounds }, () => target)
  const random = new SeededRandom(seed)
  const chosen: Array<Blow> = []
  while (chosen.length < rounds) {
    const bag: Array<Blow> = [...blows]
    while (bag.length > 0 && chosen.length < rounds) chosen.push(...bag.splice(random.between(0, bag.length - 1), 1))
  }
  return chosen
}

/** Runs faults on worlds of up to `roundsPerWorld` rounds. A take-over needs a world with a separate database server. */
export const crashRun = Effect.fnUntraced(function* (options: CrashRunOptions): Effect.fn.Return<CrashFigures> {
  const chosen = blowsOf(options.target, options.rounds, options.seed)
  const shared = chosen.filter((blow) => blow !== "takeover")
  const groups = Array.from({ length: Math.ceil(shared.length / roundsPerWorld) }, (_, n) =>
    shared.slice(n * roundsPerWorld, (n + 1) * roundsPerWorld)
  )
  const takeOvers = chosen.filter((blow) => blow === "takeover")
  const reports: Array<RoundReport> = []
  const last: Array<RoundReport> = []
  for (const [index, group] of [...groups, takeOvers].entries()) {
    if (group.length === 0) continue
    const world: CrashWorldOptions = { ...options, seed: options.seed + index, ownDatabase: group === takeOvers }
    const found = yield* crashRounds(world, group, options.outageMillis, (report) => {
      reports.push(report)
      options.onRound(report, reports.length)
    })
    last.push(...found.slice(-1))
  }
  return figuresOf(reports, last)
})

/** Runs the given faults on one world, in order. */
export const crashRounds = (
  world: CrashWorldOptions,
  chosen: ReadonlyArray<Blow>,
  outageMillis: number,
  onRound: (report: RoundReport) => void = () => {}
): Effect.Effect<ReadonlyArray<RoundReport>> =>
  withCrashWorld(world, (running) =>
    Effect.forEach(chosen, (blow) =>
      Effect.tap(crashRound(running, blow, { outageMillis }), (report) => Effect.sync(() => onRound(report)))
    )
  )

/** `last`: the last report of each world, whose checks include all earlier rounds. */
const figuresOf = (reports: ReadonlyArray<RoundReport>, last: ReadonlyArray<RoundReport>): CrashFigures => {
  const total = (of: (report: RoundReport) => number, all: ReadonlyArray<RoundReport>) =>
    all.reduce((sum, report) => sum + of(report), 0)
  const sum = (of: (report: RoundReport) => number) => total(of, reports)
  return {
    rounds: reports.length,
    acknowledged: total(({ audit, trade }) => audit.acknowledged + trade.acknowledged, last),
    underWay: sum((report) => report.underWay),
    foundAgain: sum((report) => report.foundAgain),
    replays: sum(({ audit, trade }) => audit.replays + trade.replays),
    orders: total(({ trade }) => trade.orders, last),
    trades: total(({ trade }) => trade.trades, last),
    lost: sum(({ audit, trade }) => audit.lost.length + trade.lost.length),
    doubled: sum(({ audit, trade }) => audit.doubled.length + trade.doubled.length),
    faults: sum((report) => report.faults.length),
    recovery: blows.flatMap((blow) => {
      const millis = reports
        .filter((report) => report.blow === blow)
        .map(({ recoveryMillis }) => recoveryMillis)
        .sort((a, b) => a - b)
      const [first, middle, last] = [millis[0], millis[millis.length >> 1], millis.at(-1)]
      return first === undefined || middle === undefined || last === undefined
        ? []
        : [{ blow, rounds: millis.length, millis: [first, middle, last] as const }]
    })
  }
}
