/**
 * The report at the end of a test run: its minutes, the slowest files, and every test that did not run, with the
 * reason. A run of `npm test` beyond its time limit names the files that became slower.
 */
import { existsSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import type { Reporter, TestModule } from "vitest/node"
import { every } from "./every.ts"
import { skipReasonOf } from "./tools.ts"
import type { Tier } from "./tiers.ts"

const slowest = 10
/** Recorded durations: the sequencer starts long files first. RECORD=1 updates those of the files that ran. */
const durationsFile = "test/support/durations.json"
/** The closing lines of the last run, for `.ci/run`. */
const reportFile = "node_modules/.cache/test-report.txt"
/** The limit of `npm test` on two cores, in minutes. */
const boundMinutes = 15
const commands: Readonly<Record<Tier, string>> = {
  fast: "npm run test:fast",
  test: "npm test",
  deep: "npm run test:deep"
}
const minutesOf = (millis: number): string => (millis / 60_000).toFixed(1)
const secondsOf = (millis: number): string => (millis / 1_000).toFixed(1)

/** Milliseconds of each file in a run of `npm test`, and in a deep run. */
interface Durations {
  readonly test: Readonly<Record<string, number>>
  readonly deep: Readonly<Record<string, number>>
}

interface Run {
  readonly tier: Tier
  /** True if all files of the tier ran with the usual samples. */
  readonly isWhole: boolean
  readonly millis: number
  /** Milliseconds of each file. */
  readonly files: ReadonlyMap<string, number>
  /** The number of skipped tests by reason. */
  readonly skipped: ReadonlyMap<string, number>
  /** Annotations of tests that passed. */
  readonly notes: ReadonlySet<string>
  /** Recorded milliseconds of each file. */
  readonly kept: Readonly<Record<string, number>>
}

/** The last lines of the report. */
export const closing = ({ tier, isWhole, millis, files, skipped, notes, kept }: Run): ReadonlyArray<string> => {
  const ranked = [...files].toSorted(([, one], [, other]) => other - one)
  const grown = [...files]
    .map(([file, took]) => [file, took - (kept[file] ?? 0)] as const)
    .filter(([, more]) => more > 1_000)
    .toSorted(([, one], [, other]) => other - one)
  return [
    `${commands[tier]} took ${minutesOf(millis)} minutes. The ${Math.min(slowest, ranked.length)} slowest files:`,
    ...ranked.slice(0, slowest).map(([file, took]) => `${secondsOf(took).padStart(7)} s  ${file}`),
    ...(skipped.size === 0 ? [] : ["Skipped:"]),
    ...[...skipped].map(([reason, count]) => `${String(count).padStart(5)}  ${reason}`),
    ...notes,
    ...(tier !== "test" || !isWhole || millis <= boundMinutes * 60_000
      ? []
      : [
          `npm test took longer than ${boundMinutes} minutes: move samples to the deep tier. Files that grew most:`,
          ...grown.slice(0, slowest).map(([file, more]) => `${`+${secondsOf(more)}`.padStart(7)} s  ${file}`)
        ])
  ]
}

/** The reason for a skipped test without a reason in its title. */
const withoutReason = (tier: Tier): string => (tier === "deep" ? "no reason given" : "played in the deep tier")

/** A sentence for each file of which no test ran although its tools are installed. */
export const hollow = (files: ReadonlyMap<string, ReadonlyArray<{ readonly title: string; readonly ran: boolean }>>) =>
  [...files]
    .filter(([, tests]) => tests.length > 0 && tests.every(({ title, ran }) => !ran && skipReasonOf(title) === null))
    .map(([file]) => `${file} plays no test in this tier: its row in test/support/tiers.ts must begin in a later one.`)

/**
 * A reporter that prints the last lines after the results and stores them in a file. `count`: the number of files in
 * the tier.
 */
export const runReport = (tier: Tier, count: number, root: string, durations: Durations): Reporter => {
  let began = performance.now()
  return {
    onTestRunStart: () => void (began = performance.now()),
    onTestRunEnd: (modules: ReadonlyArray<TestModule>, errors, reason) => {
      const files = new Map<string, number>()
      const skipped = new Map<string, number>()
      const notes = new Set<string>()
      const tests = new Map<string, ReadonlyArray<{ readonly title: string; readonly ran: boolean }>>()
      for (const each of modules) {
        const { duration, collectDuration, setupDuration } = each.diagnostic()
        const file = relative(root, each.moduleId).replaceAll("\\", "/")
        files.set(file, duration + collectDuration + setupDuration)
        tests.set(
          file,
          [...each.children.allTests()].map((test) => ({
            title: test.fullName,
            ran: test.result().state !== "skipped"
          }))
        )
        for (const test of each.children.allTests()) for (const { message } of test.annotations()) notes.add(message)
        for (const test of each.children.allTests("skipped")) {
          const reason = skipReasonOf(test.fullName) ?? withoutReason(tier)
          skipped.set(reason, (skipped.get(reason) ?? 0) + 1)
        }
      }
      if (process.env["RECORD"] === "1" && reason === "passed" && tier !== "fast") {
        const known = Object.entries(durations[tier]).filter(([file]) => existsSync(join(root, file)))
        const ran = [...files].map(([file, took]) => [file, Math.round(took)] as const)
        const entries = Object.entries(Object.fromEntries([...known, ...ran])).toSorted()
        const changed = { ...durations, [tier]: Object.fromEntries(entries) }
        writeFileSync(join(root, durationsFile), `${JSON.stringify(changed, null, 2)}\n`)
      }
      // A run of a few files needs no list.
      if (files.size < slowest) return
      const isWhole = files.size === count && !every
      const millis = performance.now() - began
      const empty = isWhole ? hollow(tests) : []
      if (empty.length > 0) process.exitCode = 1
      const lines = [...closing({ tier, isWhole, millis, files, skipped, notes, kept: durations.test }), ...empty]
      const text = `${lines.join("\n")}\n`
      writeFileSync(join(root, reportFile), text)
      process.stdout.write(`\n${text}`)
    }
  }
}
