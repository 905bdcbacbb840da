/**
 * A command with an unknown outcome: reported as such, never with the advice to retry, and safe to repeat with a
 * reference (doc 1, error registry 5030; A2-62; operator surface, ledger adjust). The database is behind a proxy that
 * drops the answer of one commit and refuses connections until the caller's timeout.
 */
import { PgClient } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { LocalAuthority } from "../../src/runtime/adapters/LocalAuthority.ts"
import { engineError } from "../../src/http/operator/toOperatorError.ts"
import { Unavailable } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { Journal } from "../../src/runtime/engine/journal/Journal.ts"
import { type CuttingProxy, openProxy } from "../runtime/engine/cuttingProxy.ts"
import { testSealing } from "../runtime/engine/fixtures.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"
import { type OperatorService, runRecorded, startOperatorService } from "./operatorHarness.ts"

let database: TestDatabase
let proxy: CuttingProxy
let service: OperatorService
let partnerKey: string
let clientId: string
beforeAll(async () => {
  database = await makeTestDatabase()
  proxy = await openProxy(database.url)
  service = await startOperatorService({ database: { url: proxy.url, sealing: testSealing } })
  partnerKey = (await service.partner({ code: "MAYBE" })).key
  clientId = String(await service.client(partnerKey))
})
afterAll(async () => {
  await service.stop()
  await proxy.close()
  await database.drop()
})

const adjust = (amount: string, reference?: string, client = clientId) =>
  ["ledger", "adjust", client, "--currency", "USDC", "--amount", amount, "--reason", "a correction"].concat(
    reference === undefined ? [] : ["--reference", reference]
  )
const cash = async (client = clientId) => (await service.done(["client", "show", client])).cashUsdc

const sentence = "The outcome is not known: check the audit before repeating the command."
const unsure = { code: 5030, msg: sentence, error: sentence, data: { reason: "OUTCOME_UNKNOWN", outcomeUnknown: true } }

const found = Effect.flatMap(Journal, (journal) =>
  Effect.sync(() => journal.accepting()).pipe(
    Effect.repeat({ until: (accepting) => accepting, schedule: Schedule.spaced(10) }),
    Effect.timeout("30 seconds")
  )
)

describe("doc 1, 5030: commands of unknown outcome", () => {
  it("A2-62: the command line states it and ends with 1; a repeat with the reference names the booking", async () => {
    proxy.cutNext("answer", "brokerage-journal")
    proxy.letIn(false)
    const lost = await service.cli(adjust("10", "R-1"), "FINANCE")
    proxy.letIn(true)
    await service.run(found)
    assert.deepStrictEqual([lost.status, lost.refusal], [1, unsure])
    const again = await service.cli(adjust("10", "R-1"), "FINANCE")
    assert.deepStrictEqual([again.status, again.refusal.code], [1, 4092])
    const { ledgerTxId } = again.refusal.data
    assert.include(again.refusal.msg, `transaction ${ledgerTxId}.`)
    assert.strictEqual(await cash(), "10.000000")
    const stored = await service.run(
      Effect.flatMap(PgClient.PgClient, (sql) =>
        sql.unsafe("SELECT key, refs FROM ledger_transactions WHERE tx_id = $1", [BigInt(ledgerTxId)])
      )
    )
    assert.deepStrictEqual(stored, [
      { key: `manual:${clientId}:R-1`, refs: { adjustmentId: ledgerTxId, reference: "R-1" } }
    ])
  })

  it("operator surface, sim clock: an advance whose begin is not confirmed may move the clock, and the service completes it", async () => {
    const before = await service.done(["sim", "clock", "show"])
    proxy.delayNext("SET clock_target")
    const { status, refusal } = await service.cli(["sim", "clock", "advance", "1h"])
    assert.deepStrictEqual([status, refusal], [1, unsure])
    proxy.deliver()
    await vi.waitFor(
      async () => {
        const { offsetMillis, movingTo } = await service.done(["sim", "clock", "show"])
        assert.deepStrictEqual([offsetMillis, movingTo], [before.offsetMillis + 3_600_000, null])
      },
      { timeout: 20_000, interval: 50 }
    )
  })

  it.each([
    [true, unsure],
    [
      false,
      {
        code: 5030,
        msg: "The service can't do this now. Please try again.",
        error: "The service can't do this now. Please try again."
      }
    ]
  ])("5030: an Unavailable with unknown %s has its own sentence", async (unknown, envelope) => {
    const failure = await service.run(Effect.flip(engineError(new Unavailable({ unknown }))))
    assert.deepInclude({ ...failure }, envelope)
  })

  it("a connection that breaks under a writing command is answered as such; a reading one may be repeated", async () => {
    const folder = mkdtempSync(join(tmpdir(), "brokerage-broken-"))
    const tls = await Effect.runPromise(LocalAuthority.ensure({ dataDirectory: folder, host: "127.0.0.1" }))
    writeFileSync(join(folder, "ca.pem"), tls.ca)
    const server = createServer({ cert: tls.certificate, key: tls.key }, (request) => request.socket.destroy())
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const at = ["--json", "--url", url, "--operator-key", "k", "--ca", join(folder, "ca.pem")]
    const wrote = await runRecorded([...adjust("1"), "--yes", ...at])
    const read = await runRecorded(["partner", "list", ...at])
    server.close()
    rmSync(folder, { recursive: true, force: true })
    assert.deepStrictEqual([wrote.status, wrote.refusal.data], [3, { outcomeUnknown: true }])
    assert.match(wrote.refusal.msg, /check the audit before repeating/)
    assert.deepStrictEqual([read.status, read.refusal.data], [3, undefined])
  })
})

describe("A2-62: references of ledger adjust", () => {
  it("each client claims a reference once, and a repeat gets that answer, whatever else would refuse it", async () => {
    const other = String(await service.client(partnerKey))
    await service.done(adjust("5", undefined, other))
    const first = await service.done(adjust("-5", "R-2", other))
    assert.strictEqual(first.reference, "R-2")
    // A second booking would go below zero. The reply must name the reference instead.
    const repeated = await service.cli(adjust("-5", " R-2 ", other))
    assert.deepStrictEqual(
      [repeated.status, repeated.refusal.data],
      [1, { reason: "BOOKED_ALREADY", ledgerTxId: first.ledgerTxId }]
    )
    const before = await cash()
    assert.notStrictEqual((await service.done(adjust("1", "R-2"))).ledgerTxId, first.ledgerTxId)
    assert.strictEqual(Number(await cash()), Number(before) + 1)
  })

  it("two at once with one reference are one posting", async () => {
    const before = Number(await cash())
    const both = await Promise.all([service.cli(adjust("2", "R-3")), service.cli(adjust("2", "R-3"))])
    assert.sameMembers(
      both.map((ran) => ran.status),
      [0, 1]
    )
    assert.strictEqual(Number(await cash()), before + 2)
  })

  it("without a reference every command books; a reference has 1 to 64 characters", async () => {
    const before = Number(await cash())
    assert.isNull((await service.done(adjust("1"))).reference)
    await service.done(adjust("1"))
    assert.strictEqual(Number(await cash()), before + 2)
    for (const reference of ["", " ", "x".repeat(65)]) {
      const ran = await service.cli(adjust("1", reference))
      assert.deepStrictEqual([ran.refusal.code, Object.keys(ran.refusal.data.errors)], [4000, ["reference"]])
    }
    await service.done(adjust("1", "x".repeat(64)))
  })
})
