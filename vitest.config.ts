/**
 * vitest.config: the three tiers of tests (test/support/tiers.ts). `vitest run` is the tier of npm test; `--mode fast` and
 * `--mode deep` are the others.
 */
import { availableParallelism } from "node:os"
import { join, relative } from "node:path"
import { defineConfig, type TestProjectConfiguration } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import durations from "./test/support/durations.json" with { type: "json" }
import { runReport } from "./test/support/RunReport.ts"
import { every, sliceOf } from "./test/support/every.ts"
import { filesOf, misplaced, testFiles, tierOfMode } from "./test/support/tiers.ts"

/** Ends a run that can't begin. The runner would print a thrown error under a stack. */
const refuse = (sentence: string): never => {
  console.error(sentence)
  return process.exit(1)
}

// Under an older Node dozens of tests would fail, each for another reason. npm and npx find the one of the packages.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major < 22 || (major === 22 && minor < 19))
  refuse(
    `This is Node.js ${process.versions.node}, and the tests need 22.19 or newer: run npm test, or npx vitest run FILE, which take the one that npm ci installed.`
  )

const root = import.meta.dirname
const files = testFiles(root)
const wrong = misplaced(files)
if (wrong.length > 0) refuse(wrong.join("\n"))

/** The order of projects: processes wait most, so they begin first and the others fill the processors beside them. */
const projectOrder = ["process", "alone", "service", "sharing", "pure"]
const durationOf: Readonly<Record<string, number>> = durations.test

/** Longest files first within each project: a long file that begins last leaves one processor idle. */
class LongestFirst extends BaseSequencer {
  override async sort(specifications: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const millisOf = ({ moduleId }: TestSpecification) =>
      durationOf[relative(root, moduleId).replaceAll("\\", "/")] ?? Number.MAX_SAFE_INTEGER
    const projectOf = ({ project }: TestSpecification) => projectOrder.indexOf(project.name)
    return specifications.toSorted((one, other) => projectOf(one) - projectOf(other) || millisOf(other) - millisOf(one))
  }
}

// Workers compile each module once in all, as the processes of `brokerage` do. The commands that tests start share the cache.
process.env["NODE_COMPILE_CACHE"] ??= join(root, "node_modules/.cache/node-compile")

const isShuffled = process.argv.some((word) => /^--sequence\.shuffle(\.files)?(=|$)/.test(word))

const orRefuse = <A>(read: () => A): A => {
  try {
    return read()
  } catch (error) {
    return refuse((error as Error).message)
  }
}

export default defineConfig(({ mode }) => {
  const tier = orRefuse(() => tierOfMode(mode))
  // One slice for all workers, also when a run passes midnight.
  const { number, count } = orRefuse(() => sliceOf(process.env["SLICE"], Date.now()))
  const slice = `${number}/${count}`
  if (tier === "deep" && !every)
    console.error(`This run plays slice ${slice} of the whole matrix; SLICE=${slice} repeats it.`)
  const { pure, service, sharing, alone, process: processes } = filesOf(tier, files)
  const total = pure.length + service.length + sharing.length + alone.length + processes.length
  /** A project without files is left out: vitest would give it every test file. */
  const project = (
    name: string,
    include: Array<string>,
    { isolate = false, before = [] }: { readonly isolate?: boolean; readonly before?: ReadonlyArray<string> } = {}
  ): Array<TestProjectConfiguration> =>
    include.length === 0
      ? []
      : [{ extends: true, test: { name, include, isolate, setupFiles: [...before, "test/support/silence.ts"] } }]
  return {
    test: {
      projects: [
        ...project("process", processes),
        ...project("alone", alone, { isolate: true }),
        ...project("service", service),
        ...project("sharing", sharing, { before: ["test/operator/sharedService.ts"] }),
        ...project("pure", pure)
      ],
      // --sequence.shuffle.files keeps the runner's own random order.
      sequence: isShuffled ? {} : { sequencer: LongestFirst },
      globalSetup: ["test/support/globalSetup.ts"],
      env: { TIER: tier, SLICE: slice },
      reporters: ["default", "json", runReport(tier, total, root, durations)],
      outputFile: { json: "node_modules/.cache/test-results.json" },
      pool: "forks",
      // As the launcher of the service does.
      execArgv: ["--import", join(root, "bin/resolveImports.mjs")],
      // Node's own loader takes half the time of the runner's, and shares modules between the files of a worker.
      experimental: { viteModuleRunner: false, nodeLoader: false },
      // Tests of processes mostly wait, so one worker more than processors keeps all processors busy. The test database has
      // 100 connections, which eight workers do not use up.
      maxWorkers: Math.min(availableParallelism() + 1, 8),
      testTimeout: 30_000,
      hookTimeout: 60_000,
      teardownTimeout: 30_000
    }
  }
})
