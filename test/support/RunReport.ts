/**
 * The end of a test run: its minutes, the slowest files, and every test that did not run, with the reason. A run of `npm test` that
 * takes longer than its bound names the files that grew.
 */
import { writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import type { Reporter, TestModule } from "vitest/node"
import { skipReasonOf } from "./tools.ts"
import type { Tier } from "./tiers.ts"

const slowest = 10
/** The recorded durations; RECORD=1 replaces those of the tier that runs. The longest files begin first. */
const durationsFile = "test/support/durations.json"
/** Minutes that `npm test` may take on two cores, for ever. */
const boundMinutes = 15
const minutesOf = (millis: number): string => (millis / 60_000).toFixed(1)
const secondsOf = (millis: number): string => (millis / 1_000).toFixed(1)

/** Milliseconds of each file in a run of `npm test`, and in a deep one. */
interface Durations {
  readonly test: Readonly<Record<string, number>>
  readonly deep: Readonly<Record<string, number>>
}

interface Run {
  readonly tier: Tier
  readonly millis: number
  /** Milliseconds of each file. */
  readonly files: ReadonlyMap<string, number>
  /** How many tests were skipped for each reason. */
  readonly skipped: ReadonlyMap<string, number>
  /** Annotations of tests that passed. */
  readonly notes: ReadonlySet<string>
  /** Milliseconds of each file in the run whose figures are kept. */
  readonly kept: Readonly<Record<string, number>>
}

/** The closing lines of a run. */
export const closing = ({ tier, millis, files, skipped, notes, kept }: Run): ReadonlyArray<string> => {
  const ranked = [...files].toSorted(([, one], [, other]) => other - one)
  const grown = [...files]
    .map(([file, took]) => [file, took - (kept[file] ?? 0)] as const)
    .filter(([, more]) => more > 1_000)
    .toSorted(([, one], [, other]) => other - one)
  return [
    `Tests of the ${tier} tier took ${minutesOf(millis)} minutes. The ${Math.min(slowest, ranked.length)} slowest files:`,
    ...ranked.slice(0, slowest).map(([file, took]) => `${secondsOf(took).padStart(7)} s  ${file}`),
    ...(skipped.size === 0 ? [] : ["Skipped:"]),
    ...[...skipped].map(([reason, count]) => `${String(count).padStart(5)}  ${reason}`),
    ...notes,
    ...(tier !== "test" || millis <= boundMinutes * 60_000
      ? []
      : [
          `npm test took longer than ${boundMinutes} minutes: move samples to the deep tier. Files that grew most:`,
          ...grown.slice(0, slowest).map(([file, more]) => `${`+${secondsOf(more)}`.padStart(7)} s  ${file}`)
        ])
  ]
}

/** Why a test did not run, for a skipped test without a reason in its title. */
const withoutReason = (tier: Tier): string => (tier === "deep" ? "no reason given" : "played in the deep tier")

/** Prints the closing lines after the results. */
export const runReport = (tier: Tier, root: string, durations: Durations): Reporter => {
  const began = performance.now()
  return {
    onTestRunEnd: (modules: ReadonlyArray<TestModule>) => {
      const files = new Map<string, number>()
      const skipped = new Map<string, number>()
      const notes = new Set<string>()
      for (const each of modules) {
        const { duration, collectDuration, setupDuration } = each.diagnostic()
        files.set(relative(root, each.moduleId).replaceAll("\\", "/"), duration + collectDuration + setupDuration)
        for (const test of each.children.allTests()) for (const { message } of test.annotations()) notes.add(message)
        for (const test of each.children.allTests("skipped")) {
          const reason = skipReasonOf(test.fullName) ?? withoutReason(tier)
          skipped.set(reason, (skipped.get(reason) ?? 0) + 1)
        }
      }
      if (process.env["RECORD"] === "1") {
        const rounded = [...files].toSorted().map(([file, took]) => [file, Math.round(took)])
        const changed = { ...durations, [tier]: Object.fromEntries(rounded) }
        writeFileSync(join(root, durationsFile), `${JSON.stringify(changed, null, 2)}\n`)
      }
      // One file is a developer's run: the list would hide its result.
      if (files.size < slowest) return
      const lines = closing({ tier, millis: performance.now() - began, files, skipped, notes, kept: durations.test })
      process.stdout.write(`\n${lines.join("\n")}\n`)
    }
  }
}
