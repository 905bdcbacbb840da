/**
 * Writes every generated file; with --check it exits 1 and lists those that are not current: command table, machine pages,
 * OpenAPI document, error table, sandbox page, tour, WebAssembly code, schema dump. Each generator is a script with the same flag.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"

const generators = [
  "generateCommands.ts",
  "generateMachines.ts",
  "generateOpenApi.ts",
  "generateSandbox.ts",
  "generateTour.ts",
  "generateWasm.ts",
  "dumpSchema.ts"
]
const flags = process.argv.slice(2)
let failed = 0
for (const generator of generators) {
  const run = spawnSync(process.execPath, [join(import.meta.dirname, generator), ...flags], { stdio: "inherit" })
  if (run.status !== 0) failed++
}
process.exitCode = failed === 0 ? 0 : 1
