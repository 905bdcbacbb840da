/**
 * Deposit notices through the command line: finance lists, confirms and rejects; no other role decides (operator
 * surface, deposit; doc 3, Deposit notice; D9; A3-04, A3-05, A3-44).
 */
import { assert, describe, it } from "@effect/vitest"
import { exitStatus } from "../../cli/CliIo.ts"
import { depositStatuses } from "../../src/machines/deposit/DepositNotice.ts"
import * as tokens from "../../src/http/api/operator/operatorTokens.ts"
import { ofClient, rowCounts } from "../support/Builders.ts"
import { runRecorded } from "./operatorHarness.ts"
import { broker } from "../support/Scenario.ts"
import { openOperatorScenario } from "./operatorScenario.ts"

const { service, partner, fresh } = await openOperatorScenario({ partner: { code: "DEPO", ...broker } })
const other = await service.partner({ code: "ELSE", ...broker })

const file = async (clientId: number, key = partner.key): Promise<number> => {
  const body = { partnerRef: fresh(), currency: "EUR", amount: "12.5" }
  const answer = await service.call("POST", `/partner/v1/clients/${clientId}/deposits`, { key, body })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.json.data.noticeId
}
const filed = async () => String(await file(await service.client(partner.key)))

describe("operator surface, deposit", () => {
  it("the statuses the command line offers are the notice's", () =>
    assert.deepStrictEqual(tokens.depositStatuses, depositStatuses))

  it("list: newest first, by status and partner, a page at a time", async () => {
    const [one, two] = [await filed(), await filed()]
    const foreign = String(await file(await service.client(other.key), other.key))
    await service.done(["deposit", "confirm", one], "FINANCE")
    const ids = async (...options: ReadonlyArray<string>): Promise<ReadonlyArray<string>> =>
      (await service.done(["deposit", "list", ...options], "SUPPORT")).deposits.map(
        (row: { readonly noticeId: number }) => String(row.noticeId)
      )
    assert.deepStrictEqual(await ids("--limit", "3"), [foreign, two, one])
    assert.deepStrictEqual(await ids("--partner", "DEPO"), [two, one])
    assert.deepStrictEqual(await ids("--partner", "DEPO", "--status", "PENDING"), [two])
    const page = await service.done(["deposit", "list", "--limit", "2"])
    assert.deepStrictEqual([page.hasMore, page.nextBefore], [true, Number(two)])
    assert.deepStrictEqual(await ids("--limit", "1", "--before", String(page.nextBefore)), [one])
    assert.strictEqual((await service.cli(["deposit", "list", "--partner", "NOBODY"])).refusal.code, 4004)
    assert.strictEqual((await service.cli(["deposit", "list", "--status", "OPEN"])).status, 2)
  })

  it("D9, A3-04: confirm credits the client, shows who decided in which role, and is safe to repeat", async () => {
    const clientId = await service.client(partner.key)
    const noticeId = String(await file(clientId))
    const line = ["deposit", "confirm", noticeId, "--note", "seen on the account"]
    const notice = await service.done(line, "FINANCE")
    assert.deepInclude(notice, {
      status: "CONFIRMED",
      decidedBy: "FINANCE",
      decisionNote: "seen on the account",
      currency: "EUR",
      amount: "12.50"
    })
    assert.deepStrictEqual(await service.done(line, "ADMIN"), notice)
    const { postings, ...shown } = await service.done(["deposit", "show", noticeId], "SUPPORT")
    assert.deepStrictEqual(shown, notice)
    assert.deepStrictEqual(
      postings.map(({ txId, type, amount, clientId: of }: Record<string, unknown>) => [txId, type, amount, of]),
      [
        [notice.ledgerTxId, "DEPOSIT", "12.50", notice.clientId],
        [notice.ledgerTxId, "DEPOSIT", "-12.50", null]
      ]
    )
    const human = (await runRecorded(["deposit", "show", noticeId, ...service.connection("SUPPORT")])).stdout
    for (const { account } of postings) assert.include(human, account)
    assert.match(human, /PENDING -> CONFIRMED +FINANCE\/FINANCE one +seen on the account/)
    const wrong = await service.cli(["deposit", "show", "999999"])
    assert.strictEqual(wrong.refusal.data.reason, "UNKNOWN_DEPOSIT_NOTICE")
    const audit = (await ofClient(service, "audit", clientId)).filter(({ action }) => action === "deposit.confirm")
    assert.deepStrictEqual(
      audit.map(({ role, keyLabel, before, after, reason }) => [role, keyLabel, before, after, reason]),
      [["FINANCE", "FINANCE one", "PENDING", "CONFIRMED", "seen on the account"]]
    )
    const refused = await service.cli(["deposit", "reject", noticeId, "--reason", "too late"], "FINANCE")
    assert.deepStrictEqual([refused.status, refused.refusal.code], [1, 4092])
    assert.strictEqual(refused.refusal.data.notice.status, "CONFIRMED")
  })

  it("D9, A3-04: reject needs a reason, which the partner reads; the opposite is refused afterwards", async () => {
    const noticeId = await filed()
    assert.strictEqual((await service.cli(["deposit", "reject", noticeId], "FINANCE")).status, 2)
    const line = ["deposit", "reject", noticeId, "--reason", "never arrived"]
    const unasked = await runRecorded([...line, ...service.connection("ADMIN")], { canPrompt: () => false })
    assert.deepStrictEqual([unasked.status, unasked.stdout], [exitStatus.usage, ""])
    assert.match(unasked.stderr, /give --yes\. Nothing was done\./)
    const notice = await service.done(line, "ADMIN")
    assert.deepInclude(notice, {
      status: "REJECTED",
      decidedBy: "ADMIN",
      decisionNote: "never arrived",
      ledgerTxId: null
    })
    const refused = await service.cli(["deposit", "confirm", noticeId], "FINANCE")
    assert.deepStrictEqual([refused.status, refused.refusal.code], [1, 4092])
  })

  it("A3-05: a FROZEN account leaves the notice PENDING, with the sentence", async () => {
    const clientId = await service.client(partner.key)
    const noticeId = String(await file(clientId))
    await service.done(["client", "restrict", String(clientId), "FROZEN", "--reason", "court order"], "COMPLIANCE")
    const refused = await service.cli(["deposit", "confirm", noticeId], "FINANCE")
    assert.deepStrictEqual([refused.status, refused.refusal.code], [1, 4092])
    assert.match(refused.refusal.msg, /frozen/)
    const { state, history } = await service.done(["machine", "inspect", "depositNotice", noticeId])
    assert.strictEqual(state, "PENDING")
    assert.lengthOf(history, 1)
  })

  it.each(["COMPLIANCE", "SUPPORT"] as const)("A3-44: %s lists but does not decide", async (role) => {
    const noticeId = await filed()
    const before = await rowCounts(service)
    for (const line of [
      ["deposit", "confirm", noticeId],
      ["deposit", "reject", noticeId, "--reason", "r"]
    ]) {
      const ran = await service.cli(line, role)
      assert.deepStrictEqual([ran.status, ran.refusal.code], [1, 4034])
    }
    assert.deepStrictEqual(await rowCounts(service), before)
  })

  it("A1-01: a notice of another id is unknown", async () => {
    const ran = await service.cli(["deposit", "confirm", "999999999"], "FINANCE")
    assert.deepStrictEqual([ran.status, ran.refusal.code], [1, 4004])
  })

  it("without --json a list is a table, and a confirmation is requested first", async () => {
    const noticeId = await filed()
    const shown = await runRecorded(["deposit", "list", ...service.connection("FINANCE")])
    assert.include(shown.stdout, "12.50 EUR")
    const asked: Array<string> = []
    const ran = await runRecorded(["deposit", "confirm", noticeId, ...service.connection("FINANCE")], {
      confirm: (question) => {
        asked.push(question)
        return false
      }
    })
    const { clientUid } = await service.done(["deposit", "show", noticeId])
    assert.deepStrictEqual(
      [ran.status, asked],
      [
        1,
        [
          `Confirm deposit notice ${noticeId} of ${clientUid}, 12.50 EUR? The client is credited at once; postings are never undone, only corrected.`
        ]
      ]
    )
    assert.include((await runRecorded(["deposit", "list", ...service.connection("FINANCE")])).stdout, "PENDING")
    // A decided notice needs no confirmation, and the reply names who decided.
    await service.done(["deposit", "confirm", noticeId], "FINANCE")
    const again = await runRecorded(["deposit", "confirm", noticeId, ...service.connection("FINANCE")], {
      confirm: () => assert.fail("it asks about what it would not do")
    })
    assert.strictEqual(again.status, exitStatus.done, again.stderr)
    assert.match(again.stdout, /^Nothing has changed\.\nLast decision: .*PENDING -> CONFIRMED, by FINANCE\//)
  })
})
