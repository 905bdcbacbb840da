/**
 * A payment goes to the filed destination that a second person saw (doc 3, Withdrawal request; D10; operator surface,
 * Four eyes): destinations changed in the database, the content of an approval, and a return of money while a payment
 * is requested.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { fourEyesClasses } from "../../src/http/api/operator/commands.ts"
import { brokenInvariants, query, rowCounts } from "../support/Builders.ts"
import { type OperatorService, startOperatorService } from "./operatorHarness.ts"
import { expectLog } from "../support/expectLog.ts"

const broker = { custody: "BROKER", collateralAsset: "", sandbox: false } as const
let references = 0

const world = async (on: OperatorService) => {
  const partner = await on.partner({ ...broker, code: "PROOF" })
  const clientId = await on.client(partner.key)
  const path = `/partner/v1/clients/${clientId}`
  const notice = { partnerRef: "d", currency: "USDC", amount: "100" }
  const filed = await on.call("POST", `${path}/deposits`, { key: partner.key, body: notice })
  await on.done(["deposit", "confirm", String(filed.json.data.noticeId)], "FINANCE")
  const ask = async (destination: object | null): Promise<string> => {
    const body = { partnerRef: `w-${++references}`, currency: "USDC", amount: "10", destination }
    const answer = await on.call("POST", `${path}/withdrawals`, { key: partner.key, body })
    if (answer.status !== 201) throw new Error(answer.text)
    return String(answer.json.data.requestId)
  }
  return { partner, clientId, path, ask }
}

/** Copies the destination of one request to another, or removes it. Returns the reverse operation. */
const replant = async (on: OperatorService, into: string, from: string | null): Promise<() => Promise<unknown>> => {
  await query(on, `CREATE TABLE kept_${into} AS SELECT destination FROM withdrawal_requests WHERE id = ${into}`)
  const value = from === null ? "NULL" : `(SELECT destination FROM withdrawal_requests WHERE id = ${from})`
  await query(on, `UPDATE withdrawal_requests SET destination = ${value} WHERE id = ${into}`)
  return async () => {
    await query(
      on,
      `UPDATE withdrawal_requests SET destination = (SELECT destination FROM kept_${into}) WHERE id = ${into}`
    )
    await query(on, `DROP TABLE kept_${into}`)
  }
}

describe("D10: a destination is the one it was filed with", () => {
  let service: OperatorService
  let here: Awaited<ReturnType<typeof world>>
  beforeAll(async () => {
    service = await startOperatorService()
    here = await world(service)
  })
  afterAll(() => service.stop())

  /** The step is refused and writes nothing, and the list and `ledger verify` report the change. */
  const stopped = async (step: string, requestId: string) => {
    const before = await rowCounts(service)
    const refused = await service.cli(["withdrawal", step, requestId], "FINANCE")
    assert.deepStrictEqual([refused.status, refused.refusal.code], [1, 4092])
    assert.include(refused.refusal.msg, "not the one it was filed with")
    assert.strictEqual(refused.refusal.data.destination, "NOT_AS_FILED")
    assert.deepStrictEqual(await rowCounts(service), before)
    const { withdrawals } = await service.done(["withdrawal", "list"], "FINANCE")
    const row = withdrawals.find((each: { requestId: number }) => String(each.requestId) === requestId)
    assert.isNull(row.destination)
    const broken = await brokenInvariants(service)
    assert.lengthOf(broken, 1)
    assert.include(broken[0], `request ${requestId} shows another destination`)
  }

  it.each(["another request's", "no"])("%s destination in its place stops approval and payment", async (kind) => {
    expectLog(/the stored destination of withdrawal request \d+ is not the filed one/)
    const requestId = await here.ask({ iban: "DE02120300000000202051" })
    const other = await here.ask({ iban: "DE02500105170137075030" })
    for (const step of ["approve", "pay"]) {
      const undo = await replant(service, requestId, kind === "no" ? null : other)
      await stopped(step, requestId)
      await undo()
      assert.deepStrictEqual(await brokenInvariants(service), [])
      await service.done(["withdrawal", step, requestId], "FINANCE")
    }
    const undo = await replant(service, requestId, other)
    const repeated = await service.done(["withdrawal", "pay", requestId], "FINANCE")
    assert.deepStrictEqual([repeated.status, repeated.destination], ["PAID", null])
    await undo()
  })

  it("a request without a destination has its proof too", async () => {
    expectLog(/the stored destination of withdrawal request \d+ is not the filed one/)
    const requestId = await here.ask(null)
    const other = await here.ask({ address: "0x1" })
    const undo = await replant(service, requestId, other)
    await stopped("approve", requestId)
    await undo()
    await service.done(["withdrawal", "approve", requestId], "FINANCE")
  })

  it("A3-45: the fingerprint can't be moved along: the audit has it, and verify compares", async () => {
    expectLog(/the stored destination of withdrawal request \d+ is not the filed one/)
    const requestId = await here.ask({ iban: "DE02120300000000202051" })
    const { entries } = await service.done(["audit", "tail", "--object", `withdrawalRequest:${requestId}`])
    assert.match(entries[0].reason, /^destination [0-9a-f]{64}$/)
    assert.notInclude(JSON.stringify(entries), "DE0212")
    await query(service, `CREATE TABLE kept AS SELECT context FROM withdrawal_requests WHERE id = ${requestId}`)
    for (const [context, sentence] of [
      ["jsonb_set(context::jsonb, '{destinationFingerprint}', '\"0\"')::json", "another fingerprint"],
      ["jsonb_set(context::jsonb, '{destinationFingerprint}', 'null')::json", "has lost the fingerprint"]
    ] as const) {
      await query(service, `UPDATE withdrawal_requests SET context = ${context} WHERE id = ${requestId}`)
      assert.include((await brokenInvariants(service)).join(), sentence)
      assert.strictEqual((await service.cli(["withdrawal", "approve", requestId], "FINANCE")).refusal.code, 4092)
      await query(
        service,
        `UPDATE withdrawal_requests SET context = (SELECT context FROM kept) WHERE id = ${requestId}`
      )
    }
    assert.deepStrictEqual(await brokenInvariants(service), [])
  })
})

