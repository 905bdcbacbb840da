// Four eyes: bound to the exact arguments, single use, never by the key that asked (operator surface, Four eyes).
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { approvalMillis, hashArguments } from "../../src/runtime/services/Approvals.ts"
import { type OperatorService, startOperatorService } from "./operatorHarness.ts"

let service: OperatorService
let clientId: string
beforeAll(async () => {
  service = await startOperatorService({ settings: { fourEyes: new Set(["ledger adjust", "key issue"]) } })
  const partner = await service.partner({ code: "EYES" })
  clientId = String(await service.client(partner.key))
})
afterAll(() => service.stop())

const adjust = (amount: string) => [
  "ledger",
  "adjust",
  clientId,
  "--currency",
  "USDC",
  "--amount",
  amount,
  "--reason",
  "correction"
]
const cash = async () => (await service.done(["client", "show", clientId])).cashUsdc

describe("operator surface, Four eyes", () => {
  it("a guarded command answers its approval and changes nothing until another key grants it", async () => {
    const asked = await service.done(adjust("12.50"), "FINANCE")
    assert.deepStrictEqual(Object.keys(asked), ["approvalId"])
    assert.strictEqual(await cash(), "0.000000")
    const grant = ["approval", "grant", String(asked.approvalId)]
    const own = await service.cli(grant, "FINANCE")
    assert.deepStrictEqual([own.status, own.refusal.code], [1, 4092])
    const outside = await service.cli(grant, "COMPLIANCE")
    assert.deepStrictEqual([outside.status, outside.refusal.code], [1, 4034])
    assert.strictEqual((await service.cli(["approval", "grant", "999999"], "ADMIN")).refusal.code, 4004)
    assert.strictEqual(await cash(), "0.000000")
    const granted = await service.done(grant, "ADMIN")
    assert.strictEqual(granted.command, "ledger adjust")
    assert.strictEqual(granted.result.amount, "12.500000")
    assert.strictEqual(await cash(), "12.500000")
    assert.strictEqual((await service.cli(grant, "SECOND")).refusal.code, 4092)
    assert.strictEqual(await cash(), "12.500000")
    const { approvals } = await service.done(["approval", "list"], "SUPPORT")
    const row = approvals.find((each: { approvalId: number }) => each.approvalId === asked.approvalId)
    assert.deepStrictEqual(row.args, { currency: "USDC", amount: "12.50", reason: "correction", client: clientId })
    assert.deepStrictEqual([row.status, row.expiresAt - row.requestedAt], ["GRANTED", approvalMillis])
  })

  it("A2-62: a reference is kept with the request; booked once, it is refused before anybody is asked to look", async () => {
    const line = [...adjust("2"), "--reference", "CASE-7"]
    const first = await service.done(line, "FINANCE")
    const second = await service.done(line, "FINANCE")
    const booked = await service.done(["approval", "grant", String(first.approvalId)], "ADMIN")
    assert.strictEqual(booked.result.reference, "CASE-7")
    const late = await service.cli(["approval", "grant", String(second.approvalId)], "ADMIN")
    assert.deepStrictEqual([late.status, late.refusal.code], [1, 4092])
    assert.include(late.refusal.msg, `transaction ${booked.result.ledgerTxId}.`)
    const third = await service.cli(line, "FINANCE")
    assert.deepStrictEqual([third.status, third.refusal.data], [1, { ledgerTxId: booked.result.ledgerTxId }])
  })

  it("two grants at once run the command once", async () => {
    const before = Number(await cash())
    const asked = await service.done(adjust("1"), "FINANCE")
    const grant = ["approval", "grant", String(asked.approvalId)]
    const both = await Promise.all([service.cli(grant, "ADMIN"), service.cli(grant, "SECOND")])
    assert.sameMembers(
      both.map((ran) => ran.status),
      [0, 1]
    )
    assert.strictEqual(Number(await cash()), before + 1)
  })

  it("a refused request never runs, and anybody of the role may refuse, the asker too", async () => {
    const before = await cash()
    const asked = await service.done(adjust("3"), "FINANCE")
    assert.strictEqual(
      (await service.done(["approval", "refuse", String(asked.approvalId)], "FINANCE")).status,
      "REFUSED"
    )
    assert.strictEqual((await service.cli(["approval", "grant", String(asked.approvalId)], "ADMIN")).refusal.code, 4092)
    assert.strictEqual(await cash(), before)
  })

  it("what could not run anyway is refused at once; what fails after the grant says so", async () => {
    assert.strictEqual((await service.cli(adjust("0"), "FINANCE")).refusal.code, 4000)
    assert.strictEqual(
      (await service.cli(["key", "issue", "NOBODY", "--label", "l", "--scope", "READ"])).refusal.code,
      4004
    )
    const asked = await service.done(adjust("9223372036854.775807"), "FINANCE")
    const granted = await service.cli(["approval", "grant", String(asked.approvalId)], "ADMIN")
    assert.deepStrictEqual([granted.status, granted.refusal.code], [1, 4092])
    assert.strictEqual(granted.refusal.data.approvalId, asked.approvalId)
    const { approvals } = await service.done(["approval", "list", "--status", "GRANTED"])
    assert.include(
      approvals.map((row: { approvalId: number }) => row.approvalId),
      asked.approvalId
    )
  })

  it.each([
    [{ a: "1", b: "2" }, { b: "2", a: "1" }, true],
    [{ a: "1", b: "2" }, { a: "1", b: "3" }, false],
    [{ a: "1" }, { a: "1", b: "2" }, false]
  ])("the hash of %j and of %j is the same: %s", (one, other, same) => {
    assert.strictEqual(hashArguments(one) === hashArguments(other), same)
  })

  it("key issue: the key is shown to who grants, and only then exists", async () => {
    const asked = await service.done(["key", "issue", "EYES", "--label", "second", "--scope", "READ"], "ADMIN")
    assert.strictEqual((await service.done(["key", "list", "EYES"])).keys.length, 1)
    const granted = await service.done(["approval", "grant", String(asked.approvalId)], "SECOND")
    assert.strictEqual((await service.call("GET", "/partner/v1/me", { key: granted.result.key })).status, 200)
    assert.strictEqual((await service.done(["key", "list", "EYES"])).keys.length, 2)
    assert.notInclude(JSON.stringify(await service.done(["approval", "list"])), granted.result.key)
  })

  it("an approval that waited too long has expired", async () => {
    const asked = await service.done(adjust("5"), "FINANCE")
    await service.done(["sim", "clock", "advance", "8d"])
    const late = await service.cli(["approval", "grant", String(asked.approvalId)], "ADMIN")
    assert.deepStrictEqual([late.status, late.refusal.code], [1, 4092])
    assert.strictEqual(
      (await service.done(["machine", "inspect", "approval", String(asked.approvalId)])).state,
      "EXPIRED"
    )
  })
})
