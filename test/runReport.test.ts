/** The closing lines of a test run: the slowest files, skipped tests with their reasons, and the files that grew beyond the bound. */
import { assert, describe, it } from "@effect/vitest"
import { closing, hollow } from "./support/RunReport.ts"
import { missingNeeded, skippedFor, skipReasonOf } from "./support/tools.ts"

const minute = 60_000
const run = {
  tier: "test",
  isWhole: true,
  millis: 9 * minute,
  files: new Map([
    ["test/a.test.ts", 1_000],
    ["test/b.test.ts", 61_500]
  ]),
  skipped: new Map([["hledger not installed: hledger", 2]]),
  notes: new Set<string>(),
  kept: { "test/a.test.ts": 900, "test/b.test.ts": 1_000 }
} as const

describe("the end of a test run", () => {
  it("names its minutes, the slowest files and what was skipped", () =>
    assert.deepStrictEqual(closing(run), [
      "npm test took 9.0 minutes. The 2 slowest files:",
      "   61.5 s  test/b.test.ts",
      "    1.0 s  test/a.test.ts",
      "Skipped:",
      "    2  hledger not installed: hledger"
    ]))

  it("repeats what tests annotated", () =>
    assert.include(closing({ ...run, notes: new Set(["a list is out of date"]) }), "a list is out of date"))

  it("beyond fifteen minutes it names the files that grew", () =>
    assert.deepStrictEqual(closing({ ...run, millis: 15.1 * minute, skipped: new Map() }).slice(3), [
      "npm test took longer than 15 minutes: move samples to the deep tier. Files that grew most:",
      "  +60.5 s  test/b.test.ts"
    ]))

  it("a run of some files has no bound", () =>
    assert.lengthOf(closing({ ...run, isWhole: false, millis: 80 * minute, skipped: new Map() }), 3))

  it("names a file of which no test ran, unless a tool is missing", () => {
    const skipped = { title: "kills it", ran: false }
    const files = new Map([
      ["test/a.test.ts", [skipped, skipped]],
      ["test/b.test.ts", [skipped, { title: "restarts it", ran: true }]],
      ["test/c.test.ts", [{ title: `draws it${skippedFor("no browser")}`, ran: false }]]
    ])
    assert.deepStrictEqual(hollow(files), [
      "test/a.test.ts plays no test in this tier: its row in test/support/tiers.ts must begin in a later one."
    ])
  })

  it("a deep run has no bound", () =>
    assert.lengthOf(closing({ ...run, tier: "deep", millis: 80 * minute, skipped: new Map() }), 3))
})

describe("tools of tests", () => {
  it("the reason of a skipped test stands in its title", () => {
    assert.strictEqual(skipReasonOf(`proves the books${skippedFor("no hledger")}`), "no hledger")
    assert.isNull(skipReasonOf("proves the books"))
  })

  it("a missing needed tool is named with its package, an optional one is not", () =>
    assert.deepStrictEqual(
      missingNeeded((name) => name !== "pdfinfo" && name !== "pdffonts" && name !== "zsh"),
      { names: ["pdfinfo", "pdffonts"], packages: ["poppler-utils"] }
    ))
})
