/**
 * The scenarios behind the examples of the reference, played on a separate service: requests, answers and events still
 * have the recorded shapes (scripts/generateExamples.ts rewrites them).
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { differentShape, distil } from "../../scripts/examples/distil.ts"
import { recorded } from "../../src/http/examples/recorded.ts"
import { runRecorded } from "../operator/operatorHarness.ts"
import { isDeep } from "../support/every.ts"

const scenarios = join(import.meta.dirname, "../../scripts/examples")
const folder = mkdtempSync(join(tmpdir(), "brokerage-examples-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("sim run --record", () => {
  it.runIf(isDeep)(
    "the examples of the reference have the shapes of a run",
    async () => {
      const record = join(folder, "heard.jsonl")
      const files = readdirSync(scenarios).filter((name) => name.endsWith(".yaml"))
      const words = files.map((name) => join(scenarios, name))
      const { status, json, stderr } = await runRecorded([
        "sim",
        "run",
        ...words,
        "--own",
        "--record",
        record,
        "--json"
      ])
      assert.strictEqual(status, 0, `${stderr}${JSON.stringify(json)}`)
      assert.isNull(differentShape(recorded(), distil(readFileSync(record, "utf8"))), "run npm run examples")
    },
    300_000
  )

  it("a file that can't be written is reported before anything is started", async () => {
    const { status, stderr } = await runRecorded(["sim", "run", "SC-PLT-03", "--record", join(folder, "no", "file")])
    assert.strictEqual(status, 2)
    assert.include(stderr, "The file of --record can not be written.")
  })
})
