/**
 * The noun that docs/adding-a-noun.md walks through, planted in a copy of the tree: it takes at most thirty files, all of
 * them on that page, and works; whichever place is left out, the compiler, a test or the check of generated files names it.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Compiler } from "./Compiler.ts"
import { compilerOmissions, generatedFiles, migrationOmissions, type TestOmission, testOmissions } from "./omissions.ts"
import { PlantedTree, withInsertions } from "./PlantedTree.ts"

const mostFiles = 30
const minutes = (count: number): number => count * 60_000

let tree: PlantedTree
let compiler: Compiler
beforeAll(() => {
  tree = PlantedTree.make()
  compiler = new Compiler(tree.root)
}, minutes(2))
afterAll(() => {
  compiler.close()
  tree.remove()
})

interface Ran {
  readonly status: number
  readonly output: string
}

const node = (...args: ReadonlyArray<string>): Promise<Ran> =>
  new Promise((resolve) =>
    execFile(process.execPath, args, { cwd: tree.root, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : 1, output: stdout + stderr })
    )
  )

interface Result {
  readonly name: string
  readonly message: string
  readonly assertionResults: ReadonlyArray<{
    readonly fullName: string
    readonly status: string
    readonly failureMessages: ReadonlyArray<string>
  }>
}

/** Runs test files of the copy; only tests with one of these titles, or all. */
const runTests = async (files: ReadonlyArray<string>, titles: ReadonlyArray<string> = []) => {
  const report = join(tree.root, "test-results.json")
  const only = titles.length === 0 ? [] : ["-t", titles.join("|")]
  const args = ["run", "--reporter=json", `--outputFile.json=${report}`, ...only, ...new Set(files)]
  await node(join(tree.root, "node_modules/vitest/vitest.mjs"), ...args)
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as { readonly testResults: ReadonlyArray<Result> }
  const ran = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === "passed" || status === "failed")
      .map((result) => ({ file: name.slice(name.lastIndexOf("/test/") + 1), ...result }))
  )
  return {
    ran,
    /** Tests that fail, and files that do not even begin. */
    failed: [
      ...ran
        .filter(({ status }) => status === "failed")
        .map(({ fullName, failureMessages }) => [fullName, ...failureMessages].join(": ")),
      ...testResults.flatMap(({ message }) => (message === "" ? [] : [message]))
    ]
  }
}

/** Leaves places out together and holds each against what the test it is named by says. */
const leaveOut = (omissions: ReadonlyArray<TestOmission>): Promise<void> =>
  tree.without([...new Set(omissions.flatMap(({ places }) => places))], async () => {
    const { ran } = await runTests(
      omissions.map(({ file }) => file),
      omissions.map(({ test }) => test)
    )
    for (const { places, file, test, missed } of omissions) {
      const found = ran.filter((result) => result.file === file && result.fullName.includes(test))
      assert.deepStrictEqual(
        found.map(({ status }) => status),
        ["failed"],
        `${places.join(", ")}: ${file} ${test}`
      )
      assert.match(found[0]?.failureMessages.join("\n") ?? "", missed, places.join(", "))
    }
  })

describe("a planted noun", () => {
  it(`takes at most ${mostFiles} files, tests included, and docs/adding-a-noun.md names each`, () => {
    assert.isAtMost(tree.places.length, mostFiles, tree.places.join("\n"))
    const page = readFileSync(join(tree.root, "docs/adding-a-noun.md"), "utf8")
    const named = tree.places.map((place) => place.replace(/\d{4}_/, "NNNN_"))
    assert.deepStrictEqual(
      named.filter((place) => !page.includes(`\`${place}\``)),
      []
    )
  })

  it("has an omission for each of its files", () => {
    const all = [...compilerOmissions, ...testOmissions, ...migrationOmissions(tree.places)]
    assert.sameMembers([...new Set(all.flatMap(({ places }) => places))], [...tree.places])
  })

  it("compiles with the whole tree", () => assert.deepStrictEqual(compiler.everything(), []), minutes(5))

  it(
    "passes the linter",
    async () => {
      const { status, output } = await node(join(tree.root, "node_modules/oxlint/bin/oxlint"), "--deny-warnings")
      assert.strictEqual(status, 0, output)
    },
    minutes(2)
  )

  for (const { places, file, missed, part } of compilerOmissions) {
    const what = part === undefined ? "" : ` (${part.source})`
    it(
      `without ${places.join(", ")}${what} ${file} does not compile`,
      async () => {
        const texts = places.map((place): readonly [string, string] => [place, tree.planted(place)])
        const faults = () => compiler.faults(file, places)
        const found =
          part === undefined
            ? await tree.without(places, faults)
            : await tree.changed(new Map(texts.map(([place, text]) => [place, text.replace(part, "")])), faults)
        assert.match(found.join("\n"), missed)
      },
      minutes(2)
    )
  }

  it(
    "leaves no generated file unnoticed",
    async () => {
      const { status, output } = await node("scripts/generate.ts", "--check")
      assert.strictEqual(status, 1)
      for (const file of generatedFiles) assert.include(output, file)
      const written = await node("scripts/generate.ts")
      assert.strictEqual(written.status, 0, written.output)
    },
    minutes(5)
  )

  const omitted = [...testOmissions, ...migrationOmissions([])]
  it(
    "works: its routes, machine, event and command, in the way of closing; the books and all rules hold",
    async () => {
      const more = [
        "test/tidy.test.ts",
        "test/rules.test.ts",
        "test/machines/all.test.ts",
        "test/machines/sandbox.test.ts",
        "test/http/webhooks.test.ts",
        "test/http/envelope.test.ts",
        "test/scenarios/vouchers.test.ts"
      ]
      const { ran, failed } = await runTests([...omitted.map(({ file }) => file), ...more])
      assert.deepStrictEqual(failed, [])
      for (const { file, test } of omitted) {
        assert.isTrue(
          ran.some((result) => result.file === file && result.fullName.includes(test)),
          `${file} ${test}`
        )
      }
      assert.isAtLeast(ran.filter(({ file }) => file === "test/scenarios/vouchers.test.ts").length, 2)
    },
    minutes(10)
  )

  it(
    "left out of tests, words and command line, each place is named by a test",
    () => leaveOut(testOmissions),
    minutes(10)
  )

  it(
    "without its table it is named by the tests of catalogue and dead code",
    () => leaveOut(migrationOmissions(tree.places).slice(1)),
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
