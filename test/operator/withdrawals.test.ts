/**
 * Finance's side of withdrawal requests through the command line: lists, decisions, four eyes, roles, and the blockers
 * of closing (operator surface, withdrawal and Four eyes; D10; A3-44).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as tokens from "../../src/http/api/operator/operatorTokens.ts"
import { withdrawalStatuses } from "../../src/machines/withdrawal/WithdrawalRequest.ts"
import { brokenInvariants, rowCounts } from "../support/Builders.ts"
import { type OperatorService, runRecorded, startOperatorService } from "./operatorHarness.ts"

const broker = { custody: "BROKER", collateralAsset: "", sandbox: false } as const
const destination = { iban: "DE02120300000000202051" }

let service: OperatorService
let guarded: OperatorService
let references = 0

const world = async (on: OperatorService, code: string) => {
  const partner = await on.partner({ ...broker, code })
  const funded = async (): Promise<number> => {
    const clientId = await on.client(partner.key)
    const line = ["ledger", "adjust", String(clientId), "--currency", "USDC", "--amount", "100", "--reason", "test"]
    await on.done(line)
    return clientId
  }
  const ask = async (clientId: number, amount = "10"): Promise<string> => {
    const body = { partnerRef: `w-${++references}`, currency: "USDC", amount, destination }
    const answer = await on.call("POST", `/partner/v1/clients/${clientId}/withdrawals`, { key: partner.key, body })
    if (answer.status !== 201) throw new Error(answer.text)
    return String(answer.json.data.requestId)
  }
  return { partner, funded, ask }
}
interface Offered {
  readonly kind: string
  readonly partner: string | null
  readonly clientUid: string | null
  readonly about: string | null
  readonly decide: ReadonlyArray<string>
  readonly mayDecide: boolean
}
let here: Awaited<ReturnType<typeof world>>

beforeAll(async () => {
  service = await startOperatorService()
  here = await world(service, "WDRA")
})
afterAll(async () => {
  assert.deepStrictEqual(await brokenInvariants(service), [])
  await service.stop()
})

describe("operator surface, withdrawal", () => {
  it("the statuses the command line offers are the request's", () =>
    assert.deepStrictEqual(tokens.withdrawalStatuses, withdrawalStatuses))

  it("list: newest first, by status and partner, a page at a time; the destination for those who pay alone", async () => {
    const clientId = await here.funded()
    const [one, two] = [await here.ask(clientId), await here.ask(clientId)]
    await service.done(["withdrawal", "approve", one], "FINANCE")
    const list = async (...options: ReadonlyArray<string>) =>
      (await service.done(["withdrawal", "list", ...options], "FINANCE")).withdrawals
    const ids = async (...options: ReadonlyArray<string>): Promise<ReadonlyArray<string>> =>
      (await list(...options)).map((row: { readonly requestId: number }) => String(row.requestId))
    assert.deepStrictEqual(await ids(), [two, one])
    assert.deepStrictEqual(await ids("--partner", "WDRA", "--status", "APPROVED"), [one])
    assert.deepStrictEqual(await ids("--limit", "1", "--before", two), [one])
    assert.deepStrictEqual((await list())[0].destination, destination)
    const { postings, ...shown } = await service.done(["withdrawal", "show", one], "FINANCE")
    assert.deepStrictEqual(shown, (await list())[1])
    assert.deepStrictEqual(
      postings.map(({ type, kind, amount }: Record<string, string>) => `${type} ${kind} ${amount?.slice(0, 1)}`),
      ["WITHDRAWAL_RESERVE cash -", "WITHDRAWAL_RESERVE reserved 1", "WITHDRAWAL reserved -", "WITHDRAWAL cash 1"]
    )
    assert.isNull((await service.done(["withdrawal", "show", one], "SUPPORT")).destination)
    assert.strictEqual((await service.cli(["withdrawal", "show", "999999"])).refusal.code, 4004)
    const seen = await service.cli(["withdrawal", "list"], "SUPPORT")
    assert.deepStrictEqual([seen.status, seen.json.withdrawals[0].destination], [0, null])
    assert.notInclude(seen.stdout, destination.iban)
    assert.strictEqual((await service.cli(["withdrawal", "list", "--partner", "NOBODY"])).refusal.code, 4004)
    assert.strictEqual((await service.cli(["withdrawal", "list", "--status", "OPEN"])).status, 2)
  })

  it("D10: approve and pay show their actor and role; once paid, approving is refused with the status", async () => {
    const requestId = await here.ask(await here.funded())
    const early = await service.cli(["withdrawal", "pay", requestId], "FINANCE")
    assert.deepStrictEqual([early.status, early.refusal.code], [1, 4092])
    const approved = await service.done(["withdrawal", "approve", requestId], "FINANCE")
    assert.deepInclude(approved, { status: "APPROVED", decidedBy: "FINANCE", amount: "10.000000" })
    const paid = await service.done(["withdrawal", "pay", requestId], "ADMIN")
    assert.deepInclude(paid, { status: "PAID", decidedBy: "FINANCE" })
    const again = await service.cli(["withdrawal", "approve", requestId], "FINANCE")
    assert.deepStrictEqual([again.status, again.refusal.data.status], [1, "PAID"])
    const { state, history } = await service.done(["machine", "inspect", "withdrawalRequest", requestId])
    assert.deepStrictEqual([state, history.length], ["PAID", 3])
  })

  it("D10, as A3-04: a step repeated after a lost answer is answered with the request, any other is refused", async () => {
    const clientId = await here.funded()
    const [one, two, three] = [await here.ask(clientId), await here.ask(clientId), await here.ask(clientId)]
    const twice = async (step: string, requestId: string, ...rest: ReadonlyArray<string>) => {
      const first = await service.done(["withdrawal", step, requestId, ...rest], "FINANCE")
      const before = await rowCounts(service)
      assert.deepStrictEqual(await service.done(["withdrawal", step, requestId, ...rest], "ADMIN"), first)
      assert.deepStrictEqual(await rowCounts(service), before)
    }
    const refused = async (step: string, requestId: string, ...rest: ReadonlyArray<string>) =>
      assert.strictEqual((await service.cli(["withdrawal", step, requestId, ...rest])).refusal?.code, 4092, step)
    await twice("approve", one)
    await refused("reject", one, "--reason", "r")
    await twice("pay", one)
    await refused("fail", one, "--reason", "r")
    await twice("reject", two, "--reason", "wrong account")
    await refused("fail", two, "--reason", "r")
    await refused("approve", two)
    await service.done(["withdrawal", "approve", three], "FINANCE")
    await twice("fail", three, "--reason", "refused by the bank")
    await refused("reject", three, "--reason", "r")
    await refused("pay", three)
  })

  it("D10: reject and fail need a reason, and each has its own state to start from", async () => {
    const clientId = await here.funded()
    const [one, two] = [await here.ask(clientId), await here.ask(clientId)]
    assert.strictEqual((await service.cli(["withdrawal", "reject", one], "FINANCE")).status, 2)
    assert.strictEqual((await service.cli(["withdrawal", "fail", one, "--reason", "r"], "FINANCE")).refusal.code, 4092)
    const rejected = await service.done(["withdrawal", "reject", one, "--reason", "wrong account"], "FINANCE")
    assert.deepInclude(rejected, { status: "REJECTED", decisionNote: "wrong account", ledgerTxId: null })
    await service.done(["withdrawal", "approve", two], "FINANCE")
    assert.strictEqual((await service.cli(["withdrawal", "reject", two, "--reason", "r"])).refusal.code, 4092)
    const failed = await service.done(["withdrawal", "fail", two, "--reason", "refused by the bank"], "FINANCE")
    assert.deepInclude(failed, { status: "REJECTED", decisionNote: "refused by the bank", paidAt: null })
    const { balances } = await service.done(["client", "show", String(clientId)])
    assert.deepInclude(balances[0], { cash: "100.000000", reserved: "0.000000" })
  })

  it("D10: an approval that the gate refuses names the reason and changes nothing", async () => {
    const clientId = await here.funded()
    const requestId = await here.ask(clientId)
    await service.done(["client", "restrict", String(clientId), "FROZEN", "--reason", "court order"], "COMPLIANCE")
    const before = await rowCounts(service)
    const refused = await service.cli(["withdrawal", "approve", requestId], "FINANCE")
    assert.deepStrictEqual([refused.status, refused.refusal.code], [1, 4092])
    assert.match(refused.refusal.msg, /frozen/)
    assert.deepStrictEqual(await rowCounts(service), before)
  })

  it.each(["COMPLIANCE", "SUPPORT"] as const)("A3-44: %s lists but does not decide", async (role) => {
    const requestId = await here.ask(await here.funded())
    const before = await rowCounts(service)
    for (const line of [
      ["withdrawal", "approve", requestId],
      ["withdrawal", "pay", requestId],
      ["withdrawal", "reject", requestId, "--reason", "r"],
      ["withdrawal", "fail", requestId, "--reason", "r"]
    ]) {
      assert.strictEqual((await service.cli(line, role)).refusal.code, 4034)
    }
    assert.deepStrictEqual(await rowCounts(service), before)
  })

  it("an unknown request is 4004", async () => {
    assert.strictEqual((await service.cli(["withdrawal", "approve", "999999999"])).refusal.code, 4004)
  })

  it("D1, D15: an open request prevents the closing of client and partner", async () => {
    const away = await world(service, "WDRB")
    const clientId = await away.funded()
    const requestId = await away.ask(clientId, "100")
    await service.done(["withdrawal", "approve", requestId], "FINANCE")
    const close = ["client", "close", String(clientId), "--reason", "r"]
    const refused = await service.cli(close)
    assert.deepStrictEqual(refused.refusal.data.blockers, ["Withdrawal requests are not decided and paid: 1 APPROVED."])
    const partnerClose = await service.cli(["partner", "status", "WDRB", "CLOSED", "--reason", "r"])
    assert.match(JSON.stringify(partnerClose.refusal.data.blockers), /[Ww]ithdrawal requests/)
    await service.done(["withdrawal", "pay", requestId], "FINANCE")
    assert.strictEqual((await service.done(close)).lifecycleState, "CLOSED")
  })

  it("staff read a destination as the partner sent it: its text, and no member as a time or an id", async () => {
    const clientId = await here.funded()
    const written =
      '{"account":12345678901234567890,"rates":[1.10,-0],"createdAt":1700000000000,"partnerId":1,"2":"\\u00fc","1":0}'
    const { json } = await service.call("POST", `/partner/v1/clients/${clientId}/withdrawals`, {
      key: here.partner.key,
      raw: `{"partnerRef":"digits","currency":"USDC","amount":"1","destination":${written}}`
    })
    const requestId = String(json.data.requestId)
    const words = "account 12345678901234567890, rates (1.10, -0), createdAt 1700000000000, partnerId 1, 2 ü, 1 0"
    for (const line of [
      ["withdrawal", "show", requestId],
      ["withdrawal", "list", "--limit", "1"],
      ["withdrawal", "approve", requestId, "--yes"],
      ["withdrawal", "pay", requestId, "--yes"]
    ]) {
      const told = await runRecorded([...line, "--wide", ...service.connection("FINANCE")])
      assert.include(told.stdout, words, line.join(" "))
      const { stdout } = await runRecorded([...line, "--json", ...service.connection("FINANCE")])
      assert.include(stdout, `"destination":${written}`, line.join(" "))
    }
  })

  it.each([
    ["digits", 201, ['{"to":12345678901234567890}', ' { "to" : 12345678901234567890 }'], '{"to":12345678901234567891}'],
    ["a doubled name", 400, ['{"iban":"A","iban":"B"}', '{"iban":"A", "iban":"B"}'], '{"iban":"B"}'],
    ["text and value alike", 201, ['{"a":"\\u0041","b":1}', '{"b":1,"a":"A"}'], '{"a":"B","b":1}']
  ] as const)(
    "A1-52: a key is that of one destination by %s (%i); another is a conflict",
    async (ref, status, same, other) => {
      const clientId = await here.funded()
      const send = async (destination: string) => {
        const answer = await service.call("POST", `/partner/v1/clients/${clientId}/withdrawals`, {
          key: here.partner.key,
          headers: { "idempotency-key": ref.replaceAll(" ", "-") },
          raw: `{"partnerRef":"one ${ref}","currency":"USDC","amount":"1","destination":${destination}}`
        })
        return [answer.status, answer.headers["idempotency-replayed"], answer.text]
      }
      const [first, again] = [await send(same[0]), await send(same[1])]
      assert.deepStrictEqual([first[0], again], [status, [status, "true", first[2]]])
      const [refused, , text] = await send(other)
      assert.strictEqual(refused, 409)
      assert.include(text, "IDEMPOTENCY_KEY_REUSED")
    }
  )
})

describe("operator surface, Four eyes: withdrawal approve and pay", () => {
  beforeAll(async () => {
    guarded = await startOperatorService({
      settings: { fourEyes: new Set(["withdrawal approve", "withdrawal pay", "key issue"]) }
    })
  })
  afterAll(() => guarded.stop())

  it("each waits for a second key, is checked before and again when it runs", async () => {
    const there = await world(guarded, "EYED")
    const clientId = await there.funded()
    const requestId = await there.ask(clientId)
    const line = ["withdrawal", "approve", requestId]
    assert.strictEqual((await guarded.cli(["withdrawal", "pay", requestId], "FINANCE")).refusal.code, 4092)
    const restrict = ["client", "restrict", String(clientId), "NO_WITHDRAWALS", "--reason", "r"]
    await guarded.done(restrict, "COMPLIANCE")
    assert.match((await guarded.cli(line, "FINANCE")).refusal.msg, /restricted/)
    const lift = ["client", "lift", String(clientId), "NO_WITHDRAWALS"]
    await guarded.done(lift, "COMPLIANCE")
    const first = await guarded.done(line, "FINANCE")
    assert.deepStrictEqual(Object.keys(first), ["approvalId"])
    // A step has one pending approval, whoever requests it again, and the queue shows only the approval.
    for (const role of ["FINANCE", "ADMIN"] as const) assert.deepStrictEqual(await guarded.done(line, role), first)
    const waiting = (await guarded.done(["queue"], "ADMIN")).waiting as ReadonlyArray<Offered>
    assert.deepStrictEqual(
      waiting.map(({ kind, about, decide }) => [kind, about, decide[0]]),
      [["approval", "withdrawal approve", `approval grant ${first.approvalId}`]]
    )
    const { approvals } = await guarded.done(["approval", "list"])
    assert.deepInclude(approvals[0].args, { requestId: Number(requestId) })
    assert.strictEqual((await guarded.cli(["approval", "grant", String(first.approvalId)], "FINANCE")).status, 1)
    const granted = await guarded.done(["approval", "grant", String(first.approvalId)], "ADMIN")
    assert.deepInclude(granted.result, { status: "APPROVED", decidedBy: "ADMIN" })
    assert.deepStrictEqual(await guarded.done(line, "FINANCE"), granted.result)
    const offered = async (role: "ADMIN" | "FINANCE") =>
      ((await guarded.done(["queue"], role)).waiting as ReadonlyArray<Offered>).map(
        ({ kind, partner, clientUid, decide, mayDecide }) => [kind, partner, clientUid, decide[0], mayDecide]
      )
    const { clientUid } = granted.result
    assert.deepStrictEqual(await offered("FINANCE"), [
      ["withdrawal", "EYED", clientUid, `withdrawal pay ${requestId}`, true]
    ])
    const asked = await guarded.done(["withdrawal", "pay", requestId], "FINANCE")
    const issued = await guarded.done(["key", "issue", "EYED", "--label", "second", "--scope", "READ"], "ADMIN")
    const grant = `approval grant ${asked.approvalId}`
    // The requester is offered neither a new request nor the grant.
    for (const role of ["ADMIN", "FINANCE"] as const) {
      const may = role === "ADMIN"
      assert.sameDeepMembers(await offered(role), [
        ["approval", "EYED", clientUid, grant, may],
        ["approval", "EYED", null, `approval grant ${issued.approvalId}`, false]
      ])
    }
    const paid = await guarded.done(["approval", "grant", String(asked.approvalId)], "SECOND")
    assert.strictEqual(paid.result.status, "PAID")
    assert.deepStrictEqual(await brokenInvariants(guarded), [])
  })
})
