/**
 * Writes src/runtime/migrations/schema.sql from a freshly migrated PostgreSQL in a temporary folder. With --check it exits 1 if
 * the file is not current.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EmbeddedPostgres } from "../src/runtime/adapters/EmbeddedPostgres.ts"
import { dumpSchema } from "../src/runtime/migrations/dumpSchema.ts"
import { migrate } from "../src/runtime/migrations/migrate.ts"

const file = join(import.meta.dirname, "../src/runtime/migrations/schema.sql")

const current = (): string | null => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return null
  }
}

const dump = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "brokerage-schema-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true, maxRetries: 10 }))
  )
  const server = yield* EmbeddedPostgres.start({ dataDirectory: folder })
  return yield* Effect.andThen(migrate, dumpSchema).pipe(
    Effect.provide(PgClient.layer({ url: server.url, maxConnections: 1 }))
  )
}).pipe(Effect.scoped)

const schema = await Effect.runPromise(dump)
if (!process.argv.includes("--check")) writeFileSync(file, schema)
else if (current() !== schema) {
  console.error("src/runtime/migrations/schema.sql is not current: run node scripts/dumpSchema.ts")
  process.exitCode = 1
}
