/** Four eyes: bound to the exact arguments, single use, never granted by the requesting key (operator surface). */
import { assert, describe, it } from "@effect/vitest"
import { fourEyesClasses } from "../../src/http/api/operator/commands.ts"
import {
  approvalMillis,
  grantRefusal,
  hashArguments
} from "../../src/runtime/services/operations/operator/approvalDecisions.ts"
import { ActorHost, type Turn } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { runningApprovals } from "../../src/runtime/services/operations/operator/runningApprovals.ts"
import type { ApprovalRow } from "../../src/runtime/tables/operator.ts"
import { brokenInvariants, query } from "../support/Builders.ts"
import { heldAt } from "../support/lockTable.ts"
import { runRecorded } from "./operatorHarness.ts"
import { openOperatorScenario } from "./operatorScenario.ts"

const { service, key } = await openOperatorScenario({
  settings: { fourEyes: new Set(fourEyesClasses) },
  partner: { code: "EYES" },
  damaged: true
})
const clientId = String(await service.client(key))

const adjust = (amount: string) =>
  `ledger adjust ${clientId} --currency USDC --amount ${amount} --reason correction`.split(" ")
const cash = async () => (await service.done(["client", "show", clientId])).cashUsdc

describe("operator surface, sim run under four eyes", () => {
  it("is refused at once with the remedy, and leaves nothing behind", async () => {
    const before = await service.done(["partner", "list"])
    const { status, refusal } = await service.cli(["sim", "run", "SC-CUS-03"])
    assert.deepStrictEqual([status, refusal.code], [1, 4092])
    assert.include(refusal.msg, "(key issue, withdrawal approve, withdrawal pay)")
    assert.include(refusal.msg, "--own")
    assert.deepStrictEqual(await service.done(["partner", "list"]), before)
    assert.deepStrictEqual((await service.done(["approval", "list"])).approvals, [])
  })
})

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
    assert.deepStrictEqual(row.args, {
      currency: "USDC",
      amount: "12.50",
      reason: "correction",
      client: clientId,
      clientUid: "EYES-00000001"
    })
    assert.deepStrictEqual([row.status, row.expiresAt - row.requestedAt], ["GRANTED", approvalMillis])
    // The approval stores a partner by its id, and shows its code.
    const { approvalId } = await service.done(["key", "issue", "EYES", "--label", "x", "--scope", "READ"], "ADMIN")
    const shown = await runRecorded(["approval", "show", String(approvalId), ...service.connection("ADMIN")])
    assert.match(shown.stdout, /^object +partner EYES$/m)
    await service.done(["approval", "refuse", String(approvalId)])
  })

  it("A2-62: a reference is stored with the request; booked once, it is refused before an approval is requested", async () => {
    const line = [...adjust("2"), "--reference", "CASE-7"]
    const first = await service.done(line, "FINANCE")
    const second = await service.done([...adjust("2").with(8, "in other words"), "--reference", "CASE-7"], "FINANCE")
    const booked = await service.done(["approval", "grant", String(first.approvalId)], "ADMIN")
    assert.strictEqual(booked.result.reference, "CASE-7")
    const late = await service.cli(["approval", "grant", String(second.approvalId)], "ADMIN")
    assert.deepStrictEqual([late.status, late.refusal.code], [1, 4092])
    assert.include(late.refusal.msg, `transaction ${booked.result.ledgerTxId}.`)
    const third = await service.cli(line, "FINANCE")
    assert.deepStrictEqual(
      [third.status, third.refusal.data],
      [1, { reason: "BOOKED_ALREADY", ledgerTxId: booked.result.ledgerTxId }]
    )
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

  it("a refused request never runs, and any key of the role may refuse, the requester's too", async () => {
    const before = await cash()
    const asked = await service.done(adjust("3"), "FINANCE")
    assert.strictEqual(
      (await service.done(["approval", "refuse", String(asked.approvalId)], "FINANCE")).status,
      "REFUSED"
    )
    assert.strictEqual((await service.cli(["approval", "grant", String(asked.approvalId)], "ADMIN")).refusal.code, 4092)
    assert.strictEqual(await cash(), before)
  })

  it("a command that could not run anyway is refused at once; a failure after the grant is shown", async () => {
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

  /**
   * Requests a command, grants it with another key, and checks that neither the requester nor a second grant has any
   * effect.
   */
  const asked = async (line: ReadonlyArray<string>, by: "ADMIN" | "FINANCE") => {
    const pending = await service.done(line, by)
    assert.deepStrictEqual(Object.keys(pending), ["approvalId"])
    const grant = ["approval", "grant", String(pending.approvalId)]
    const own = await service.cli(grant, by)
    assert.deepStrictEqual([own.status, own.refusal.code], [1, 4092])
    return { approvalId: pending.approvalId as number, grant }
  }
  const outcomeOf = async (approvalId: number) =>
    (await service.done(["approval", "list"])).approvals.find(
      (row: { approvalId: number }) => row.approvalId === approvalId
    ).outcome

  it("withdrawal approve and pay: each waits for its own grant, and the request moves by it alone", async () => {
    const firm = await service.partner({ code: "EYEW", custody: "BROKER", collateralAsset: "", sandbox: false })
    const owner = await service.client(firm.key)
    const at = (route: string) => `/partner/v1/clients/${owner}/${route}`
    const notice = (
      await service.call("POST", at("deposits"), {
        key: firm.key,
        body: { partnerRef: "d", currency: "USDC", amount: "50" }
      })
    ).json.data
    await service.done(["deposit", "confirm", String(notice.noticeId)], "FINANCE")
    const { requestId } = (
      await service.call("POST", at("withdrawals"), {
        key: firm.key,
        body: { partnerRef: "w", currency: "USDC", amount: "20", destination: { iban: "DE1" } }
      })
    ).json.data
    const state = async () =>
      (await service.call("GET", at("withdrawals"), { key: firm.key })).json.data.withdrawals[0].status
    const early = await service.cli(["withdrawal", "pay", String(requestId)], "FINANCE")
    assert.deepStrictEqual([early.status, early.refusal.code], [1, 4092])
    const steps = [
      ["approve", "REQUESTED", "APPROVED"],
      ["pay", "APPROVED", "PAID"]
    ] as const
    for (const [verb, before, after] of steps) {
      const { grant, approvalId } = await asked(["withdrawal", verb, String(requestId)], "FINANCE")
      assert.strictEqual(await state(), before)
      const questions: Array<string> = []
      const confirm = (question: string) => questions.push(question) < 1
      await runRecorded([...grant, ...service.connection("ADMIN")], { confirm })
      assert.match(
        questions.join(),
        /^Grant approval \d+, withdrawal \w+ \d+ of \S+, 20\S* USDC to iban DE1, requested by [^?]+\? Its/
      )
      assert.strictEqual((await service.done(grant, "ADMIN")).result.status, after)
      assert.strictEqual(await state(), after)
      assert.strictEqual((await service.cli(grant, "SECOND")).refusal.code, 4092)
      assert.strictEqual(await outcomeOf(approvalId), "DONE")
    }
  })

  it("client payout: bound to client, currency and amount; paid once", async () => {
    const firm = await service.partner({ code: "EYEP", custody: "BROKER", collateralAsset: "", sandbox: false })
    const owner = await service.client(firm.key)
    const credit = await asked(
      ["ledger", "adjust", String(owner), "--currency", "USDC", "--amount", "30", "--reason", "r"],
      "FINANCE"
    )
    await service.done(credit.grant, "ADMIN")
    const line = ["client", "payout", String(owner), "--currency", "USDC", "--amount", "10", "--reason", "left"]
    const able = await service.cli(line, "FINANCE")
    assert.deepStrictEqual([able.status, able.refusal.code], [1, 4092])
    await service.done(["kyc", "reject", String(owner), "--reason", "documents are false"], "COMPLIANCE")
    const { grant, approvalId } = await asked(line, "FINANCE")
    const { approvals } = await service.done(["approval", "list"])
    assert.deepStrictEqual(approvals[0].args, {
      currency: "USDC",
      amount: "10",
      reason: "left",
      client: String(owner),
      clientUid: "EYEP-00000003"
    })
    assert.strictEqual((await service.done(grant, "ADMIN")).result.balance.cash, "20.000000")
    assert.strictEqual((await service.cli(grant, "SECOND")).refusal.code, 4092)
    assert.strictEqual(await outcomeOf(approvalId), "DONE")
  })

  it("interfirm record: recorded by the grant; the same record again needs no approval", async () => {
    const line = ["interfirm", "record", "EYES", "--amount", "5", "--from", "0", "--to", "1", "--tx-ref", "wire 9"]
    const { grant } = await asked(line, "FINANCE")
    const recorded = await query(service, "SELECT id FROM interfirm_records WHERE tx_ref = 'wire 9'")
    assert.lengthOf(recorded, 0)
    const { result } = await service.done(grant, "ADMIN")
    assert.deepStrictEqual([result.txRef, result.recordedBy], ["wire 9", "ADMIN"])
    assert.deepStrictEqual(await service.done(line, "FINANCE"), result)
  })

  it("partner custody: refused with its blockers before an approval is requested, and again if they appear after it", async () => {
    const firm = await service.partner({ code: "EYEC", sandbox: false })
    const owner = await service.client(firm.key)
    const line = ["partner", "custody", "EYEC", "BROKER", "--reason", "r"]
    const report = (partnerRef: string, direction: string) =>
      service.call("POST", `/partner/v1/clients/${owner}/collateral`, {
        key: firm.key,
        body: { partnerRef, direction, amount: "5" }
      })
    await report("a", "DEPOSIT")
    assert.lengthOf((await service.cli(line)).refusal.data.blockers, 2)
    await report("b", "WITHDRAWAL")
    const first = await asked(line, "ADMIN")
    await report("c", "DEPOSIT")
    const late = await service.cli(first.grant, "SECOND")
    assert.deepStrictEqual([late.status, late.refusal.code, late.refusal.data.outcome], [1, 4092, "REFUSED"])
    assert.lengthOf(late.refusal.data.blockers, 2)
    assert.strictEqual(await outcomeOf(first.approvalId), "REFUSED")
    await report("d", "WITHDRAWAL")
    assert.strictEqual((await service.cli(first.grant, "SECOND")).refusal.code, 4092)
    const second = await asked(line, "ADMIN")
    assert.strictEqual((await service.done(second.grant, "SECOND")).result.custodyModel, "BROKER")
    assert.strictEqual(await outcomeOf(second.approvalId), "DONE")
  })

  it("a granted command that a dead process never ran is answered as such, and may be granted again, once", async () => {
    const before = Number(await cash())
    const { approvalId, grant } = await asked(adjust(`-${before + 1}`), "FINANCE")
    // The command is refused now, so that nothing is booked. Without the claim the state is that after a crash.
    assert.strictEqual((await service.cli(grant, "ADMIN")).refusal.data.outcome, "REFUSED")
    await query(service, "DELETE FROM claims WHERE name = $1", [`approval:${approvalId}`])
    assert.strictEqual(await outcomeOf(approvalId), "NOT_RUN")
    const more = await asked(adjust("1"), "FINANCE")
    await service.done(more.grant, "ADMIN")
    assert.strictEqual((await service.cli(grant, "FINANCE")).refusal.code, 4092)
    const both = await Promise.all([service.cli(grant, "ADMIN"), service.cli(grant, "SECOND")])
    assert.sameMembers(
      both.map(({ status }) => status),
      [0, 1]
    )
    assert.strictEqual(await cash(), "0.000000")
    assert.strictEqual(await outcomeOf(approvalId), "DONE")
    const { entries } = await service.done(["audit", "tail", "--object", `approval:${approvalId}`])
    assert.deepStrictEqual(
      entries.map((row: { action: string }) => row.action),
      ["approval.request", "approval.grant", "approval.used", "approval.resume"]
    )
  })

  /** A guarded request of a separate operator key, which `revoke` revokes later. */
  const askedByAnother = async (label: string, line: ReadonlyArray<string> = adjust("1")) => {
    const { operatorId, key } = await service.done(["operator", "create", "--label", label, "--role", "FINANCE"])
    const connection = ["--url", service.url, "--operator-key", key, "--ca", service.caFile]
    const ran = await runRecorded([...line, "--json", "--yes", ...connection])
    const grant = ["approval", "grant", String(ran.json.approvalId)]
    return { approvalId: ran.json.approvalId as number, grant, revoke: ["operator", "revoke", String(operatorId)] }
  }
  const revoked = "The operator key that requested the command is revoked: request it again with another key."

  it("a request of a key that is revoked since is not granted, and may be refused", async () => {
    const before = await cash()
    const { approvalId, grant, revoke } = await askedByAnother("stolen")
    await service.done(revoke)
    const late = await service.cli(grant, "SECOND")
    assert.deepStrictEqual([late.status, late.refusal.code, late.refusal.msg], [1, 4092, revoked])
    assert.strictEqual(await cash(), before)
    const refused = await service.done(["approval", "refuse", String(approvalId)], "SECOND")
    assert.strictEqual(refused.status, "REFUSED")
  })

  it("nor is it granted again when its command has not run yet", async () => {
    const { approvalId, grant, revoke } = await askedByAnother("left")
    await service.done(grant, "ADMIN")
    // Without the claim the state is that after a crash before the command's commit.
    await query(service, "DELETE FROM claims WHERE name = $1", [`approval:${approvalId}`])
    const before = await cash()
    await service.done(revoke)
    const late = await service.cli(grant, "SECOND")
    assert.deepStrictEqual([late.refusal.code, late.refusal.msg], [4092, revoked])
    assert.strictEqual(await cash(), before)
  })

  it("a key revoked between the grant's commit and the command's: the command never takes effect", async () => {
    const firm = await service.partner({ code: "EYER", custody: "BROKER", collateralAsset: "", sandbox: false })
    const owner = await service.client(firm.key)
    const own = await service.done(["ledger", "adjust", String(owner), ...adjust("9").slice(3)], "FINANCE")
    await service.done(["approval", "grant", String(own.approvalId)], "ADMIN")
    const asking = { partnerRef: "w", currency: "USDC", amount: "9" }
    const { requestId } = (
      await service.call("POST", `/partner/v1/clients/${owner}/withdrawals`, { key: firm.key, body: asking })
    ).json.data
    const { approvalId, grant, revoke } = await askedByAnother("fired", ["withdrawal", "approve", String(requestId)])
    const late = await heldAt(
      service,
      "withdrawal_requests",
      () => service.cli(grant, "ADMIN"),
      () => service.done(revoke)
    )
    assert.deepStrictEqual([late.status, late.refusal.code, late.refusal.msg], [1, 4092, revoked])
    const { withdrawals } = await service.done(["withdrawal", "list", "--partner", "EYER"], "FINANCE")
    assert.deepStrictEqual(
      withdrawals.map((row: { status: string }) => row.status),
      ["REQUESTED"]
    )
    assert.strictEqual(await outcomeOf(approvalId), "REFUSED")
    assert.strictEqual((await service.cli(grant, "SECOND")).refusal.code, 4092)
    // A command that was done before the revocation stays done, and delays no other command.
    const done = await askedByAnother("left early")
    await service.done(done.grant, "ADMIN")
    await service.done(done.revoke)
    assert.strictEqual(await outcomeOf(done.approvalId), "DONE")
  })

  it("nor does one take effect whose granting key is revoked in between; before the grant, another key may grant it", async () => {
    const firm = await service.partner({ code: "EYEG", custody: "BROKER", collateralAsset: "", sandbox: false })
    const owner = await service.client(firm.key)
    const own = await service.done(["ledger", "adjust", String(owner), ...adjust("9").slice(3)], "FINANCE")
    await service.done(["approval", "grant", String(own.approvalId)], "ADMIN")
    const asking = { partnerRef: "g", currency: "USDC", amount: "9" }
    const { requestId } = (
      await service.call("POST", `/partner/v1/clients/${owner}/withdrawals`, { key: firm.key, body: asking })
    ).json.data
    const granter = await service.done(["operator", "create", "--label", "granter", "--role", "FINANCE"])
    const grantAs = (approvalId: number) =>
      runRecorded(
        ["approval", "grant", String(approvalId), "--json", "--yes"].concat([
          "--url",
          service.url,
          "--operator-key",
          granter.key,
          "--ca",
          service.caFile
        ])
      )
    const line = ["withdrawal", "approve", String(requestId)]
    const first = await asked(line, "ADMIN")
    const late = await heldAt(
      service,
      "withdrawal_requests",
      () => grantAs(first.approvalId),
      () => service.done(["operator", "revoke", String(granter.operatorId)])
    )
    assert.deepStrictEqual(
      [late.status, JSON.parse(late.stderr).msg],
      [1, "The operator key that granted the command is revoked: what it let through does not run."]
    )
    const { withdrawals } = await service.done(["withdrawal", "list", "--partner", "EYEG"], "FINANCE")
    assert.deepStrictEqual(
      withdrawals.map((row: { status: string }) => row.status),
      ["REQUESTED"]
    )
    assert.strictEqual(await outcomeOf(first.approvalId), "REFUSED")
    const [used] = (await service.done(["audit", "tail", "--object", `approval:${first.approvalId}`])).entries.slice(-1)
    assert.deepStrictEqual([used.action, used.reason], ["approval.used", "the key that granted it is revoked"])
    const second = await asked(line, "ADMIN")
    assert.strictEqual((await service.done(second.grant, "SECOND")).result.status, "APPROVED")
  })

  it.each(["before the grant's turn", "after a grant that was not committed"] as const)(
    "a key revoked %s ends nothing: the approval waits, may be refused, and holds no fact of its use",
    async (moment) => {
      const running = runningApprovals(await service.run(ActorHost))
      const { approvalId, grant, revoke } = await askedByAnother(moment)
      const requestedBy = Number(revoke[2])
      running.set(approvalId, moment === "before the grant's turn" ? null : { requestedBy, grantedBy: 1 })
      await service.done(revoke)
      running.delete(approvalId)
      assert.strictEqual((await service.cli(grant, "SECOND")).refusal.msg, revoked)
      await service.done(["approval", "refuse", String(approvalId)], "SECOND")
      assert.deepStrictEqual(
        await query(service, "SELECT 1 FROM claims WHERE name = $1", [`approval:${approvalId}`]),
        []
      )
    }
  )

  it("the requester is bound by the audit: another requester written into the row is refused, and found by ledger verify", async () => {
    const { approvalId, grant } = await asked(adjust("4"), "FINANCE")
    const forge = (keyId: string) =>
      query(
        service,
        `UPDATE approvals SET state = 'GRANTED', requested_by = ${keyId},
           context = jsonb_set(context::jsonb, '{requestedBy}', to_jsonb(${keyId}))::json WHERE id = $1`,
        [BigInt(approvalId)]
      )
    const [row] = await query<{ readonly asker: bigint }>(
      service,
      "SELECT requested_by AS asker FROM approvals WHERE id = $1",
      [BigInt(approvalId)]
    )
    const another = (await service.done(["operator", "list"])).operators.find(
      (each: { operatorId: number; status: string }) =>
        BigInt(each.operatorId) !== row?.asker && each.status === "ACTIVE"
    )
    await forge(String(another.operatorId))
    const late = await service.cli(grant, "FINANCE")
    assert.deepStrictEqual([late.status, late.refusal.code], [1, 4092])
    assert.include(late.refusal.msg, "The stored requester")
    const broken = async () =>
      (await brokenInvariants(service)).filter((sentence) => sentence.startsWith("every approval matches the command"))
    assert.match((await broken()).join(), new RegExp(`approval ${approvalId} of key ${another.operatorId} `))
    await forge(String(row?.asker))
    assert.deepStrictEqual(await broken(), [])
  })

  it("arguments changed in the approval's row with their hash differ from the audit: no grant, no resume", async () => {
    const before = await cash()
    const { approvalId, grant } = await asked(adjust("4"), "FINANCE")
    const [entry] = (await service.done(["audit", "tail", "--object", `approval:${approvalId}`])).entries
    const [row] = await query<{ readonly args: string; readonly asker: bigint }>(
      service,
      "SELECT args::text, requested_by AS asker FROM approvals WHERE id = $1",
      [BigInt(approvalId)]
    )
    const args = JSON.parse(row?.args ?? "{}")
    assert.strictEqual(entry.reason, `ledger adjust ${hashArguments(args)} by ${row?.asker}`)
    const forged = { ...args, amount: "4000" }
    // Simulates a grant: memory holds pending rows, so the change of the table is not seen.
    await query(
      service,
      `UPDATE approvals SET state = 'GRANTED', args = $2::json,
         context = jsonb_set(context::jsonb, '{argumentsHash}', to_jsonb($3::text))::json WHERE id = $1`,
      [BigInt(approvalId), JSON.stringify(forged), hashArguments(forged)]
    )
    const late = await service.cli(grant, "ADMIN")
    assert.deepStrictEqual([late.status, late.refusal.code], [1, 4092])
    assert.include(late.refusal.msg, "have changed")
    assert.strictEqual(await cash(), before)
  })

  it.each([
    ["the note of the request", `ledger adjust ${hashArguments({ a: "1" })} by 1`, true],
    ["another key that asked", `ledger adjust ${hashArguments({ a: "1" })} by 2`, false],
    ["a request that does not say who asked", `ledger adjust ${hashArguments({ a: "1" })}`, true],
    ["a request of an older service", "ledger adjust", true],
    ["other arguments", `ledger adjust ${hashArguments({ a: "2" })}`, false],
    ["another command", `ledger export ${hashArguments({ a: "1" })}`, false],
    ["no audit row", null, false]
  ])("the audit of the request against the row that waits: %s", (_, asked, same) => {
    const turn = { state: { get: () => ({ state: "ACTIVE" }) } } as unknown as Turn
    const of = { command: "ledger adjust", args: { a: "1" }, requestedBy: 1, context: { requestedBy: 1 } }
    const row = of as unknown as ApprovalRow
    assert.strictEqual(grantRefusal(turn, row, 2, asked) === null, same)
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
