/**
 * The catalogue of reasons: every token is used, has a meaning that no other token has, and appears with its meaning in
 * the published description and the guide; every answer with a code of several reasons names one (doc 1, Envelope and
 * Errors).
 */
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { wireErrors } from "../../src/http/api/WireErrors.ts"
import { dataMembers } from "../../src/http/api/refusalData.ts"
import { recorded } from "../../src/http/examples/recorded.ts"
import { guides } from "../../src/http/guides/guides.ts"
import { openApiDocument } from "../../src/http/openApiDocument.ts"
import { gateRefusals } from "../../src/machines/shared/wireRefusal.ts"
import {
  meaningOf,
  partnerReasons,
  type Reason,
  type ReasonGroup,
  reasonGroups,
  reasonsOf,
  unknownReasons
} from "../../src/machines/shared/RefusalReason.ts"

interface Refusal {
  readonly code: number
  readonly data?: Readonly<Record<string, unknown>>
}

interface Described {
  readonly parameters: ReadonlyArray<{
    readonly name: string
    readonly schema: { readonly enum?: ReadonlyArray<unknown>; readonly default?: unknown }
  }>
}

const root = join(import.meta.dirname, "../../src")
const catalogues = ["RefusalReason.ts", "operatorReasons.ts"]
const source = globSync("**/*.ts", { cwd: root })
  .filter((file) => !catalogues.some((name) => file.endsWith(`shared/${name}`)))
  .map((file) => readFileSync(join(root, file), "utf8"))
  .join("\n")

const tokens = reasonGroups.flatMap(({ reasons }) => Object.keys(reasons)) as ReadonlyArray<Reason>
/** Compares words only: two sentences with the same words have the same meaning. */
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

  it("each occurs somewhere", () => {
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
          const section = guide.split(`### HTTP ${status}, code ${code}\n`)[1]?.split("\n### ")[0]
          assert.include(section, `- \`${token}\`: ${meaning}`)
          assert.include(published, `- \`${token}\`: ${JSON.stringify(meaning).slice(1, -1)}`)
        }
      }
    }
  })

  it("a refusal has a reason where its code has several, and no other has one", () => {
    const refusals = Object.values(recorded().operations)
      .flatMap(({ answers }) => Object.entries(answers).map(([status, bodies]) => [Number(status), bodies] as const))
      .filter(([status]) => status >= 400)
      .flatMap(([status, bodies]) => bodies.map((body) => ({ status, ...(body as Refusal) })))
    assert.isAtLeast(refusals.length, 50)
    for (const { status, code, data } of refusals) {
      if (status === 502 && data === undefined) continue
      const several = reasonsOf(status, code) as ReadonlyArray<unknown>
      if (several.length === 0) assert.isUndefined(data?.["reason"], `${code}`)
      else assert.include(several, data?.["reason"], `${code}`)
    }
  })

  it("each member that data may have is in the schema of its status, and no other", () => {
    const inWords = (status: number) =>
      wireErrors
        .filter((row) => row.status === status)
        .flatMap(({ data }) => [...data.matchAll(/\{([^{}]*)\}/g)].flatMap(([, names = ""]) => names.split(", ")))
        .map((name) => name.replace(/:.*/, ""))
    for (const status of new Set(wireErrors.map((row) => row.status))) {
      const { [status]: named = [] } = { 400: ["errors"] } as Record<number, ReadonlyArray<string>>
      const told = inWords(status).filter((name) => !name.includes("."))
      assert.sameMembers(Object.keys(dataMembers(status)), [...new Set([...told, ...named])], `${status}`)
    }
    const met = Object.values(recorded().operations).flatMap(({ answers }) =>
      Object.entries(answers).flatMap(([status, bodies]) =>
        Number(status) < 400
          ? []
          : bodies.flatMap((body) =>
              Object.keys((body as Refusal).data ?? {}).map((name) => [Number(status), name] as const)
            )
      )
    )
    for (const [status, name] of met) if (name !== "reason") assert.property(dataMembers(status), name, `${status}`)
  })

  it("interval, state and depth name their values, and the meaning of their absence", () => {
    const { paths } = openApiDocument() as unknown as { readonly paths: Record<string, { readonly get: Described }> }
    const found = Object.entries(paths).flatMap(([path, { get }]) =>
      (get?.parameters ?? [])
        .filter(({ name }) => ["interval", "state", "depth"].includes(name))
        .map(({ name, schema }) => [`${path.split("/").at(-1)} ${name}`, schema.enum?.length, schema.default] as const)
    )
    assert.deepStrictEqual(found.toSorted(), [
      ["barriers state", 2, "open"],
      ["clients state", 5, undefined],
      ["klines interval", 7, "1m"],
      ["orderbook depth", 4, 25],
      ["swaps state", 3, "live"]
    ])
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
