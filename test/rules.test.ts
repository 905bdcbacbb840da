/**
 * The rules that the code cites equal those in docs/rules.md: every cited rule is defined there in short sentences,
 * every defined rule is cited, and the named tests exist and mention the rule. Runs in milliseconds.
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join, relative, resolve } from "node:path"

const root = resolve(import.meta.dirname, "..")

/**
 * The characters before and after a rule's name: letters, digits and escapes next to it make it a part of another word.
 */
const before = String.raw`(?<![\w.%+\\-]|[A-Z]\d )`
const after = String.raw`(?![\w-]| [A-Z]\d\b)`

/** A decision, a table of transitions, a formula, a scenario, an event or statement decision, or a case of a family. */
const rule = String.raw`(?:A[123]-\d{2,3}|D(?:[1-9]|1\d|2[0-3])|F(?:[1-9]|[12]\d|3[01])|SC-[A-Z]{3}-\d{2}|(?:DIR|EVT|STS)-\d{1,2})`
const familyCase = String.raw`[A-Z][A-Z0-9]{1,5}-\d{3}`

/** Names of the same form that are no rules. */
const others = new Set(["AES-256", "SHA-256"])

const citation = new RegExp(`${before}(${familyCase}|${rule})(?:\\.\\.(?:(?:[A-Z0-9]+-)+|[DF])?(\\d+))?${after}`, "g")

/** Rules that a text cites. `A1-09..A1-12` and `SC-ONB-06..08` also cite all rules in between. */
export const citedIn = (text: string): ReadonlySet<string> => {
  const cited = new Set<string>()
  for (const [, first = "", last] of text.matchAll(citation)) {
    if (others.has(first)) continue
    cited.add(first)
    const digits = /\d+$/.exec(first)?.[0] ?? ""
    const stem = first.slice(0, first.length - digits.length)
    for (let n = Number(digits) + 1; n <= Number(last ?? 0); n++)
      cited.add(stem + String(n).padStart(digits.length, "0"))
  }
  return cited
}

interface Definition {
  /** `A1-02`, or `TIN-nnn` for all cases of a family. */
  readonly id: string
  readonly text: string
  readonly tests: ReadonlyArray<string>
  /** The page's text in place of tests. */
  readonly untested: string | null
}

/** The entries `- **ID** Sentences. Tests: ...` of the page. */
export const definitionsOf = (page: string): ReadonlyArray<Definition> =>
  [...page.matchAll(/^- \*\*([A-Z0-9-]+(?:-nnn)?)\*\* (.*(?:\n {2}.*)*)/gm)].map(([, id = "", body = ""]) => {
    const [text = "", held = ""] = body.replaceAll(/\s+/g, " ").split(/ (?=Tests: |Not tested yet: )/)
    return {
      id,
      text,
      tests: [...held.matchAll(/`(test\/[^`]+)`/g)].map(([, file = ""]) => file),
      untested: held.startsWith("Not tested yet: ") ? held : null
    }
  })

/** The limit in words: a rule with several ideas has several sentences. */
const longestSentence = 60

const familyOf = (id: string): string => id.replace(/\d{3}$/, "nnn")

/** Every difference between page and files, as a sentence. `files` are texts by path. */
export const disagreements = (page: string, files: ReadonlyMap<string, string>): ReadonlyArray<string> => {
  const found: Array<string> = []
  const definitions = new Map<string, Definition>()
  for (const definition of definitionsOf(page)) {
    if (definitions.has(definition.id)) found.push(`${definition.id} is defined twice`)
    definitions.set(definition.id, definition)
  }
  const definitionOf = (id: string) =>
    definitions.get(id) ?? (/-\d{3}$/.test(id) ? definitions.get(familyOf(id)) : undefined)

  const citing = new Map<string, Array<string>>()
  const undefinedIds = new Set<string>()
  for (const [file, text] of files)
    for (const cited of citedIn(text)) {
      const id = definitionOf(cited)?.id
      if (id !== undefined) citing.set(id, [...(citing.get(id) ?? []), file])
      else if (!undefinedIds.has(cited)) {
        undefinedIds.add(cited)
        found.push(`${cited} is cited in ${file} and not defined`)
      }
    }

  for (const [file, text] of files)
    if (/\b[Dd]ocument [123]\b/.test(text)) found.push(`${file} names a part of the contract otherwise than "doc N"`)

  for (const { id, text, tests, untested } of definitions.values()) {
    const places = new Set(citing.get(id))
    if (places.size === 0) found.push(`${id} is defined and cited nowhere`)
    if (!/\S\.$/.test(text)) found.push(`${id} does not end with a period`)
    if (text.split(/\. (?=[A-Z`])/).some((sentence) => sentence.split(" ").length > longestSentence))
      found.push(`${id} has a sentence of more than ${longestSentence} words`)
    if (tests.length === 0 && untested === null) found.push(`${id} names no test`)
    if (tests.length > 0 && untested !== null) found.push(`${id} is tested and says that it is not`)
    for (const test of tests) if (!files.has(test)) found.push(`${id} names ${test}, which does not exist`)
    const citingTest = [...places].find((file) => file.endsWith(".test.ts"))
    if (citingTest !== undefined && !tests.some((test) => places.has(test)))
      found.push(`${id} names no test that mentions it, though ${citingTest} does`)
  }
  return found
}

