/**
 * An hour of integration, by the guide: its program and receiver run unchanged in a separate process against a service,
 * onboard a client, report its collateral, receive signed webhooks, place an order and read balances.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { receiverTls } from "../../cli/receiverTls.ts"
import { guides } from "../../src/http/guides/guides.ts"
import { type RealService, startRealService } from "../support/RealService.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"

const programs = join(import.meta.dirname, "../../docs/first-hour")

describe("first hour", () => {
  const folder = mkdtempSync(join(tmpdir(), "brokerage-hour-"))
  const dataDir = join(folder, "data")
  const at = (name: string) => join(folder, name)
  let database: TestDatabase
  let service: RealService
  beforeAll(async () => {
    database = await makeTestDatabase()
    const databaseUrl = Redacted.value(database.url)
    service = await startRealService({ dataDir, databaseUrl, webhookHosts: ["127.0.0.1"] })
    const { cert, key } = await Effect.runPromise(receiverTls(dataDir, null))
    writeFileSync(at("cert.pem"), cert)
    writeFileSync(at("key.pem"), key)
  }, 120_000)
  afterAll(async () => {
    await service.stop()
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  })

  it("the guide shows exactly the files that are run here", () => {
    for (const name of ["receiver.mjs", "onboard.mjs"]) {
      assert.include(guides(), readFileSync(join(programs, name), "utf8").trimEnd())
    }
  })

  it("the program does each step of the guide", async () => {
    const { url, caFile } = JSON.parse(readFileSync(join(dataDir, "service.json"), "utf8"))
    const run = spawn(process.execPath, [join(programs, "onboard.mjs")], {
      env: {
        API: `${url}/partner/v1`,
        KEY: await service.partner("HOUR"),
        NODE_EXTRA_CA_CERTS: caFile,
        TLS_CERT: at("cert.pem"),
        TLS_KEY: at("key.pem")
      }
    })
    const [said, complained, [status]] = await Promise.all([text(run.stdout), text(run.stderr), once(run, "exit")])
    assert.strictEqual(status, 0, complained)
    const [me, client, booked, order, ...balances] = said.trim().split("\n")
    assert.strictEqual(me, "I am HOUR, under PARTNER custody.")
    assert.strictEqual(client, "The client is ACTIVE.")
    assert.strictEqual(booked, "Booked: 1000.000000 USDC.")
    assert.match(order ?? "", /^The order O-\d+ is (FILLED|ACKED|PARTIAL)\.$/)
    assert.match(balances[0] ?? "", /^USDC: \d+\.\d{6}$/)
  }, 120_000)
})
