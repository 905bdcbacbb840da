/** The tiers of tests: every file has its place, slices add up to the whole, and `npm test` holds each promise and each rule. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { readFileSync } from "node:fs"
import { join, matchesGlob } from "node:path"
import { deepSample, inSlice, sliceOf } from "./support/every.ts"
import { filesOf, misplaced, setsOf, testFiles } from "./support/tiers.ts"

const root = join(import.meta.dirname, "..")
const files = testFiles(root)
const textOf = (file: string): string => readFileSync(join(root, file), "utf8")
const inTest = Object.values(filesOf("test", files)).flat()

/** The test files named by a cell or an entry: paths, globs with braces, and folders. */
const namedIn = (text: string, among: ReadonlyArray<string>): ReadonlyArray<string> => {
  const paths = [...text.matchAll(/`(test\/[^`]+)`/g)].map(([, path = ""]) => path)
  return among.filter((file) => paths.some((path) => matchesGlob(file, path) || matchesGlob(file, `${path}/**`)))
}

/** Titles of tests, each with whether it runs in the deep tier only. */
const titlesIn = (text: string) =>
  [...text.matchAll(/\b(?:it|describe)\b([\w.]*(?:\([^()]*\))?[\w.]*)\(\s*(["'`])((?:(?!\2)[^\\]|\\.)*)\2/g)].map(
    ([, head = "", , title = ""]) => ({ title, isDeep: /runIf\((?:isDeep|seeds\.length)/.test(head) })
  )

/** Whether these files hold the rule: where titles name it, one of them must run in `npm test`. */
const holds = (id: string, held: ReadonlyArray<string>, textOf: (file: string) => string): boolean => {
  const named = held.flatMap((file) => titlesIn(textOf(file))).filter(({ title }) => title.includes(id))
  return held.length > 0 && (named.length === 0 || named.some(({ isDeep }) => !isDeep))
}

/** A sentence for each promise of docs/guarantees.md, and each rule of docs/rules.md, that no file of `held` proves. */
export const unheld = (
  page: string,
  rules: string,
  held: ReadonlyArray<string>,
  textOf: (file: string) => string
): ReadonlyArray<string> => {
  const [, table = ""] = /^\| promise \| test \|\n((?:\|.*\n?)+)/m.exec(page) ?? []
  const promises = [...table.matchAll(/^\| (?!-)([^|]+) \| ([^|]*)\|$/gm)].map(
    ([, promise = "", cell = ""]) => [promise.trim(), `The promise "${promise.trim()}"`, cell] as const
  )
  const entries = [...rules.matchAll(/^- \*\*([A-Z0-9-]+(?:-nnn)?)\*\* (.*(?:\n {2}.*)*)/gm)].map(
    ([, id = "", text = ""]) => [id, `The rule ${id}`, text.replaceAll(/\s+/g, " ")] as const
  )
  return [...promises, ...entries.filter(([, , text]) => text.includes("`test/"))]
    .filter(([id, , text]) => !holds(id, namedIn(text, held), textOf))
    .map(([, subject]) => `${subject} has no test in npm test: its last one runs in the deep tier only.`)
}

describe("tiers of tests", () => {
  it("every test file has one row", () => assert.deepStrictEqual(misplaced(files), []))

  it("a file without a row, and one with two, are named", () => {
    const row = { kind: "pure", files: ["test/a/*.test.ts"] } as const
    assert.deepStrictEqual(misplaced(["test/b.test.ts"], [row]), [
      "No row covers test/b.test.ts: each test file has one row in test/support/tiers.ts."
    ])
    assert.deepStrictEqual(misplaced(["test/a/b.test.ts"], [row, row]), [
      "2 rows cover test/a/b.test.ts: each test file has one row in test/support/tiers.ts."
    ])
  })

  it("each tier holds the one before", () => {
    const deep = Object.values(filesOf("deep", files)).flat()
    const fast = Object.values(filesOf("fast", files)).flat()
    assert.includeMembers(inTest, fast)
    assert.includeMembers(deep, inTest)
    assert.sameMembers(deep, [...files])
  })

  it("each file is in one set of the deep tier, and no set is empty", () => {
    const sets = [...setsOf(files).values()]
    assert.sameMembers(sets.flat(), [...files])
    assert.lengthOf(sets.flat(), files.length)
    for (const set of sets) assert.isNotEmpty(set)
  })

  it("every promise of docs/guarantees.md and every rule has a test in npm test", () => {
    const page = readFileSync(join(root, "docs/guarantees.md"), "utf8")
    const rules = readFileSync(join(root, "docs/rules.md"), "utf8")
    assert.deepStrictEqual(unheld(page, rules, inTest, textOf), [])
    assert.isNotEmpty(unheld(page, rules, [], textOf))
  })

  it("a promise or a rule whose last test is deep is named", () => {
    const page =
      "| promise | test |\n|---|---|\n| nothing is lost | `test/crash`, `npm run crash` |\n| a retry acts once | `test/a/{b,c}.test.ts` |"
    const rules = "- **A1-01** One sentence. Tests:\n  `test/d.test.ts`."
    const named = ["test/crash/x.test.ts", "test/a/c.test.ts", "test/d.test.ts"]
    const lost = [
      'The promise "a retry acts once" has no test in npm test: its last one runs in the deep tier only.',
      "The rule A1-01 has no test in npm test: its last one runs in the deep tier only."
    ]
    assert.deepStrictEqual(
      unheld(page, rules, named, () => ""),
      []
    )
    assert.deepStrictEqual(
      unheld(page, rules, named.slice(0, 1), () => ""),
      lost
    )
    assert.deepStrictEqual(
      unheld(page, rules, named, () => `it.live.runIf(isDeep)(\n  "A1-01: one sentence", run)`),
      lost.slice(1)
    )
    assert.deepStrictEqual(
      unheld(page, rules, named, () => `it.live.runIf(isDeep)("A1-01: all", run)\nit("A1-01: one", run)`),
      []
    )
  })
})

describe("slices of the whole matrix", () => {
  it("together are the whole, each case once", () =>
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer(), { maxLength: 60 }), fc.integer({ min: 1, max: 20 }), (cases, count) => {
        const all = Array.from({ length: count }, (_, n) => inSlice(cases, { number: n + 1, count })).flat()
        assert.sameMembers(all, cases)
        assert.lengthOf(all, cases.length)
      })
    ))

  it("a deep run plays its sample and a slice, each case once, in the order of the whole", () => {
    const every = [1, 2, 3, 4, 5, 6, 7, 8]
    assert.deepStrictEqual(deepSample({ deep: [5, 1], every }, { number: 2, count: 4 }), [1, 2, 5, 6])
    assert.deepStrictEqual(deepSample({ deep: [9, 3], every }, { number: 3, count: 4 }), [3, 7, 9])
    assert.deepStrictEqual(deepSample({ deep: [2, 2, 1] }, { number: 1, count: 4 }), [2, 1])
  })

  it("the day chooses where none is named, and fourteen days choose all", () => {
    const days = Array.from({ length: 14 }, (_, day) => sliceOf(undefined, day * 86_400_000).number)
    assert.strictEqual(new Set(days).size, 14)
  })

  it("a named one is read; anything else is a sentence", () => {
    assert.deepStrictEqual(sliceOf("3/14", 0), { number: 3, count: 14 })
    for (const text of ["", "3", "0/4", "5/4", "a/b", "1/0", "1/14 "])
      assert.throws(() => sliceOf(text, 0), /such as 3\/14/)
  })
})
