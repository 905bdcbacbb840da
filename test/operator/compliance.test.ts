/**
 * Compliance through the command line, on a real service: restrictions, screening, cases, both decisions
 * (D1, D2, D3; A1-28, A1-48, A3-10; F26).
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { openOperatorScenario } from "./operatorScenario.ts"

const { service, key, heldClient } = await openOperatorScenario({ partner: { code: "COMP" } })

const rows = (sql: string, clientId: number | string) =>
  service.run(
    Effect.flatMap(PgClient.PgClient, (client) => client.unsafe<Record<string, unknown>>(sql, [BigInt(clientId)]))
  )
const show = (clientId: number | string) => service.done(["client", "show", String(clientId)], "SUPPORT")
const notifications = async (clientId: number) =>
  (await rows("SELECT kind FROM notifications WHERE client_id = $1 ORDER BY id", clientId)).map((row) => row.kind)

describe("operator surface, compliance", () => {
  it("A3-10: restrictions stack, each once; lifting the last one brings ACTIVE back", async () => {
    const clientId = await service.client(key)
    const restrict = (name: string) =>
      service.cli(["client", "restrict", String(clientId), name, "--reason", "r"], "COMPLIANCE")
    const lift = (name: string) => service.cli(["client", "lift", String(clientId), name], "COMPLIANCE")
    assert.strictEqual((await restrict("FROZEN")).json.lifecycleState, "RESTRICTED")
    assert.deepStrictEqual((await restrict("NO_WITHDRAWALS")).json.restrictions, ["FROZEN", "NO_WITHDRAWALS"])
    assert.strictEqual((await restrict("FROZEN")).refusal.code, 4092)
    assert.strictEqual((await restrict("CLOSE_OUT")).status, 2)
    assert.strictEqual((await lift("NO_NEW_RISK")).refusal.code, 4092)
    assert.strictEqual((await lift("FROZEN")).json.lifecycleState, "RESTRICTED")
    assert.strictEqual((await lift("NO_WITHDRAWALS")).json.lifecycleState, "ACTIVE")
    assert.deepStrictEqual(await notifications(clientId), [
      "RESTRICTION_SET",
      "RESTRICTION_SET",
      "RESTRICTION_LIFTED",
      "RESTRICTION_LIFTED"
    ])
  })

  it("a client is named by id or uid; an unknown one answers 404 code 4004", async () => {
    const clientId = await service.client(key)
    const byId = await show(clientId)
    assert.deepStrictEqual(await show(byId.clientUid), byId)
    assert.strictEqual(byId.blocks.length, 12)
    for (const name of ["999999", "COMP-99999999"]) {
      assert.strictEqual((await service.cli(["client", "show", name])).refusal.code, 4004, name)
    }
    const page = await service.done(["client", "list", "--partner", "COMP", "--state", "ACTIVE", "--limit", "1"])
    assert.deepStrictEqual(Object.keys(page), ["clients", "hasMore", "nextBefore"])
    assert.deepStrictEqual([page.clients.length, page.clients[0].clientId, page.hasMore], [1, clientId, true])
    const next = await service.done(["client", "list", "--limit", "1", "--before", String(page.nextBefore)])
    assert.isBelow(next.clients[0].clientId, clientId)
  })

  it("D1, D2: clear grants the held client, accepts its package and remembers the candidates", async () => {
    const { clientId, caseId, entryId } = await heldClient()
    const held = await show(clientId)
    assert.deepStrictEqual(
      [held.lifecycleState, held.verificationLevel, held.openCases],
      ["KYC_PENDING", "NONE", [caseId]]
    )
    const open = (await service.done(["case", "list", "--open"], "SUPPORT")).cases
    assert.deepStrictEqual(
      [open[0].caseId, open[0].clientUid, open[0].reason],
      [caseId, held.clientUid, "SCREENING_HIT"]
    )
    assert.strictEqual((await service.done(["case", "show", String(caseId)])).details.candidates[0].entryId, entryId)
    const cleared = await service.done(["kyc", "clear", held.clientUid, "--note", "another person"], "COMPLIANCE")
    assert.deepStrictEqual(
      [cleared.lifecycleState, cleared.verificationLevel, cleared.openCases],
      ["ACTIVE", "MICA", []]
    )
    assert.deepStrictEqual([cleared.kycPackage.status, cleared.kycPackage.reviewedBy], ["ACCEPTED", "COMPLIANCE"])
    assert.deepStrictEqual(await notifications(clientId), ["VERIFICATION_DECISION"])
    const kept = await rows("SELECT entry_id, disposition, decided_by FROM dispositions WHERE client_id = $1", clientId)
    assert.deepStrictEqual(kept, [
      { entry_id: BigInt(entryId), disposition: "FALSE_POSITIVE", decided_by: "COMPLIANCE" }
    ])
    const decisions = await rows("SELECT decision, reason, decided_by FROM decisions WHERE client_id = $1", clientId)
    assert.deepStrictEqual(decisions, [
      { decision: "REVIEW_CLEARED", reason: "another person", decided_by: "COMPLIANCE" }
    ])
    const closed = await service.done(["case", "show", String(caseId)])
    assert.deepStrictEqual([closed.status, closed.decidedBy, closed.note], ["CLEARED", "COMPLIANCE", "another person"])
    assert.isAbove(closed.closedAt, 0)
    assert.strictEqual((await service.cli(["kyc", "clear", String(clientId)])).refusal.code, 4092)
  })

  it("A3-10: a restriction set while the client is held survives the clearing", async () => {
    const { clientId } = await heldClient()
    await service.done(["client", "restrict", String(clientId), "NO_WITHDRAWALS", "--reason", "r"])
    const cleared = await service.done(["kyc", "clear", String(clientId), "--note", "another person"])
    assert.deepStrictEqual([cleared.lifecycleState, cleared.verificationLevel], ["RESTRICTED", "MICA"])
    assert.strictEqual(cleared.kycPackage.reviewedBy, "ADMIN")
  })

  it("D3, A1-48: reject takes level, package, all twelve blocks and the case, and notifies the partner", async () => {
    const { clientId, caseId } = await heldClient()
    const rejected = await service.done(
      ["kyc", "reject", String(clientId), "--reason", "papers do not match"],
      "COMPLIANCE"
    )
    assert.deepStrictEqual([rejected.lifecycleState, rejected.verificationLevel], ["KYC_PENDING", "NONE"])
    assert.deepStrictEqual(
      [rejected.kycPackage.status, rejected.kycPackage.reviewNote],
      ["REJECTED", "papers do not match"]
    )
    assert.deepStrictEqual(
      rejected.blocks.map((block: { status: string; decidedBy: string; reason: string }) => [
        block.status,
        block.decidedBy,
        block.reason
      ]),
      Array.from({ length: 12 }, () => ["REJECTED", "COMPLIANCE", "papers do not match"])
    )
    assert.strictEqual((await service.done(["case", "show", String(caseId)])).status, "REJECTED")
    const events = await rows("SELECT name, data FROM events WHERE client_id = $1 ORDER BY seq", clientId)
    assert.deepStrictEqual(
      events.map((event) => event.name),
      ["client.review_required", "kyc.rejected"]
    )
    assert.deepStrictEqual(events[1]?.data, {
      kycPackageId: rejected.kycPackage.kycPackageId,
      revision: 1,
      reason: "papers do not match",
      verificationLevel: "NONE",
      lifecycleState: "KYC_PENDING"
    })
    for (const again of [
      ["kyc", "reject", String(clientId), "--reason", "r"],
      ["kyc", "clear", String(clientId)]
    ]) {
      assert.strictEqual((await service.cli(again)).refusal.code, 4092, again.join(" "))
    }
  })

  it("D1: reliance on an ACTIVE client can be rejected as well", async () => {
    const clientId = await service.client(key)
    const rejected = await service.done(["kyc", "reject", String(clientId), "--reason", "withdrawn"])
    assert.deepStrictEqual([rejected.lifecycleState, rejected.verificationLevel], ["KYC_PENDING", "NONE"])
    assert.strictEqual(
      rejected.blocks.every((block: { status: string }) => block.status === "REJECTED"),
      true
    )
  })

  it("F26: a removed entry no longer holds a client, and can't be removed twice", async () => {
    const body = sampleOnboarding(900, "gone", Date.now())
    const { first_name, last_name } = body.kyc.personalInfo
    const entry = await service.done(
      ["screening", "add", "--name", `${first_name} ${last_name}`, "--list", "PEP"],
      "COMPLIANCE"
    )
    assert.isNull(entry.removedAt)
    const remove = ["screening", "remove", String(entry.entryId)]
    assert.isAbove((await service.done(remove, "COMPLIANCE")).removedAt, 0)
    assert.strictEqual((await service.cli(remove)).refusal.code, 4092)
    assert.strictEqual((await service.cli(["screening", "remove", "999999"])).refusal.code, 4004)
    assert.strictEqual((await service.call("POST", "/partner/v1/clients", { key, body })).json.data.status, "ACTIVE")
    const { entries } = await service.done(["screening", "list"], "SUPPORT")
    assert.notInclude(
      entries.map((row: { entryId: number }) => row.entryId),
      entry.entryId
    )
    const bad = await service.cli([
      "screening",
      "add",
      "--name",
      "A B",
      "--dob",
      "2001-02-30",
      "--country",
      "XX",
      "--list",
      "PEP"
    ])
    assert.sameMembers(Object.keys(bad.refusal.data.errors), ["dob", "country"])
  })

  it("D1, D3: an expired block refuses the clearing and leaves no trace", async () => {
    const { clientId, caseId } = await heldClient()
    await service.done(["sim", "clock", "advance", "3660d"], "ADMIN")
    const auditBefore = (
      await rows("SELECT count(*) AS n FROM audit WHERE client_id = $1 AND role <> 'SYSTEM'", clientId)
    )[0]?.n
    const block = async () =>
      (await show(clientId)).blocks.find((each: { code: string }) => each.code === "IDENTIFICATION").status
    for (let round = 0; round < 200 && (await block()) !== "EXPIRED"; round++)
      await new Promise((resolve) => setImmediate(resolve))
    const ran = await service.cli(["kyc", "clear", String(clientId)])
    assert.deepStrictEqual([ran.status, ran.refusal.code], [1, 4092])
    assert.include(ran.refusal.data.missingBlocks, "IDENTIFICATION")
    assert.strictEqual((await service.done(["case", "show", String(caseId)])).status, "OPEN")
    assert.strictEqual(
      (await rows("SELECT count(*) AS n FROM audit WHERE client_id = $1 AND role <> 'SYSTEM'", clientId))[0]?.n,
      auditBefore
    )
  })
})
