/**
 * npm run test:fast: the pure core, the engine on memory and HTTP on the stub. Without the set-up that starts PostgreSQL,
 * so a test that asks for a database fails here at once.
 */
import { defineConfig } from "vitest/config"
import whole from "./vitest.config.ts"

export default defineConfig({
  test: {
    ...whole.test,
    include: [
      "test/*.test.ts",
      "test/machines/*.test.ts",
      "test/venue/*.test.ts",
      "test/http/*.test.ts",
      "test/runtime/engine/{batching,columnArray,journalMemory,journalMemoryFaults,sealing,sqlFailure}.test.ts",
      "test/cli/{cli,commands,csv,views}.test.ts"
    ],
    exclude: [
      // Lists of 50,000 names, compared one by one.
      "test/machines/screening{,Index}.test.ts",
      // Whole processes, a thousand connections, and waits that are the subject.
      "test/http/{roles,connections,slowness,close}.test.ts"
    ],
    globalSetup: [],
    reporters: ["default"]
  }
})
