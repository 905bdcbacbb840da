/**
 * Writes docs/openapi.json, docs/openapi-direct.json and docs/errors.md from the contracts, and docs/refusals.md from the sources. With --check it writes nothing and fails if a file is not
 * current.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { directDocument, openApiText } from "../src/http/openApiDocument.ts"
import { errorTable, reasonTable } from "../src/http/guides/errorTable.ts"
import { meaningOf, unknownReasons } from "../src/machines/shared/RefusalReason.ts"

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

/** Folders and files that declare or describe reasons, or show them in examples. */
const descriptions =
  /^http\/(api|examples|guides)\/|^machines\/shared\/(RefusalReason|operatorReasons)\.ts$|Samples\.ts$/
/** Lines on which a reason's text names an event of a machine or a restriction. */
const otherMeaning = /type: |assertEvent|restriction: |restrictionNames|restrictClient|liftRestriction/

/** Each reason with the files of src that refuse with it. */
const refusalsText = (): string => {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !descriptions.test(name))
    .sort()
    .map((name) => {
      const lines = readFileSync(join(root, "src", name), "utf8").split("\n")
      return { name, text: lines.filter((line) => !otherMeaning.test(line)).join("\n") }
    })
  const nounOf = new Map<string, string>(Object.entries(unknownReasons).map(([noun, reason]) => [reason, noun]))
  const placesOf = (reason: string): string => {
    const noun = nounOf.get(reason)
    const texts = [`"${reason}"`, ...(noun === undefined ? [] : [`("${noun}"`])]
    return sources
      .filter(({ text }) => texts.some((each) => text.includes(each)))
      .map(({ name }) => `\`src/${name}\``)
      .join(", ")
  }
  return [
    "# Where each refusal is decided",
    "",
    "Generated from the sources by `scripts/generateOpenApi.ts`; do not edit. The head of each file, or the comment on the",
    "function, names the rules that it follows ([rules](rules.md)). [Errors](errors.md) gives the meaning of each reason that a partner can get.",
    "",
    ...Object.keys(meaningOf).map((each) => `- \`${each}\`: ${placesOf(each)}`),
    ""
  ].join("\n")
}

const files = [
  ["docs/openapi.json", openApiText()],
  ["docs/openapi-direct.json", openApiText(directDocument())],
  ["docs/errors.md", errorsText()],
  ["docs/refusals.md", refusalsText()]
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
