/** Runs scripts and tests of a tree in processes of their own. */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"

export interface Ran {
  readonly status: number
  readonly output: string
}

/** A script of the tree, by its relative path, or of an installed package. */
export const runNode = (root: string, ...args: ReadonlyArray<string>): Promise<Ran> =>
  new Promise((resolve) =>
    execFile(
      process.execPath,
      args,
      { cwd: root, maxBuffer: 64 * 1024 * 1024, env: { ...process.env, NO_COLOR: "1" } },
      (error, stdout, stderr) => resolve({ status: error === null ? 0 : 1, output: stdout + stderr })
    )
  )

export interface TestResult {
  readonly file: string
  /** Titles from the outermost description to the test. */
  readonly title: string
  readonly passed: boolean
  /** The printed text of a failure, differences included. */
  readonly said: string
}

interface Report {
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly message: string
    readonly assertionResults: ReadonlyArray<{
      readonly title: string
      readonly fullName: string
      readonly status: string
    }>
  }>
}

/** Runs the tests of some files whose titles match. `broken`: files that did not start, with the reason. */
export const runTests = async (
  root: string,
  files: ReadonlyArray<string>,
  titles: ReadonlyArray<string>
): Promise<{ readonly results: ReadonlyArray<TestResult>; readonly broken: ReadonlyArray<string> }> => {
  const report = join(root, "test-results.json")
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`]
  const vitest = join(root, "node_modules/vitest/vitest.mjs")
  const { output } = await runNode(root, vitest, "run", ...reporters, "-t", titles.join("|"), ...new Set(files))
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report
  const failures = output.split(/⎯\[\d+\/\d+\]⎯/)
  return {
    results: testResults.flatMap(({ name, assertionResults }) => {
      const file = name.slice(name.lastIndexOf("/test/") + 1)
      return assertionResults
        .filter(({ status }) => status === "passed" || status === "failed")
        .map(({ title, fullName, status }) => ({
          file,
          title: fullName,
          passed: status === "passed",
          said: failures.filter((part) => part.includes(`${file} > `) && part.includes(title)).join("\n")
        }))
    }),
    broken: testResults.flatMap(({ name, message }) => (message === "" ? [] : [`${name}: ${message}`]))
  }
}
