// vitest.config: one run for all tests. Two workers fit the smallest machine we promise to run on (2 cores).
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/globalSetup.ts"],
    reporters: ["default", "json"],
    outputFile: { json: "node_modules/.cache/test-results.json" },
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000
  }
})
