/** vitest.config: one run for all tests. Two workers fit the smallest machine we promise to run on (2 cores). */
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

// Under an older Node dozens of tests would fail, each for another reason. npm and npx find the one of the packages.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `This is Node.js ${process.versions.node}, and the tests need 22.19 or newer: run npm test, or npx vitest run FILE, which take the one that npm ci installed.`
  )
  process.exit(1)
}

/** Minutes each: begun last, they would have one processor while the other waits for them. */
const longest = ["simulation/power", "simulation/simulation", "scenarios/yamlFiles", "crash/crash"]

/** Until a run has left its times behind: the largest files first, which is not the order of their durations. */
class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const found = longest.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
      return found < 0 ? longest.length : found
    }
    return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other))
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    include: ["test/**/*.test.ts", "linters/*.test.ts"],
    globalSetup: ["test/support/globalSetup.ts"],
    setupFiles: ["test/support/silence.ts"],
    reporters: ["default", "json"],
    outputFile: { json: "node_modules/.cache/test-results.json" },
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000
  }
})
