/**
 * The catalogue of reasons: every token is said somewhere, means one thing that no other means, and stands in the published
 * description and the guide with its meaning; every code that has several is answered with one (doc 1, Envelope and Errors).
 */
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { wireErrors } from "../../src/http/api/WireErrors.ts"
import { guides } from "../../src/http/guides/guides.ts"
import { openApiDocument } from "../../src/http/openApiDocument.ts"
import { gateRefusals } from "../../src/http/toWire.ts"
import {
  meaningOf,
  partnerReasons,
  type Reason,
  type ReasonGroup,
  reasonGroups,
  reasonsOf,
  unknownReasons
} from "../../src/machines/shared/RefusalReason.ts"

const root = join(import.meta.dirname, "../../src")
const catalogues = ["RefusalReason.ts", "operatorReasons.ts"]
const source = globSync("**/*.ts", { cwd: root })
  .filter((file) => !catalogues.some((name) => file.endsWith(`shared/${name}`)))
  .map((file) => readFileSync(join(root, file), "utf8"))
  .join("\n")

const tokens = reasonGroups.flatMap(({ reasons }) => Object.keys(reasons)) as ReadonlyArray<Reason>
/** Words alone: two sentences of the same ones say the same. */
const words = (meaning: string): string =>
  meaning
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, " ")
    .trim()

describe("reasons of refusals", () => {
  it("each is a token in capitals with a meaning of its own", () => {
    assert.lengthOf(new Set(tokens), tokens.length)
    assert.lengthOf(new Set(tokens.map((token) => words(meaningOf[token]))), tokens.length)
    for (const token of tokens) {
      assert.match(token, /^[A-Z]+(_[A-Z]+)*$/)
      assert.match(meaningOf[token], /^[A-Z].*\.$/, token)
    }
  })

  it("each is said somewhere", () => {
    const nouns = new Map<string, string>(Object.entries(unknownReasons).map(([noun, token]) => [token, noun]))
    assert.deepStrictEqual(
      tokens.filter((token) => !source.includes(`"${nouns.get(token) ?? token}"`)),
      []
    )
  })

  it("each that a partner can meet is in the guide and in the schema of its status, with its meaning", () => {
    const guide = guides()
    const { schemas } = openApiDocument().components as unknown as { readonly schemas: Record<string, object> }
    const published = JSON.stringify(schemas)
    for (const { answers, reasons } of partnerReasons as ReadonlyArray<ReasonGroup>) {
      for (const [status, code] of answers) {
        assert.isTrue(
          wireErrors.some((row) => row.status === status && row.code === code),
          `${status} ${code}`
        )
        for (const [token, meaning] of Object.entries(reasons)) {
          assert.match(guide, new RegExp(`\\| ${code} +\\| ${status} +\\| \`${token}\` +\\| `))
          assert.include(guide, meaning)
          assert.include(published, `- \`${token}\`: ${JSON.stringify(meaning).slice(1, -1)}`)
        }
      }
    }
  })

  it("a gate that refuses with a code of several reasons names one of them", () => {
    for (const [gate, { status, code, data }] of Object.entries(gateRefusals)) {
      const several = reasonsOf(status, code)
      const { reason } = { reason: undefined, ...data }
      if (several.length > 0) assert.include(several, reason, gate)
      else assert.isUndefined(reason, gate)
    }
  })
})
