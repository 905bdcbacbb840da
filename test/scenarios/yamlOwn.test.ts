/**
 * The scenarios that kill the service or its database, or change it permanently: each is played on a service that the
 * command starts, and nothing of that service is left afterwards (operator surface, sim run).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Redacted } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { allScenarios } from "../../simulator/scenarios/runner/findScenarios.ts"
import type { ScenarioResult } from "../../simulator/scenarios/runner/runScenario.ts"
import { isRunning, readPostmasterPid } from "../../src/runtime/adapters/postmasterPid.ts"
import { runRecorded } from "../operator/operatorHarness.ts"
import { isDeep, played } from "../support/every.ts"
import { startRealService } from "../support/RealService.ts"
import { makeTestDatabase } from "../support/TestDatabase.ts"

const ids = allScenarios()
  .scenarios.filter(({ own }) => own)
  .map(({ id }) => id)
const main = join(import.meta.dirname, "../../cli/main.ts")
const seeds = played({ usual: [1], deep: [1], every: [1, 2] })
/** All that need a service of their own, and one that needs none and gets another service. */
const chosen = ["SC-CUS-02", ...ids]
/** The folder in which the runs make their data directories; no other process uses it. */
const folder = mkdtempSync(join(tmpdir(), "brokerage-own-"))
const { TMPDIR } = process.env
beforeAll(() => void (process.env.TMPDIR = folder))
afterAll(() => {
  if (TMPDIR === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = TMPDIR
  rmSync(folder, { recursive: true, force: true })
})

describe("sim run --own", () => {
  // Most of the time is spent waiting for outages and starts, so two seeds (EVERY=1) wait concurrently.
  it.runIf(isDeep)(
    "every scenario that kills passes, and nothing is left behind",
    async () => {
      const runs = await Promise.all(
        seeds.map((seed) => runRecorded(["sim", "run", ...chosen, "--own", "--seed", String(seed), "--json"]))
      )
      for (const { status, json, stderr } of runs) {
        const results: ReadonlyArray<ScenarioResult> = json?.scenarios ?? []
        assert.deepStrictEqual(
          results.flatMap(({ id, failure }) =>
            failure === null ? [] : [`${id}:${failure.line}: ${failure.sentence}`]
          ),
          [],
          stderr
        )
        assert.deepStrictEqual([status, results.map(({ id }) => id), json.leftOut], [0, chosen, []])
      }
      assert.deepStrictEqual(readdirSync(folder), [])
    },
    900_000
  )

  const until = (fact: () => boolean): Promise<void> =>
    vi.waitFor(() => assert.isTrue(fact()), { timeout: 60_000, interval: 20 })

  /** A run with a folder of its own, once its service has begun to start. */
  const begunRun = async (name: string) => {
    const own = mkdtempSync(join(folder, name))
    const run = spawn(process.execPath, [main, "sim", "run", "SC-PLT-03", "--own"], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, TMPDIR: own }
    })
    const ended = once(run, "exit")
    await once(run.stdout, "data")
    await until(() => readdirSync(own).length > 0)
    const end = () => rmSync(own, { recursive: true, force: true })
    return { run, ended, dataDir: join(own, readdirSync(own)[0] ?? ""), left: () => readdirSync(own), end }
  }

  const ends = isDeep ? "its terminal closes, its reader ends, or it is killed" : "it is killed"
  it(`ends its service when ${ends}`, async () => {
    const orderly = async (name: string, go: (run: ChildProcess) => void) => {
      const { run, ended, left, end } = await begunRun(name)
      go(run)
      const [, signal] = await ended
      assert.isNull(signal)
      assert.deepStrictEqual(left(), [])
      end()
    }
    // A killed command removes nothing, so its data directory stays; the service and its database end.
    const killed = async () => {
      const { run, ended, dataDir, end } = await begunRun("killed-")
      await until(() => existsSync(join(dataDir, "service.json")))
      const { pid } = JSON.parse(readFileSync(join(dataDir, "service.json"), "utf8")) as { readonly pid: number }
      const database = readPostmasterPid(join(dataDir, "postgres/cluster"))?.pid ?? 0
      assert.deepStrictEqual([isRunning(pid), isRunning(database)], [true, true])
      run.kill("SIGKILL")
      await ended
      await until(() => !isRunning(pid) && !isRunning(database))
      end()
    }
    const orderlyEnds = [
      () => orderly("terminal-", (run) => void run.kill("SIGHUP")),
      () => orderly("reader-", (run) => void run.stdout?.destroy())
    ]
    await Promise.all([killed(), ...(isDeep ? orderlyEnds : []).map((end) => end())])
  }, 180_000)
})

describe("sim run beside a demo", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "brokerage-beside-"))
  const stops: Array<() => Promise<void>> = []
  afterAll(async () => {
    for (const stop of stops.toReversed()) await stop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  /**
   * `npm test`: a scenario that moves a price, and one that kills its service. A deep run: one that onboards and moves money, one
   * that moves the clock, one that moves a price.
   */
  const some = isDeep ? ["SC-CUS-02", "SC-WHK-01", "SC-ORD-12"] : ["SC-ORD-12", ...ids.slice(0, 1)]

  it("plays on a service of its own and leaves the demo as it is, byte for byte; --here plays on the demo", async () => {
    const database = await makeTestDatabase()
    stops.push(database.drop)
    const demo = await startRealService({ dataDir, databaseUrl: Redacted.value(database.url), demo: true })
    stops.push(demo.stop)
    await demo.done("sim", "venue", "price", "BTC-USDC-PERP", "40000")
    await demo.done("sim", "venue", "fault", "stale-marks", "--for", "1d")
    const state = async () => {
      const venue = await demo.done("sim", "venue", "show")
      const lists = ["partner list", "client list", "queue", "order list 1", "position list 1", "ledger list 1"]
      const more = ["key list DEMO", "webhook deliveries DEMO", "approval list", "audit tail", "settlement list"]
      return {
        held: venue.markets.map(({ symbol, held }: Record<string, unknown>) => ({ symbol, held })),
        faults: venue.faults.map(({ kind, route }: Record<string, unknown>) => ({ kind, route })),
        clock: (await demo.done("sim", "clock", "show")).offsetMillis,
        lists: await Promise.all([...lists, ...more].map((line) => demo.done(...line.split(" "))))
      }
    }
    // The time of the read is not part of the state.
    const written = async () => JSON.stringify(await state(), (name, value) => (name === "asOf" ? null : value))
    const before = await written()
    const run = await runRecorded(["sim", "run", ...some, "--seed", "1", "--data-dir", dataDir])
    assert.strictEqual(run.status, 0, `${run.stdout}${run.stderr}`)
    assert.match(
      run.stdout,
      /^The scenarios play on a temporary sandbox, which starts now\. The demo at https:\S+ stays /
    )
    assert.strictEqual(await written(), before)
    assert.deepStrictEqual(readdirSync(folder), [])
    const here = await demo.cli("sim", "run", "SC-PLT-03", "--here")
    assert.deepStrictEqual([here.status, here.json.own], [0, false], here.stderr)
    assert.notStrictEqual(await written(), before)
  }, 180_000)
})
