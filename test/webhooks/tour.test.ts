/**
 * `brokerage tour` on a running demo: every step forwards, backwards and from accounts in disorder, without a terminal, with
 * --json and on a terminal with Enter (operator surface, Developers and QA).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Deferred, Effect, Fiber, Redacted } from "effect"
import { execFile, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { tourStepNames } from "../../cli/tour/stepNames.ts"
import { exitStatus } from "../../cli/CliIo.ts"
import { demoReceiver } from "../../cli/demoReceiver.ts"
import { tourSteps } from "../../cli/tour/tourSteps.ts"
import { type Ready, serve } from "../../src/main.ts"
import { runRecorded } from "../operator/operatorHarness.ts"
import { isDeep } from "../support/every.ts"
import { mayLog } from "../support/expectLog.ts"
import { takePrinted } from "../support/printed.ts"
import { makeTestDatabase } from "../support/TestDatabase.ts"
import { hasTool, skipNote } from "../support/tools.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-tour-"))
const main = join(import.meta.dirname, "../../cli/main.ts")
/** The scenarios start a service of their own, which takes most of a minute. */
const quick = tourStepNames.filter((name) => name !== "scenarios")

let end: () => Promise<void>
let key = ""
let url = ""
/** The lines of the demo's screen. */
const shown: Array<string> = []
const perpetual = "BTC-USDC-PERP"
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
          demoReceiver({
            ...told.service,
            dataDir: folder,
            key: told.demo?.key ?? "",
            print: (line) => void shown.push(line)
          })
        )
    )
  )
  const told = await Effect.runPromise(
    Effect.raceFirst(Deferred.await(ready), Effect.andThen(Fiber.join(running), Effect.never))
  )
  takePrinted()
  key = told.demo?.key ?? ""
  url = told.service.url
  end = async () => {
    await Effect.runPromise(Effect.andThen(Deferred.succeed(stop, undefined), Fiber.join(running)))
    takePrinted()
    await database.drop()
  }
}, 180_000)
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
    for (const event of quick.flatMap((name) => tourSteps[name].actions.flatMap(({ events = [] }) => events)))
      assert.match(shown.join("\n"), new RegExp(`^ {2}[0-9:]{8} {2}${event} {2}#\\d+ {2}client \\d+ {2}\\S`, "m"))
    assert.deepStrictEqual(readdirSync(process.cwd()), before)
    assert.deepStrictEqual(readdirSync(join(folder, "tour")).toSorted(), [
      "client.json",
      "statement.csv",
      "statement.pdf"
    ])
    assert.strictEqual(readFileSync(join(folder, "tour/statement.pdf")).subarray(0, 5).toString(), "%PDF-")
  }, 180_000)

  it("names request and answer in a halted market, and plays as soon as it trades, in any state of the account", async () => {
    const done = async (...args: ReadonlyArray<string>) => {
      const { status, stdout, stderr } = await run(...args, "--yes", "--json")
      assert.deepStrictEqual([status, stderr], [exitStatus.done, ""], stdout)
    }
    const send = (path: string, body: object) =>
      promisify(execFile)("curl", [
        "-K",
        join(folder, "demo.curl"),
        "--fail",
        "-d",
        JSON.stringify(body),
        `${url}/partner/v1/clients/1/${path}`
      ])
    await done("sim", "venue", "halt", perpetual)
    const { status, refusal } = await run("tour", "orders", "--json")
    assert.strictEqual(status, exitStatus.refused)
    assert.match(refusal.msg, /^The step orders failed: .*orders was answered \d+ \{/)
    await done("sim", "venue", "resume", perpetual)
    await send("collateral", { partnerRef: "position", direction: "DEPOSIT", amount: "1000" })
    const buy = () => send("orders", { symbol: perpetual, side: "BUY", type: "MARKET", qty: "0.15" })
    const patience = { timeout: 90_000, interval: 250 }
    await vi.waitFor(buy, patience)
    await done("sim", "venue", "halt", perpetual)
    await vi.waitUntil(async () => {
      const { markets }: { readonly markets: ReadonlyArray<{ readonly symbol: string; readonly halted: boolean }> } = (
        await run("market", "list", "--json")
      ).json
      return markets.some(({ symbol, halted }) => symbol === perpetual && halted)
    }, patience)
    await done("sim", "venue", "price", perpetual, "40000")
    const waits = async () => assert.include((await run("closeout", "list")).stdout, "WAITING_MARKET")
    await vi.waitFor(waits, patience)
    await done("sim", "clock", "advance", "3d")
    await done("client", "restrict", "1", "FROZEN", "--reason", "test")
    await done("client", "restrict", "1", "NO_NEW_RISK", "--reason", "test")
    await done("sim", "venue", "resume", perpetual)
    const { prepared } = await played("orders")
    for (const lifted of ["lift 1 FROZEN", "lift 1 NO_NEW_RISK"]) assert.include(JSON.stringify(prepared), lifted)
  }, 180_000)

  it("breaks no line that is pasted, however narrow the terminal, and refuses a folder that it can't write", async () => {
    const narrow = await runRecorded(["tour", "market", "--data-dir", folder], {
      size: () => ({ columns: 30, rows: 24 })
    })
    assert.strictEqual(narrow.status, exitStatus.done)
    assert.include(narrow.stdout, `\n  brokerage sim venue price BTC-USDC-PERP 60000 --data-dir ${folder}\n`)
    const aside = `${folder}/aside`
    renameSync(join(folder, "tour"), aside)
    writeFileSync(join(folder, "tour"), "")
    const { status, stdout, refusal } = await run("tour", "money", "--json")
    assert.deepStrictEqual([status, stdout], [exitStatus.usage, ""])
    assert.strictEqual(refusal.msg, `The tour can not write ${folder}/tour (EEXIST).`)
    rmSync(join(folder, "tour"))
    renameSync(aside, join(folder, "tour"))
  }, 60_000)

  it.skipIf(!hasTool("script"))(
    `the end of input while a request runs stops it at the next question${skipNote("script")}`,
    async () => {
      const line = [process.execPath, main, "tour", "money", "--data-dir", folder].map((word) => `'${word}'`).join(" ")
      const child = spawn("script", ["-qec", line, "/dev/null"])
      let text = ""
      child.stdout.on("data", (chunk: Buffer) => {
        if (text === "") child.stdin.write("\u0004")
        text += chunk.toString("utf8")
      })
      const code = await new Promise((resolve) => child.once("close", resolve))
      assert.strictEqual(code, 0)
      for (const { purpose } of tourSteps.money.actions.slice(1)) assert.notInclude(text, purpose)
    },
    60_000
  )

  it.skipIf(!isDeep)(
    "plays every step backwards, and each of them twice; it shows the time that the scenarios take",
    async () => {
      // The service of the scenarios takes both processors, and the demo's venue then waits for its turn.
      mayLog(/the connection to the venue's (market data|events) is lost/)
      const progress: Array<string | null> = []
      const { status } = await runRecorded(["tour", "scenarios", "--data-dir", folder], {
        progress: (line) => void progress.push(line)
      })
      assert.strictEqual(status, exitStatus.done)
      assert.match(progress.join("\n"), /^Waiting for the service: \d+ s$/m)
      for (const name of quick.toReversed()) for (const _ of [1, 2]) await played(name)
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

  it("with a key that the service does not accept it names the file of the key, and plays nothing", async () => {
    const file = join(folder, "demo.json")
    const demo = readFileSync(file, "utf8")
    writeFileSync(file, demo.replace(key, `${key.slice(0, -4)}AAAA`))
    const { status, stdout, refusal } = await run("tour", "money", "--json")
    writeFileSync(file, demo)
    assert.deepStrictEqual([status, stdout], [exitStatus.refused, ""])
    assert.match(
      refusal.msg,
      /^The service does not accept the key in \S+\/demo\.json \(.*\): remove the file, and restart/
    )
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
