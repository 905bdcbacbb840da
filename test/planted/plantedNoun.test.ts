/**
 * The trading noun that docs/adding-a-noun.md walks through, planted in a copy of the tree. It changes at most twenty existing
 * files, and five more for its operator command; the page names each. It works at the simulated venue, also over kill -9. If any
 * place is left out, the compiler, a test or the check of generated files names it.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { commandEdits, edits } from "../fixtures/plantedNoun/edits.ts"
import { Compiler } from "./Compiler.ts"
import { compilerOmissions, generatedFiles, otherOmissions, type TestOmission, testOmissions } from "./omissions.ts"
import { PlantedTree, withInsertions } from "./PlantedTree.ts"
import { runNode, runTests } from "./runTests.ts"

const mostChanged = 20
const mostForCommand = 5
const minutes = (count: number): number => count * 60_000

let tree: PlantedTree
beforeAll(() => {
  tree = PlantedTree.make()
}, minutes(2))
afterAll(() => tree.remove())

/** Leaves places out together. The test of each place has to fail, with the expected text in its message. */
const leaveOut = (omissions: ReadonlyArray<TestOmission>): Promise<void> =>
  tree.without([...new Set(omissions.flatMap(({ places }) => places))], async () => {
    const { results } = await runTests(
      tree.root,
      omissions.map(({ file }) => file),
      omissions.map(({ test }) => test)
    )
    for (const { places, file, test, missed } of omissions) {
      const found = results.filter((result) => result.file === file && result.title.includes(test))
      const of = `${places.join(", ")}: ${file} ${test}`
      assert.deepStrictEqual(
        found.map(({ passed }) => passed),
        [false],
        of
      )
      assert.match(found[0]?.said ?? "", missed, of)
    }
  })

/** Further tests that the planted tree has to pass: its layout, imports, rules and events. */
const rules = ["the layout rules hold", "no import circles", "defines what is cited", "events produced"]
const filesOfRules = [
  "test/tidy.test.ts",
  "test/rules.test.ts",
  "test/machines/all.test.ts",
  "test/machines/sandbox.test.ts",
  "test/http/webhooks.test.ts",
  "test/http/envelope.test.ts"
]

describe("a planted noun", () => {
  it(`changes at most ${mostChanged} existing files, and docs/adding-a-noun.md names each place and the counts`, () => {
    const changed = Object.keys(edits)
    const ofCommand = Object.keys(commandEdits)
    assert.isAtMost(changed.length, mostChanged, changed.join("\n"))
    assert.isAtMost(ofCommand.length, mostForCommand, ofCommand.join("\n"))
    const page = readFileSync(join(tree.root, "docs/adding-a-noun.md"), "utf8").replaceAll(/\s+/g, " ")
    const brought = tree.places.length - changed.length - ofCommand.length
    const commandFiles = tree.places.filter(
      (place) => /^(cli|src\/http(\/api)?\/operator)\//.test(place) && !ofCommand.includes(place)
    ).length
    assert.include(
      page,
      `The noun brings ${brought - commandFiles} new files and changes ${changed.length} existing ones`
    )
    assert.include(
      page,
      `Its operator command brings ${commandFiles} new files and changes ${ofCommand.length} existing ones`
    )
    assert.deepStrictEqual(
      tree.places.filter((place) => !page.includes(`\`${place}\``)),
      []
    )
  })

  it("has an omission for each of its files", () => {
    const all = [...compilerOmissions, ...testOmissions, ...otherOmissions]
    assert.sameMembers([...new Set(all.flatMap(({ places }) => places))], [...tree.places])
  })

  it(
    "passes the linter",
    async () => {
      const { status, output } = await runNode(
        tree.root,
        join(tree.root, "node_modules/oxlint/bin/oxlint"),
        "--deny-warnings"
      )
      assert.strictEqual(status, 0, output)
    },
    minutes(2)
  )

  describe("in the compiler", () => {
    let compiler: Compiler
    beforeAll(() => {
      compiler = new Compiler(tree.root)
    }, minutes(2))
    // The compiler uses some gigabytes, which the next tests need.
    afterAll(() => compiler.close())

    it("compiles with the whole tree", () => assert.deepStrictEqual(compiler.everything(), []), minutes(5))

    for (const { places, file, missed, part } of compilerOmissions) {
      const what = part === undefined ? "" : ` (${part.source})`
      it(
        `without ${places.join(", ")}${what} ${file} does not compile`,
        async () => {
          const texts = places.map((place): readonly [string, string] => [place, tree.planted(place)])
          const faults = () =>
            compiler.faults(
              file,
              places.map((place) => tree.actual(place))
            )
          const found =
            part === undefined
              ? await tree.without(places, faults)
              : await tree.changed(new Map(texts.map(([place, text]) => [place, text.replace(part, "")])), faults)
          assert.match(found.join("\n"), missed)
        },
        minutes(2)
      )
    }
  })

  it(
    "leaves no generated file unnoticed",
    async () => {
      const { status, output } = await runNode(tree.root, "scripts/generate.ts", "--check")
      assert.strictEqual(status, 1)
      for (const file of generatedFiles) assert.include(output, file)
      // Only this check reads the dump of the schema.
      for (const script of ["Machines", "OpenApi", "Sandbox", "Commands"]) {
        const written = await runNode(tree.root, `scripts/generate${script}.ts`)
        assert.strictEqual(written.status, 0, written.output)
      }
    },
    minutes(5)
  )

  const played = ["test/scenarios/vouchers.test.ts", "test/crash/voucherCrash.test.ts"]
  const omitted = [...testOmissions, ...otherOmissions]
  it(
    "works: bought, paid, stated, explained, compared and given up, also over kill -9; the books and all rules hold",
    async () => {
      const { results, broken } = await runTests(
        tree.root,
        [...omitted.map(({ file }) => file), ...filesOfRules, ...played],
        [...omitted.map(({ test }) => test), ...rules, "voucher"]
      )
      assert.deepStrictEqual([broken, results.filter(({ passed }) => !passed)], [[], []])
      for (const title of [...omitted.map(({ test }) => test), ...rules]) {
        assert.isTrue(
          results.some((result) => result.title.includes(title)),
          title
        )
      }
      assert.lengthOf(
        results.filter(({ file }) => played.includes(file)),
        6
      )
    },
    minutes(10)
  )

  it(
    "left out of tests, words and command line, each place is named by a test",
    () => leaveOut(testOmissions),
    minutes(10)
  )

  it(
    "left out of the schema, or without its command, it is named by a test",
    () => leaveOut(otherOmissions),
    minutes(5)
  )
})

describe("planting", () => {
  it("refuses an anchor that has moved or is there twice", () => {
    const put = (text: string) => withInsertions("x.ts", text, [{ after: "a", lines: ["b"] }])
    assert.strictEqual(put("  a\nc"), "  a\nb\nc")
    assert.throws(() => put("c"), "x.ts has not exactly one line: a")
    assert.throws(() => put("a\na"), "x.ts has not exactly one line: a")
  })
})