/** This file's planted cases are no citations. */
const self = "test/rules.test.ts"
const pagePath = "docs/rules.md"

const textsUnder = (folder: string, names: RegExp): ReadonlyArray<readonly [string, string]> =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && names.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => path !== self && path !== pagePath)
    .map((path) => [path, readFileSync(join(root, path), "utf8")] as const)

describe("rules", () => {
  it("docs/rules.md defines what is cited, and nothing else", () => {
    const files = new Map([
      ...["src", "cli", "simulator", "scripts", "bench", "test"].flatMap((folder) => textsUnder(folder, /\.tsx?$/)),
      ...textsUnder("docs", /\.md$/),
      ["README.md", readFileSync(join(root, "README.md"), "utf8")] as const
    ])
    assert.deepStrictEqual(disagreements(readFileSync(join(root, pagePath), "utf8"), files), [])
  })

  it.each([
    ["a decision in a comment", "// doc 1, Envelope; A1-02, A1-103).", ["A1-02", "A1-103"]],
    ["a table and a formula", "/** What D10 says (F25). */", ["D10", "F25"]],
    ["a scenario in a title", 'it("SC-ONB-05: one client", () => {})', ["SC-ONB-05"]],
    [
      "a range",
      "A1-09..A1-12, SC-ONB-06..08",
      ["A1-09", "A1-10", "A1-11", "A1-12", "SC-ONB-06", "SC-ONB-07", "SC-ONB-08"]
    ],
    ["cases of a family", "RND-001..003 and TIN-013", ["RND-001", "RND-002", "RND-003", "TIN-013"]],
    [
      "places of letters, digests, uids and escapes",
      '"K3 D3 B3 F3 G3" SHA-256 AES-256 CL-00000041 %F3 xD3 D3x D24 F32',
      []
    ]
  ])("sees %s", (_title, text, cited) => assert.deepStrictEqual([...citedIn(text)], cited))

  const page = [
    "- **A1-02** The gates have one order,",
    "  and the first answers. Tests: `test/a.test.ts`,",
    "  `test/b.test.ts`.",
    "- **TIN-nnn** Numbers. Tests: `test/a.test.ts`."
  ].join("\n")
  const files = new Map([
    ["src/x.ts", "// A1-02, TIN-004"],
    ["test/a.test.ts", "// A1-02"],
    ["test/b.test.ts", ""]
  ])

  it("finds nothing where page and code agree", () => assert.deepStrictEqual(disagreements(page, files), []))

  it.each([
    ["a rule nobody defined", page, [["src/y.ts", "// A1-99"]], ["A1-99 is cited in src/y.ts and not defined"]],
    [
      "a family nobody defined",
      page,
      [["src/y.ts", "// USTIN-001"]],
      ["USTIN-001 is cited in src/y.ts and not defined"]
    ],
    [
      "a rule nobody cites",
      page,
      [
        ["src/x.ts", "// TIN-004"],
        ["test/a.test.ts", ""]
      ],
      ["A1-02 is defined and cited nowhere"]
    ],
    [
      "another name of a part of the contract",
      page,
      [["src/y.ts", "// document 3, Webhook"]],
      ['src/y.ts names a part of the contract otherwise than "doc N"']
    ],
    ["a second definition", `${page}\n${page.split("\n")[3]}`, [], ["TIN-nnn is defined twice"]],
    ["a text without an end", page.replace("Numbers.", "Numbers"), [], ["TIN-nnn does not end with a period"]],
    [
      "a long sentence",
      page.replace("Numbers.", `Numbers. They are ${"very ".repeat(longestSentence)}long.`),
      [],
      [`TIN-nnn has a sentence of more than ${longestSentence} words`]
    ],
    [
      "a rule without a test",
      page.replace("Numbers. Tests: `test/a.test.ts`.", "Numbers."),
      [],
      ["TIN-nnn names no test"]
    ],
    [
      "a test that has moved",
      page.replace("`test/b.test.ts`", "`test/c.test.ts`"),
      [],
      ["A1-02 names test/c.test.ts, which does not exist"]
    ],
    [
      "a test that is about something else",
      page.replace("`test/a.test.ts`,\n  ", ""),
      [],
      ["A1-02 names no test that mentions it, though test/a.test.ts does"]
    ],
    [
      "an untested rule that has tests",
      page.replace("Numbers. Tests:", "Numbers. Not tested yet:"),
      [],
      ["TIN-nnn is tested and says that it is not"]
    ]
  ] as ReadonlyArray<readonly [string, string, ReadonlyArray<readonly [string, string]>, ReadonlyArray<string>]>)(
    "catches %s",
    (_title, planted, changed, expected) =>
      assert.deepStrictEqual(disagreements(planted, new Map([...files, ...changed])), expected)
  )
})
