/** The scripts of package.json: --help succeeds, and an unknown option causes a sentence instead of a stack trace. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { played } from "../support/every.ts"

const root = join(import.meta.dirname, "../..")
const run = (script: string, ...args: ReadonlyArray<string>) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, script), ...args], { encoding: "utf8" })
  return { status, stdout, stderr }
}

/** Each script ends by the same code (scriptCommand.ts): `npm test` starts one of them. */
const scripts = [
  ["scripts/simulate.ts", ["--seeds", "--seed", "--steps"]],
  ["scripts/crash.ts", ["--rounds", "--target", "--seed", "--rate", "--workers", "--outage"]],
  ["bench/main.ts", ["--quick", "--write", "--only", "--data-dir"]]
] as const

describe.each(played({ usual: scripts.slice(0, 1), deep: scripts }))("%s", (script, options) => {
  it("--help shows every option", () => {
    const { status, stdout, stderr } = run(script, "--help")
    assert.deepStrictEqual([status, stderr], [0, ""])
    for (const option of options) assert.include(stdout, option)
  })

  it("an unknown option is a sentence and status 2", () => {
    const { status, stdout, stderr } = run(script, "--nonsense")
    assert.deepStrictEqual(
      [status, stdout, stderr],
      [2, "", "error: unknown option '--nonsense'\n(--help shows the options)\n"]
    )
  })
})

it("a value out of its range is refused", () => {
  const seeds = run("scripts/simulate.ts", "--seeds", "none")
  assert.strictEqual(seeds.status, 2)
  assert.match(seeds.stderr, /It must be a whole number from 1 to /)
  assert.match(run("scripts/crash.ts", "--target", "none").stderr, /Allowed choices are service, database/)
})

it.each([
  [["--mode", "nonsense"], {}, 'The mode is "nonsense"; it must be fast, test or deep.\n'],
  [[], { SLICE: "15/14" }, 'SLICE is "15/14"; it must be a number and a count, such as 3/14.\n']
])("tests with %j and %j end with one sentence", (args, env, sentence) => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(root, "node_modules/vitest/vitest.mjs"), "list", ...args, "test/tidy.test.ts"],
    { encoding: "utf8", cwd: root, env: { ...process.env, ...env } }
  )
  assert.deepStrictEqual([status, stderr], [1, sentence])
})

it("the tests under an old Node end with one sentence that names the command to run them", () => {
  // An old Node is imitated by a preloaded line, as in launcher.test.ts.
  const old = `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})`
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--import", old, join(root, "node_modules/vitest/vitest.mjs"), "list", "test/tidy.test.ts"],
    { encoding: "utf8", cwd: root }
  )
  assert.strictEqual(status, 1)
  assert.match(stderr, /^This is Node\.js 20\.20\.2, and the tests need 22\.19 or newer: run npm test, or [^\n]*\n$/)
})
