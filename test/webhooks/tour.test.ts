/**
 * `brokerage tour` on a running demo: every step forwards, backwards and from accounts in disorder, without a terminal, with
 * --json and on a terminal with Enter (operator surface, Developers and QA).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Deferred, Effect, Fiber, Redacted } from "effect"
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { tourStepNames } from "../../cli/tour/stepNames.ts"
import { exitStatus } from "../../cli/CliIo.ts"
import { demoReceiver } from "../../cli/demoReceiver.ts"
import { tourSteps } from "../../cli/tour/tourSteps.ts"
import { type Ready, serve } from "../../src/main.ts"
import { runRecorded } from "../operator/operatorHarness.ts"
import { isDeep } from "../support/every.ts"
import { takePrinted } from "../support/printed.ts"
import { makeTestDatabase } from "../support/TestDatabase.ts"
import { hasTool, skipNote } from "../support/tools.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-tour-"))
const main = join(import.meta.dirname, "../../cli/main.ts")
/** The scenarios start a service of their own, which takes most of a minute. */
const quick = tourStepNames.filter((name) => name !== "scenarios")

let end: () => Promise<void>
let key = ""
beforeAll(async () => {
  const database = await makeTestDatabase()
  const stop = Deferred.makeUnsafe<void>()
  const ready = Deferred.makeUnsafe<Ready>()
  const running = Effect.runFork(
    serve(
      {
        host: "127.0.0.1",
        port: 0,
        dataDir: folder,
        databaseUrl: Redacted.value(database.url),
        venueUrl: null,
        venueKeyFile: null,
        venueCa: null,
        tls: null,
        sandbox: true,
        demo: true,
        json: true,
        edgeHosts: [],
        role: "all",
        routerUrls: [],
        routerCa: null,
        passOperator: false,
        allowWebhookHosts: [],
        fourEyes: null,
        leverageProfile: "default",
        blockedJurisdictions: null,
        identityProviders: null,
        firm: null,
        killAt: null
      },
      Deferred.await(stop),
      (told) =>
        Effect.andThen(
          Deferred.succeed(ready, told),
          demoReceiver({ ...told.service, dataDir: folder, key: told.demo?.key ?? "", print: () => undefined })
        )
    )
  )
  const told = await Effect.runPromise(
    Effect.raceFirst(Deferred.await(ready), Effect.andThen(Fiber.join(running), Effect.never))
  )
  takePrinted()
  key = told.demo?.key ?? ""
  end = async () => {
    await Effect.runPromise(Effect.andThen(Deferred.succeed(stop, undefined), Fiber.join(running)))
    takePrinted()
    await database.drop()
  }
}, 60_000)
afterAll(async () => {
  await end()
  rmSync(folder, { recursive: true, force: true })
})

const run = (...args: ReadonlyArray<string>) => runRecorded([...args, "--data-dir", folder])

/** Plays a step with --json; it must pass, with every webhook that its table names. */
const played = async (name: (typeof tourStepNames)[number]) => {
  const { status, json, stdout, stderr } = await run("tour", name, "--json")
  assert.deepStrictEqual([status, stderr], [exitStatus.done, ""])
  assert.notInclude(stdout, key)
  const [step] = json.steps
  assert.deepStrictEqual([step.step, step.actions.length], [name, tourSteps[name].actions.length])
  for (const [at, { events = [] }] of tourSteps[name].actions.entries()) {
    const came = step.actions[at].webhooks.map(({ event }: { readonly event: string }) => event)
    for (const event of events) assert.include(came, event)
  }
  return step
}

