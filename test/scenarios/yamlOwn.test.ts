/**
 * The scenarios that kill the service or its database, or leave it otherwise than it was: played each on a
 * service of the command's own, of which nothing is left afterwards (operator surface, sim run).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { allScenarios } from "../../simulator/scenarios/runner/findScenarios.ts"
import type { ScenarioResult } from "../../simulator/scenarios/runner/runScenario.ts"
import { runRecorded } from "../operator/operatorHarness.ts"
import { isDeep, played } from "../support/every.ts"
import { eventually } from "../runtime/engine/eventually.ts"

const ids = allScenarios()
  .scenarios.filter(({ own }) => own)
  .map(({ id }) => id)
const main = join(import.meta.dirname, "../../cli/main.ts")
const seeds = played({ usual: [1], deep: [1], every: [1, 2] })
/** One that needs no service of its own: it gets another one than those. */
const chosen = ["SC-CUS-02", ...(isDeep ? ids : ids.slice(0, 1))]
/** Where the runs make their data directories: nobody else's are there. */
const folder = mkdtempSync(join(tmpdir(), "brokerage-own-"))
const { TMPDIR } = process.env
beforeAll(() => void (process.env.TMPDIR = folder))
afterAll(() => {
  if (TMPDIR === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = TMPDIR
  rmSync(folder, { recursive: true, force: true })
})

describe("sim run --own", () => {
  // Most of it is waiting for an outage and for starts: two seeds (EVERY=1) wait at the same time.
  it(`${isDeep ? "every scenario" : "a scenario"} that kills passes, and nothing is left behind`, async () => {
    const runs = await Promise.all(
      seeds.map((seed) => runRecorded(["sim", "run", ...chosen, "--own", "--seed", String(seed), "--json"]))
    )
    for (const { status, json, stderr } of runs) {
      const results: ReadonlyArray<ScenarioResult> = json?.scenarios ?? []
      assert.deepStrictEqual(
        results.flatMap(({ id, failure }) => (failure === null ? [] : [`${id}:${failure.line}: ${failure.sentence}`])),
        [],
        stderr
      )
      assert.deepStrictEqual([status, results.map(({ id }) => id), json.leftOut], [0, chosen, []])
    }
    assert.deepStrictEqual(readdirSync(folder), [])
  }, 900_000)

  it.each([
    ["its terminal closes", (run: ChildProcess) => void run.kill("SIGHUP")],
    ["nobody reads it any more", (run: ChildProcess) => void run.stdout?.destroy()]
  ])(
    "takes its service away when %s",
    async (_, go) => {
      const run = spawn(process.execPath, [main, "sim", "run", "SC-PLT-03", "--own"], {
        stdio: ["ignore", "pipe", "pipe"]
      })
      const ended = once(run, "exit")
      await once(run.stdout, "data")
      await eventually(() => readdirSync(folder).length > 0)
      go(run)
      const [, signal] = await ended
      assert.isNull(signal)
      assert.deepStrictEqual(readdirSync(folder), [])
    },
    90_000
  )
})
