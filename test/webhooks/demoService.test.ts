/**
 * The webhooks of a sandbox from end to end: `serve --demo` with its receiver, the curl lines' requests, the signed events
 * that come of them, a second start, and `sim partner listen` beside it (operator surface, serve and Developers and QA).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Redacted, Schedule } from "effect"
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { demoReceiver } from "../../cli/demoReceiver.ts"
import { makePartnerClient } from "../../simulator/partner/PartnerClient.ts"
import { demoScreen } from "../../src/demoScreen.ts"
import { type Ready, serve } from "../../src/main.ts"
import type { ServeOptions } from "../../src/serveOptions.ts"
import { runRecorded } from "../operator/operatorHarness.ts"
import { isDeep } from "../support/every.ts"
import { makeTestDatabase } from "../support/TestDatabase.ts"
import { parseCsv } from "../support/parseCsv.ts"
import { expectLog } from "../support/expectLog.ts"
import { demoLines } from "./demoLines.ts"
import { paper } from "./paper.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-demo-"))
let database: Awaited<ReturnType<typeof makeTestDatabase>>
beforeAll(async () => {
  database = await makeTestDatabase()
})
afterAll(async () => {
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

const optionsOf = (over: Partial<ServeOptions> = {}): ServeOptions => ({
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
  killAt: null,
  ...over
})

/** The service in this process, with what the terminal of `npm start` would show of webhooks. */
const startDemo = Effect.gen(function* () {
  const stop = yield* Deferred.make<void>()
  const ready = yield* Deferred.make<Ready>()
  const sheet = paper()
  const running = yield* Effect.forkChild(
    serve(optionsOf(), Deferred.await(stop), (told) =>
      Effect.andThen(
        Deferred.succeed(ready, told),
        demoReceiver({
          ...told.service,
          dataDir: folder,
          key: told.demo?.key ?? "",
          print: (line) => sheet.print(`${line}\n`)
        })
      )
    )
  )
  const { service, demo } = yield* Effect.raceFirst(
    Deferred.await(ready),
    Effect.flatMap(Fiber.join(running), () => Effect.die(new Error("ended before it was ready")))
  )
  const ended = Effect.andThen(Deferred.succeed(stop, undefined), Fiber.join(running))
  const client = yield* makePartnerClient({
    origin: () => service.url,
    key: Redacted.make(demo?.key ?? ""),
    ca: readFileSync(service.caFile ?? "", "utf8"),
    connections: 1
  })
  const report = (partnerRef: string) =>
    client.send({
      method: "POST",
      path: `/partner/v1/clients/${demo?.clientId}/collateral`,
      idempotencyKey: partnerRef,
      body: JSON.stringify({ partnerRef, direction: "DEPOSIT", amount: "250.00" })
    })
  const request = (idempotencyKey: string) =>
    client.send({
      method: "POST",
      path: `/partner/v1/clients/${demo?.clientId}/rfq`,
      idempotencyKey,
      body: '{"symbol":"BTC-USDC-KO","side":"BUY","qty":"0.01","barrier":{"level":"59000"}}'
    })
  /** A printed curl line, its key completed as the shell would. */
  const paste = (line: string, at: string) => {
    const [, url = ""] = / '?(https:[^' ]+)'?$/.exec(line) ?? []
    const [, body = null] = /--data '(.+)' https/.exec(line) ?? []
    const [, key = null] = /Idempotency-Key: ([^"']+)/.exec(line) ?? []
    return client.send({
      method: body === null ? "GET" : "POST",
      path: url.slice(service.url.length),
      ...(body === null || key === null
        ? {}
        : { body: body.replace("'$(date +%s)'", at), idempotencyKey: key.replace("$(date +%s)", at) })
    })
  }
  const lines = demo === null ? [] : demoLines(demo, service, folder).split("\n")
  const screenOf = (dataDir: string): string => (demo === null ? "" : demoScreen(demo, service, dataDir, 0))
  return { demo, screenOf, sheet, ended, report, request, lines, paste }
})

/** Runs a printed line of the command. */
const pasted = (line: string) =>
  Effect.promise(() =>
    runRecorded(
      line
        .replace(/^.* brokerage /, "")
        .replaceAll("'", "")
        .split(" ")
    )
  )

/** The lines to paste under the heading that begins so. */
const under = (lines: ReadonlyArray<string>, heading: string): ReadonlyArray<string> => {
  const from = lines.findIndex((line) => line.startsWith(heading)) + 1
  return lines.slice(from, lines.indexOf("", from)).filter((line) => line.startsWith("  "))
}

/** The lines to paste, without the rows that need a terminal; a row that ends in a backslash continues. */
const curlLines = (screen: string): ReadonlyArray<string> => screen.match(/^ {2}curl (.*\\\n)*.*$/gm) ?? []

