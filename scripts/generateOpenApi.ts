/**
 * Writes docs/openapi.json and docs/errors.md from the contract. With --check it writes nothing and fails if a file is not
 * current.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openApiText } from "../src/http/openApiDocument.ts"
import { errorTable, reasonTable } from "../src/http/guides/errorTable.ts"

/** The registry of errors as a page. */
const errorsText = (): string =>
  [
    "# Errors of the partner API",
    "",
    "Generated from `src/http/api/WireErrors.ts` by `scripts/generateOpenApi.ts`; do not edit.",
    "",
    "Every refusal has the body `{code, msg, error, data?}`: `msg` and `error` are the same sentence, `data` carries facts",
    "for machines: where a code has several reasons, `data.reason` says which. Every answer has the header `X-Request-Id`.",
    "",
    ...errorTable(),
    "",
    "## Reasons",
    "",
    "From `src/machines/shared/RefusalReason.ts`. A token is never renamed and never given another meaning; new ones may come.",
    "",
    ...reasonTable(),
    ""
  ].join("\n")

const root = join(import.meta.dirname, "..")
const files = [
  ["docs/openapi.json", openApiText()],
  ["docs/errors.md", errorsText()]
] as const

const kept = (path: string): string | null => {
  try {
    return readFileSync(join(root, path), "utf8")
  } catch {
    return null
  }
}

if (process.argv.includes("--check")) {
  const stale = files.filter(([path, text]) => kept(path) !== text).map(([path]) => path)
  for (const path of stale) console.error(`${path} is not current with the contract: run scripts/generateOpenApi.ts`)
  process.exitCode = stale.length === 0 ? 0 : 1
} else {
  for (const [path, text] of files) writeFileSync(join(root, path), text)
}