describe("brokerage tour", () => {
  it("plays all steps without a terminal, forwards; files land in the named folder only", async () => {
    const before = readdirSync(process.cwd())
    for (const name of quick) {
      const { status, stdout, stderr } = await run("tour", name)
      assert.deepStrictEqual([status, stderr], [exitStatus.done, ""])
      for (const sentence of [tourSteps[name].sentence, ...tourSteps[name].actions.map(({ purpose }) => purpose)])
        assert.include(stdout, sentence)
      assert.notInclude(stdout, key)
      assert.notInclude(stdout, "Enter:")
    }
    assert.deepStrictEqual(readdirSync(process.cwd()), before)
    assert.deepStrictEqual(readdirSync(join(folder, "tour")).toSorted(), [
      "client.json",
      "statement.csv",
      "statement.pdf"
    ])
    assert.strictEqual(readFileSync(join(folder, "tour/statement.pdf")).subarray(0, 5).toString(), "%PDF-")
  }, 60_000)

  it("plays after days passed, an operator froze the client, and a close-out was broken off", async () => {
    const done = async (...args: ReadonlyArray<string>) => {
      const { status, stderr } = await run(...args, "--yes", "--json")
      assert.deepStrictEqual([status, stderr], [exitStatus.done, ""])
    }
    await done("sim", "clock", "advance", "3d")
    await done("client", "restrict", "1", "FROZEN", "--reason", "test")
    const step = await played("closeout")
    assert.include(JSON.stringify(step.prepared), "lift 1 FROZEN")
    await done("sim", "venue", "price", "BTC-USDC-PERP", "90000")
    await done("client", "restrict", "1", "NO_NEW_RISK", "--reason", "test")
    // The service learns of the resumption from the venue's market data.
    await vi.waitFor(() => played("orders"), { timeout: 30_000, interval: 250 })
  }, 60_000)

  it("a step that fails names request and answer, and has the status of a refusal", async () => {
    assert.strictEqual((await run("sim", "venue", "halt", "BTC-USDC-PERP", "--yes")).status, exitStatus.done)
    const { status, refusal } = await run("tour", "orders", "--json")
    assert.strictEqual(status, exitStatus.refused)
    assert.match(refusal.msg, /^The step orders failed: .*orders was answered \d+ \{/)
    assert.strictEqual((await run("sim", "venue", "resume", "BTC-USDC-PERP", "--yes")).status, exitStatus.done)
    await played("orders")
  }, 60_000)

  // The program gives a command a terminal of its own.
  it.skipIf(!hasTool("script"))(
    `on a terminal it waits for Enter after each request, and q stops it${skipNote("script")}`,
    async () => {
      const line = [process.execPath, main, "tour", "--data-dir", folder].map((word) => `'${word}'`).join(" ")
      const child = spawn("script", ["-qec", line, "/dev/null"])
      let text = ""
      let prompts = 0
      child.stdout.on("data", (chunk: Buffer) => {
        text += chunk.toString("utf8")
        const found = text.split("Enter: next, q: stop").length - 1
        if (found > prompts) child.stdin.write((prompts = found) === 4 ? "q\n" : "\n")
      })
      const code = await new Promise((resolve) => child.once("close", resolve))
      assert.deepStrictEqual([code, prompts], [0, 4])
      for (const { purpose } of tourSteps.money.actions) assert.include(text.replaceAll(/\s+/g, " "), purpose)
      assert.notInclude(text, key)
      assert.notInclude(text, tourSteps.orders.sentence)
    },
    60_000
  )

  it.skipIf(!isDeep)(
    "plays every step backwards, and each of them twice",
    async () => {
      for (const name of tourStepNames.toReversed()) await played(name)
      for (const name of quick) for (const _ of [1, 2]) await played(name)
    },
    300_000
  )
})

describe("brokerage tour, refused", () => {
  it("without a running demo it prints the remedy in one sentence", async () => {
    const empty = join(folder, "empty")
    mkdirSync(empty)
    const { status, stdout, stderr } = await runRecorded(["tour", "--data-dir", empty])
    assert.deepStrictEqual([status, stdout], [exitStatus.unreachable, ""])
    assert.match(stderr, /^error: No demo is running in \S+: start one with npm start .*\n$/)
    assert.deepStrictEqual(readdirSync(empty), [])
  })

  it.each([
    ["ordres", /The steps are money, market, .*; did you mean "orders"\?/],
    ["nothing", /The steps are money, market, [a-z, ]+scenarios\./]
  ])("an unknown step is wrong usage: %s", async (name, sentence) => {
    const { status, stderr } = await run("tour", name)
    assert.strictEqual(status, exitStatus.usage)
    assert.match(stderr, sentence)
  })
})