describe("webhooks of the sandbox", () => {
  it.live(
    "serve --demo: the screen fits a terminal, holds no key, and its curl lines act once however often pasted",
    () =>
      Effect.gen(function* () {
        expectLog(/^\{"ready":true,/)
        expectLog(/stopping: finishing the accepted requests/)
        const shape = (text: string, tag = "") =>
          text
            .replaceAll(tag, "TAG")
            .replace(/127\.0\.0\.1:\d+/g, "HOST")
            .replace(/1, .* USDC/, "")
        const shapes: Array<string> = []
        for (const start of [1, 2]) {
          const { demo, screenOf, ended } = yield* startDemo
          const screen = screenOf(folder)
          const usual = screen.replaceAll(folder, ".brokerage").split("\n")
          assert.isAtMost(usual.length, 22)
          assert.isAtMost(Math.max(...usual.map((row) => row.length)), 80, screen)
          assert.notInclude(screen, demo?.key ?? "")
          assert.match(screen, /1, \w+ \w+, 1,[0-9]{3}\.00 USDC, may trade everything/)
          assert.strictEqual(statSync(join(folder, "demo.curl")).mode & 0o777, 0o600)
          const lines = curlLines(screen)
          assert.lengthOf(lines, 3)
          const bash = (line: string) =>
            Effect.promise(async () => (await promisify(execFile)("bash", ["-c", line])).stdout)
          for (const line of lines) {
            const first = yield* bash(line)
            assert.match(first, /^\{.*"code":0.*\}\n$/, `start ${start}: ${line}`)
            assert.strictEqual(yield* bash(line), first)
          }
          shapes.push(shape(screenOf(".brokerage"), demo?.tag))
          assert.strictEqual(yield* ended, "stopped")
        }
        const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8")
        const [, inReadme = "", tag] = /```text\n(Partner Brokerage [^`]*new-(\w+)[^`]*)\n```/.exec(readme) ?? []
        assert.deepStrictEqual(shapes, [shape(inReadme, tag), shape(inReadme, tag)])
      }).pipe(Effect.scoped)
  )

  it.live("serve --demo: pasting the collateral line shows the signed event, also after a second start", () =>
    Effect.gen(function* () {
      expectLog(/^\{"ready":true,/)
      expectLog(/stopping: finishing the accepted requests/)
      for (const ref of ["first", "second"]) {
        const { sheet, report, ended } = yield* startDemo
        yield* sheet.line(/signature checked/)
        assert.strictEqual((yield* report(ref)).status, 201)
        const line = yield* sheet.line(/collateral\.booked/)
        assert.match(line, /^ {2}[0-9:]{8} {2}collateral\.booked {2}#[0-9]+ {2}client 1 {2}DEPOSIT 250\.000000 USDC$/)
        assert.strictEqual(yield* ended, "stopped")
      }
    }).pipe(Effect.scoped)
  )

  it.live(
    "serve --demo: pasting the lines of a contract opens it and knocks it out, again and again, and shows its items",
    () =>
      Effect.gen(function* () {
        expectLog(/^\{"ready":true,/)
        expectLog(/stopping: finishing the accepted requests/)
        const { sheet, request, ended } = yield* startDemo
        yield* sheet.line(/signature checked/)
        const price = (at: string) =>
          Effect.promise(() => runRecorded(["sim", "venue", "price", "BTC-USDC-KO", at, "--data-dir", folder]))
        const items = /^ {2}[0-9:]{8} {2}settlement\.item_created {2}#[0-9]+ {2}client 1 {2}.+$/
        for (const [round, key] of ["contract-1", "contract-2"].entries()) {
          assert.strictEqual((yield* price("60000")).status, 0)
          assert.strictEqual((yield* request(key)).status, 200)
          yield* sheet.line(items, 2 * round + 1)
          assert.strictEqual((yield* price("58900")).status, 0)
          yield* sheet.line(items, 2 * round + 2)
        }
        assert.strictEqual(yield* ended, "stopped")
      }).pipe(Effect.scoped),
    60_000
  )

  it.live(
    "serve --demo: pasting the lines of orders buys, offers, shows position and margin, and sells, again and again",
    () =>
      Effect.gen(function* () {
        expectLog(/^\{"ready":true,/)
        expectLog(/stopping: finishing the accepted requests/)
        const { sheet, lines, paste, ended } = yield* startDemo
        yield* sheet.line(/signature checked/)
        const items = /^ {2}[0-9:]{8} {2}settlement\.item_created {2}#[0-9]+ {2}client 1 {2}.+$/
        const [first = "", market = "", limit = "", positions = "", margin = "", last = "", trades = ""] = under(
          lines,
          "Buy at the market"
        )
        const answered = (line: string, at: string) =>
          Effect.map(paste(line, at), ({ body }) => JSON.parse(body.toString()))
        for (const [round, at] of ["1", "2"].entries()) {
          assert.strictEqual((yield* pasted(first)).status, 0)
          assert.strictEqual((yield* answered(market, at)).state, "FILLED")
          const { orderId, state } = yield* answered(limit, at)
          assert.strictEqual(state, "ACKED")
          assert.strictEqual((yield* answered(positions, at)).positions[0].netQty, "0.0010")
          assert.deepInclude(yield* answered(margin, at), {
            riskState: "NORMAL",
            openOrders: 1,
            orderMargin: "0.000000"
          })
          assert.strictEqual((yield* pasted(last)).status, 0)
          // Of the purchase its commission; of the sale its result and its commission.
          yield* sheet.line(items, 3 * (round + 1))
          const { trades: told } = yield* answered(trades, at)
          assert.deepStrictEqual(
            told.map(({ side }: { readonly side: string }) => side),
            ["SELL", "BUY"]
          )
          assert.deepInclude(told[0], { orderId, price: "60500.0" })
        }
        assert.strictEqual(yield* ended, "stopped")
      }).pipe(Effect.scoped),
    60_000
  )

  it.live(
    "serve --demo: pasting the lines of a swap lends, lets the day pass and shows what came back, again and again",
    () =>
      Effect.gen(function* () {
        expectLog(/^\{"ready":true,/)
        expectLog(/stopping: finishing the accepted requests/)
        const { sheet, lines, paste, ended } = yield* startDemo
        yield* sheet.line(/signature checked/)
        const [offers = "", bring = "", lend = "", day = "", swaps = "", balances = ""] = under(lines, "Bring 100 USDC")
        const [, board = ""] = /\$\((.+\?symbol=USDC-SWAP') \|/.exec(offers) ?? []
        for (const [round, at] of ["21", "22"].entries()) {
          const offer = yield* Effect.repeat(
            Effect.map(paste(board, at), ({ body }) => JSON.parse(body.toString()).data?.offers?.[0]),
            // The board follows the clock within two seconds.
            { until: (found) => found !== undefined, schedule: Schedule.spaced("100 millis") }
          )
          assert.strictEqual(offer.tenorDays, 1)
          assert.strictEqual((yield* paste(bring, at)).status, 201)
          const taken = JSON.parse((yield* paste(lend.replace("$OFFER", offer.offerId), at)).body.toString()).data
          assert.deepInclude(taken, { state: "OPEN", notional: "100.000000" })
          assert.strictEqual((yield* pasted(day)).status, 0)
          yield* sheet.line(/^ {2}[0-9:]{8} {2}swap\.settled {2}#[0-9]+ {2}client 1 {2}.+$/, round + 1)
          const [settled] = JSON.parse((yield* paste(swaps, at)).body.toString()).data.swaps
          assert.deepInclude(settled, { swapId: taken.swapId, state: "MATURED", paid: taken.expectedPayout })
          const [usdc] = JSON.parse((yield* paste(balances, at)).body.toString()).balances
          assert.deepInclude(usdc, { currency: "USDC", staked: "0.000000" })
        }
        assert.strictEqual(yield* ended, "stopped")
      }).pipe(Effect.scoped),
    60_000
  )

  it.live(
    "serve --demo: pasting the lines of a statement into a shell makes it and saves files that say what the ledger says",
    () =>
      Effect.gen(function* () {
        expectLog(/^\{"ready":true,/)
        expectLog(/stopping: finishing the accepted requests/)
        const { sheet, lines, paste, ended } = yield* startDemo
        yield* sheet.line(/signature checked/)
        const shell = under(lines, "Make a statement").join("\n")
        yield* Effect.promise(() => promisify(execFile)("sh", ["-ec", shell], { cwd: folder }))
        yield* sheet.line(/^ {2}[0-9:]{8} {2}statement\.ready {2}#[0-9]+ {2}client 1 {2}.+$/)
        const [ledgerLine = ""] = under(lines, "Read its ledger")
        const { postings } = JSON.parse((yield* paste(ledgerLine, "")).body.toString()).data as {
          readonly postings: ReadonlyArray<{
            readonly postingId: number
            readonly amount: string
            readonly type: string
          }>
        }
        const [titles = [], ...rows] = parseCsv(readFileSync(join(folder, "statement.csv"), "utf8"))
        const cell = (row: ReadonlyArray<string>, name: string) => row[titles.indexOf(name)]
        for (const { postingId: id, amount, type } of postings) {
          const row = rows.find((each) => cell(each, "postingId") === String(id)) ?? []
          assert.deepStrictEqual([cell(row, "amount"), cell(row, "type")], [amount, type])
        }
        assert.isNotEmpty(postings)
        const pdf = readFileSync(join(folder, "statement.pdf"))
        assert.strictEqual(pdf.subarray(0, 8).toString(), "%PDF-1.7")
        assert.isTrue(pdf.subarray(-6).toString().includes("%%EOF"))
        const proof = yield* Effect.promise(() =>
          runRecorded(["statement", "verify", join(folder, "statement.pdf"), "--json", "--data-dir", folder])
        )
        assert.deepInclude(proof.json, { ok: true, file: true, model: true, seal: true })
        assert.strictEqual(yield* ended, "stopped")
      }).pipe(Effect.scoped),
    60_000
  )

  it.live("operator surface: sim partner listen takes over; a delivery it fails comes again with the same id", () =>
    Effect.gen(function* () {
      expectLog(/^\{"ready":true,/)
      expectLog(/stopping: finishing the accepted requests/)
      const { demo, sheet, report, ended } = yield* startDemo
      yield* sheet.line(/signature checked/)
      const screen = paper()
      let stop = () => {}
      const stopped = new Promise<void>((resolve) => (stop = resolve))
      const where = ["--data-dir", folder]
      const ran = runRecorded(
        ["sim", "partner", "listen", "--key", demo?.key ?? "", "--fail", "1", "--json", ...where],
        {
          stdout: screen.print,
          stopped: () => stopped
        }
      )
      yield* screen.line(/"ready":true/)
      yield* report("third")
      // Near midnight the night's own deliveries come beside it: which one is failed is not ours to say.
      const first = JSON.parse(yield* screen.line(/"answered":500/)) as { readonly id: number; readonly event: string }
      // The sandbox's clock brings the retry forward, which is due 10 s after the failure (F29); the first advance may
      // come before the failure is noted.
      const advance = Effect.promise(() => runRecorded(["sim", "clock", "advance", "15s", ...where]))
      const again = yield* Effect.raceFirst(
        screen.line(new RegExp(`^(?=.*"id":${first.id},).*"answered":200`)),
        Effect.andThen(Effect.repeat(advance, { times: 40 }), Effect.never)
      )
      assert.deepInclude(JSON.parse(again), { id: first.id, event: first.event, duplicate: false, receipts: 2 })
      stop()
      assert.strictEqual((yield* Effect.promise(() => ran)).status, 0)
      assert.notInclude(sheet.text(), "collateral.booked", "the demo's receiver was replaced")
      assert.strictEqual(yield* ended, "stopped")
    }).pipe(Effect.scoped)
  )

  it.live("operator surface: outside a sandbox no host is exempt", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(
        serve(optionsOf({ sandbox: false, demo: false, allowWebhookHosts: ["127.0.0.1"] }), Effect.never)
      )
      assert.isTrue(Exit.isFailure(exit))
      assert.match(JSON.stringify(exit), /need --sandbox/)
    })
  )

  it.live(
    "serve --demo: pasting the lines of a close-out loses more than there is, and shows restriction, items and what is left",
    () =>
      Effect.gen(function* () {
        expectLog(/^\{"ready":true,/)
        expectLog(/stopping: finishing the accepted requests/)
        const { sheet, lines, paste, ended } = yield* startDemo
        yield* sheet.line(/signature checked/)
        const told = (event: string) => new RegExp(`^ {2}[0-9:]{8} {2}${event} {2}#[0-9]+ {2}client 1 {2}.+$`)
        const [high = "", bring = "", carry = "", low = "", list = "", ledger = ""] = under(lines, "Bring money")
        for (const [round, at] of (isDeep ? ["11", "12"] : ["11"]).entries()) {
          assert.strictEqual((yield* pasted(high)).status, 0)
          assert.strictEqual((yield* paste(bring, at)).status, 201)
          const carried = JSON.parse((yield* paste(carry, at)).body.toString())
          assert.strictEqual(carried.state, "FILLED", JSON.stringify(carried))
          assert.strictEqual((yield* pasted(low)).status, 0)
          yield* sheet.line(told("margin\\.restriction_set"), round + 1)
          yield* sheet.line(told("margin\\.restriction_lifted"), round + 1)
          assert.match((yield* pasted(list)).stdout, / DONE +[1-9]/)
          const { postings } = JSON.parse((yield* paste(ledger, at)).body.toString()).data
          assert.deepStrictEqual(
            postings.map(({ type }: { readonly type: string }) => type),
            ["NBP_WRITEOFF", "COMMISSION", "PNL"]
          )
        }
        assert.strictEqual(yield* ended, "stopped")
      }).pipe(Effect.scoped),
    60_000
  )
})
