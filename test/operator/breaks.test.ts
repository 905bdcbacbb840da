/**
 * Reconciliation breaks through the command line: the clients that each one pauses, its duration, and its survival of a
 * restart (operator surface, break; A3-11; SC-CUS-08).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as tokens from "../../src/http/api/operator/operatorTokens.ts"
import { breakStatuses } from "../../src/machines/reconciliation/ReconBreak.ts"
import { ActorHost } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { clientSubject } from "../../src/runtime/services/account/clientState.ts"
import { breakOfClient } from "../../src/runtime/services/money/breaks/clientBreaks.ts"
import { Breaks } from "../../src/runtime/services/money/breaks/Breaks.ts"
import { Effect } from "effect"
import { rowCounts } from "../support/Builders.ts"
import { startService } from "../support/Service.ts"
import { type OperatorService, runRecorded, startOperatorService } from "./operatorHarness.ts"

const broker = { custody: "BROKER", collateralAsset: "", sandbox: false } as const

let service: OperatorService
let partner: Awaited<ReturnType<OperatorService["partner"]>>
let clientId: number
let uid: string
let references = 0

beforeAll(async () => {
  service = await startOperatorService()
  // Makes the ids of partners and clients differ.
  await service.partner({ ...broker, code: "SPARE" })
  partner = await service.partner({ ...broker, code: "BREAK" })
  clientId = await service.client(partner.key)
  uid = (await service.done(["client", "show", String(clientId)])).clientUid
  await service.done(["ledger", "adjust", uid, "--currency", "EUR", "--amount", "100", "--reason", "test"])
})
afterAll(() => service.stop())

const ask = async (key = partner.key, of = clientId): Promise<string> => {
  const body = { partnerRef: `b-${++references}`, currency: "EUR", amount: "1" }
  const answer = await service.call("POST", `/partner/v1/clients/${of}/withdrawals`, { key, body })
  assert.strictEqual(answer.status, 201)
  return String(answer.json.data.requestId)
}
const open = (scope: string, ...options: ReadonlyArray<string>) => [
  "break",
  "open",
  "--scope",
  scope,
  "--currency",
  "USDC",
  "--amount",
  "-12.5",
  "--reason",
  "the bank shows less",
  ...options
]
const close = (breakId: number) => ["break", "close", String(breakId), "--reason", "found"]
const approve = async (requestId: string) => service.cli(["withdrawal", "approve", requestId], "FINANCE")

describe("operator surface, break", () => {
  it("the statuses the command line offers are the break's", () =>
    assert.deepStrictEqual(tokens.breakStatuses, breakStatuses))

  it("SC-CUS-08: a break pauses approvals until it is closed, however its scope is named; new requests are accepted", async () => {
    for (const scope of ["ALL", "BREAK", `partner:${partner.partnerId}`, uid, `client:${clientId}`]) {
      const opened = await service.done(open(scope), "FINANCE")
      assert.deepInclude(opened, { status: "OPEN", amount: "-12.500000", pausesMoneyOut: true, closedAt: null })
      const requestId = await ask()
      const before = await rowCounts(service)
      const stopped = await approve(requestId)
      assert.deepStrictEqual([stopped.status, stopped.refusal.code], [1, 4092], scope)
      assert.match(stopped.refusal.msg, /reconciliation break/)
      assert.deepStrictEqual(await rowCounts(service), before)
      const closed = await service.done(close(opened.breakId), "FINANCE")
      assert.deepInclude(closed, { status: "CLOSED", closingReason: "found" })
      assert.strictEqual((await approve(requestId)).status, 0, scope)
    }
  })

  it("A3-11: another partner's, another client's and an informational break pause no client", async () => {
    const other = await service.client(partner.key)
    const opened = []
    for (const line of [open("SPARE"), open(`client:${other}`), open("ALL", "--no-pause")]) {
      opened.push(await service.done(line, "FINANCE"))
    }
    assert.deepStrictEqual(
      opened.map((row) => [row.scope, row.pausesMoneyOut]),
      [
        ["PARTNER", true],
        ["CLIENT", true],
        ["ALL", false]
      ]
    )
    assert.strictEqual((await approve(await ask())).status, 0)
    const { breaks } = await service.done(["break", "list", "--status", "OPEN"], "SUPPORT")
    assert.deepStrictEqual(
      breaks.map((row: { readonly breakId: number }) => row.breakId),
      opened.map((row) => row.breakId).toReversed()
    )
    for (const row of opened) await service.done(close(row.breakId))
  })

  it("A3-11: two breaks over one client: the last one to close frees it", async () => {
    const [one, two] = [await service.done(open("ALL")), await service.done(open("BREAK"))]
    const requestId = await ask()
    await service.done(close(one.breakId))
    assert.strictEqual((await approve(requestId)).status, 1)
    await service.done(close(two.breakId))
    assert.strictEqual((await approve(requestId)).status, 0)
  })

  it("a break that a client's own turn opens is in the queue at once, until it is closed", async () => {
    const waiting = async () => (await service.done(["queue", "--kind", "break"])).waiting
    assert.deepStrictEqual(await waiting(), [])
    const by = { role: "SYSTEM", keyLabel: "t", requestId: "t", actor: "system:venue" }
    const breakId = await service.run(
      Effect.flatMap(ActorHost, ({ dispatch }) =>
        dispatch({
          subject: clientSubject(clientId),
          by,
          lane: "internal",
          decide: (turn) => breakOfClient(turn, { partnerId: partner.partnerId, clientId }, 5n, "It differs.")
        })
      )
    )
    const found = await waiting()
    assert.lengthOf(found, 1)
    assert.deepInclude(found[0], { kind: "break", id: String(breakId), clientId })
    await service.done(close(breakId))
    assert.deepStrictEqual(await waiting(), [])
  })

  it("A3-06: a sandbox's request waits REQUESTED while a break pauses it", async () => {
    const sandbox = await service.partner({ ...broker, sandbox: true, code: "SANDB" })
    const of = await service.client(sandbox.key)
    await service.done(["ledger", "adjust", String(of), "--currency", "EUR", "--amount", "5", "--reason", "test"])
    const opened = await service.done(open("SANDB"))
    const requestId = await ask(sandbox.key, of)
    const { state } = await service.done(["machine", "inspect", "withdrawalRequest", requestId])
    assert.strictEqual(state, "REQUESTED")
    await service.done(close(opened.breakId))
    assert.strictEqual((await approve(requestId)).status, 0)
  })

  it("wrong input is refused: scope, amount, role, a second closing", async () => {
    assert.strictEqual((await service.cli(open("NOBODY"))).refusal.code, 4004)
    assert.strictEqual((await service.cli(open("client:999999"))).refusal.code, 4004)
    const zero = open("ALL").map((word) => (word === "-12.5" ? "0" : word))
    assert.strictEqual((await service.cli(zero)).refusal.code, 4000)
    assert.strictEqual((await service.cli(open("ALL"), "COMPLIANCE")).refusal.code, 4034)
    const both = await service.cli(open("1"))
    assert.deepStrictEqual([both.refusal.code, Object.keys(both.refusal.data.errors)], [4000, ["scope"]])
    const opened = await service.done(open("SPARE"))
    await service.done(close(opened.breakId))
    assert.strictEqual((await service.cli(close(opened.breakId))).refusal.code, 4092)
    assert.strictEqual((await service.cli(close(999_999))).refusal.code, 4004)
  })

  it("a scope names a client as every command does; the break shows who decided, and so does the refusal of a second closing", async () => {
    const { email, partnerClientRef } = await service.done(["client", "show", uid])
    const opened = []
    for (const name of [email, partnerClientRef, `BREAK/${partnerClientRef}`, `client:${email}`])
      opened.push(await service.done(open(name), "FINANCE"))
    assert.deepStrictEqual(
      opened.map((row) => [row.scope, row.clientId]),
      opened.map(() => ["CLIENT", clientId])
    )
    assert.strictEqual((await service.cli(open("nobody@mail.example"))).refusal.code, 4004)
    for (const { breakId } of opened) await service.done(close(breakId), "FINANCE")
    const [{ breakId }] = opened
    const said = async (line: ReadonlyArray<string>) => runRecorded([...line, ...service.connection("FINANCE")])
    const shown = await said(["break", "show", String(breakId)])
    assert.match(shown.stdout, /^WHEN +WHAT +DECIDED BY +NOTE$/m)
    assert.match(shown.stdout, /OPEN +FINANCE\/\S.* the bank shows less$/m)
    assert.match(shown.stdout, /OPEN -> CLOSED +FINANCE\/\S.* found$/m)
    const again = await said([...close(breakId), "--yes"])
    assert.strictEqual(again.status, 1)
    assert.match(again.stderr, /closed already[^]*Last decision: break\.close, OPEN -> CLOSED, by FINANCE\//)
    assert.strictEqual((await service.cli(["break", "show", "999999"])).refusal.code, 4004)
  })

  it("a start forgets no break", async () => {
    await service.done(open("BREAK"))
    const second = await startService({ database: service.database })
    const pausing = (of: number, partnerId: number) =>
      second.run(Effect.map(Breaks, (breaks) => breaks.pausing({ clientId: of, partnerId })))
    assert.isTrue(await pausing(clientId, partner.partnerId))
    assert.isFalse(await pausing(clientId, partner.partnerId + 50))
    await second.stop()
  })
})