describe("operator surface, Four eyes: withdrawals and breaks", () => {
  let service: OperatorService
  let here: Awaited<ReturnType<typeof world>>
  beforeAll(async () => {
    service = await startOperatorService({ settings: { fourEyes: new Set(fourEyesClasses) } })
    here = await world(service)
  })
  afterAll(() => service.stop())

  const asked = async (...line: ReadonlyArray<string>): Promise<string> =>
    String((await service.done(line, "FINANCE")).approvalId)
  const grant = (approvalId: string) => service.done(["approval", "grant", approvalId], "ADMIN")
  const approvalOf = async (approvalId: string) =>
    (await service.done(["approval", "list"])).approvals.find(
      (row: { approvalId: number }) => String(row.approvalId) === approvalId
    )

  it("approve and pay show what and whose, not a number alone", async () => {
    const requestId = await here.ask(null)
    const { uid: clientUid } = (await query<{ uid: string }>(service, "SELECT uid FROM clients"))[0] as { uid: string }
    for (const step of ["approve", "pay"]) {
      const approvalId = await asked("withdrawal", step, requestId)
      const { args } = await approvalOf(approvalId)
      const shown = { requestId: Number(requestId), amount: "10.000000", currency: "USDC", clientUid }
      assert.deepStrictEqual(args, shown)
      await grant(approvalId)
    }
  })

  it("fail is refused while a payment waits for its second key; then it waits for its own", async () => {
    const requestId = await here.ask(null)
    await grant(await asked("withdrawal", "approve", requestId))
    const paying = await asked("withdrawal", "pay", requestId)
    const line = ["withdrawal", "fail", requestId, "--reason", "refused by the bank"]
    const early = await service.cli(line, "FINANCE")
    assert.deepStrictEqual([early.status, early.refusal.code], [1, 4092])
    assert.deepStrictEqual(early.refusal.data, {
      reason: "APPROVAL_PENDING",
      approvalId: Number(paying),
      requestId: Number(requestId)
    })
    await service.done(["approval", "refuse", paying], "ADMIN")
    const failing = await asked(...line)
    const later = await asked("withdrawal", "pay", requestId)
    const met = await service.cli(["approval", "grant", failing], "ADMIN")
    assert.deepStrictEqual([met.status, met.refusal.data.outcome], [1, "REFUSED"])
    await service.done(["sim", "clock", "advance", "8d"])
    assert.isString(later)
    const { result } = await grant(await asked(...line))
    assert.deepInclude(result, { status: "REJECTED", decisionNote: "refused by the bank" })
  })

  it("break close waits for a second key", async () => {
    const opened = await service.done(
      ["break", "open", "--scope", "ALL", "--currency", "USDC", "--amount", "1", "--reason", "r"],
      "FINANCE"
    )
    const line = ["break", "close", String(opened.breakId), "--reason", "explained"]
    const approvalId = await asked(...line)
    assert.strictEqual((await service.done(["break", "list", "--status", "OPEN"])).breaks.length, 1)
    const { waiting } = await service.done(["queue"])
    const kinds = waiting.map(({ kind }: { readonly kind: string }) => kind)
    assert.include(kinds, "approval")
    assert.notInclude(kinds, "break", "what has been asked for waits as its approval alone")
    assert.strictEqual((await grant(approvalId)).result.status, "CLOSED")
    assert.strictEqual((await service.cli(line, "FINANCE")).refusal.code, 4092)
  })

  it("a granted command that had nothing left to do is done, and can't be granted again", async () => {
    await service.partner({ code: "FIRM", sandbox: false })
    const record = ["interfirm", "record", "FIRM", "--amount", "5", "--from", "0", "--to", "1", "--tx-ref", "wire 1"]
    const [one, two] = [await asked(...record), await asked(...record.with(4, "5.00"))]
    assert.notStrictEqual(one, two, "the same payment, asked for in other words")
    const first = await grant(one)
    assert.deepStrictEqual((await grant(two)).result, first.result)
    assert.strictEqual((await approvalOf(two)).outcome, "DONE")
    const again = await service.cli(["approval", "grant", two], "SECOND")
    assert.deepStrictEqual([again.status, again.refusal.code], [1, 4092])
    const { entries } = await service.done(["audit", "tail", "--object", `approval:${two}`])
    assert.include(
      entries.map((row: { after: string }) => row.after),
      "NOTHING_TO_DO"
    )
  })
})
