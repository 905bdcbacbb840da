/** vitest.config: one run for all tests. Two workers fit the smallest machine we promise to run on (2 cores). */
import { defineConfig } from "vitest/config"

// Under an older Node dozens of tests would fail, each for another reason. npm and npx find the one of the packages.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `This is Node.js ${process.versions.node}, and the tests need 22.19 or newer: run npm test, or npx vitest run FILE, which take the one that npm ci installed.`
  )
  process.exit(1)
}

export default defineConfig({
  test: {
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
