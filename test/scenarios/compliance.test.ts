/**
 * The decisions of compliance and their consequences for the client, its package, blocks, cases, events and
 * notifications (doc 1, Client lifecycle and level; D1, D2, D3; A1-48, A3-10; F26).
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { blockCodes } from "../../src/machines/verification/Blocks.ts"
import { Compliance } from "../../src/runtime/services/clients/compliance/Compliance.ts"
import { collateral, comply, ofClient, orlenko, rowCounts, watch } from "../support/Builders.ts"
import { operator } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, key, onboarded, rowOf, fresh } = await openScenario({ watched: [orlenko.entry] })

const officer = {
  ...operator,
  role: "COMPLIANCE",
  by: { ...operator.by, role: "COMPLIANCE", keyLabel: "officer" }
} as const

describe("compliance", () => {
  const eventsOf = async (clientId: number) =>
    (await ofClient(service, "events", clientId)).map(({ name, data }) => ({ name, data }))
  const notificationsOf = async (clientId: number) =>
    (await ofClient(service, "notifications", clientId)).map(({ kind, ref }) => `${kind} ${ref}`)
  /** A refused decision, with a check that it wrote nothing. */
  const refused = async (decide: Parameters<typeof comply>[1]) => {
    const before = await rowCounts(service)
    const verdict = await service.run(Effect.provide(Effect.flatMap(Compliance, decide), Compliance.layer))
    assert.isFalse(verdict.ok)
    assert.deepStrictEqual(await rowCounts(service), before)
    return verdict.ok ? null : verdict.refusal
  }

  it("SC-ONB-03: a cleared review stores package, case, dispositions and decision, and announces no second client.onboarded", async () => {
    const { clientId, kycPackageId, review } = await onboarded(orlenko.paths)
    await comply(service, (compliance) => compliance.clear(officer, String(clientId), "another person"))
    assert.deepInclude(await rowOf(clientId), { lifecycleState: "ACTIVE", verificationLevel: "MICA" })
    const [kyc] = await ofClient(service, "kycPackages", clientId)
    assert.strictEqual(kyc?.state, "ACCEPTED")
    assert.deepInclude(kyc?.context, { reviewedBy: "COMPLIANCE", kycPackageId })
    const [closed] = await ofClient(service, "cases", clientId)
    assert.deepInclude(closed, { id: review.caseId, state: "CLEARED" })
    assert.isNumber(closed?.closedAt)
    const details = closed?.details as { readonly candidates: ReadonlyArray<{ readonly entryId: number }> } | undefined
    assert.deepStrictEqual(
      (await ofClient(service, "dispositions", clientId)).map(({ entryId, disposition, decidedBy }) => [
        entryId,
        disposition,
        decidedBy
      ]),
      details?.candidates.map(({ entryId }) => [entryId, "FALSE_POSITIVE", "COMPLIANCE"])
    )
    assert.deepStrictEqual(
      (await eventsOf(clientId)).map(({ name }) => name),
      ["client.review_required"]
    )
    assert.deepStrictEqual(await notificationsOf(clientId), [`VERIFICATION_DECISION ${clientId}`])
    const [decision] = await ofClient(service, "decisions", clientId)
    assert.deepInclude(decision, { decision: "REVIEW_CLEARED", reason: "another person", decidedBy: "COMPLIANCE" })
    const deposit = { partnerRef: `cleared-${clientId}`, direction: "DEPOSIT", amount: "1" }
    assert.strictEqual((await collateral(service, key, clientId, deposit)).status, 201)
  })

  it("POST /clients 6: clearing screens again; a new candidate joins the case and stops the clearance", async () => {
    const { clientId } = await onboarded({
      "kyc.personalInfo.first_name": "Casimir",
      "kyc.personalInfo.last_name": "Wendelin",
      "attestation.riskRating": "HIGH"
    })
    await watch(service, { name: "Casimir Wendelin", list: "SANCTIONS" })
    const clear = () =>
      service.run(
        Effect.provide(
          Effect.flatMap(Compliance, (compliance) => compliance.clear(officer, String(clientId), "another person")),
          Compliance.layer
        )
      )
    const stopped = await clear()
    assert.isTrue(!stopped.ok && stopped.refusal._tag === "Conflict")
    const before = await rowOf(clientId)
    assert.deepStrictEqual([before.lifecycleState, before.verificationLevel], ["KYC_PENDING", "NONE"])
    const details = (await ofClient(service, "cases", clientId)).map((row) => row.details)
    assert.deepStrictEqual(
      details.map(({ candidates }) => (candidates as ReadonlyArray<unknown>).length),
      [1]
    )
    // Compliance has reviewed it now.
    assert.isTrue((await clear()).ok)
    const after = await rowOf(clientId)
    assert.deepStrictEqual([after.lifecycleState, after.verificationLevel], ["ACTIVE", "MICA"])
  })

  it("D1: a review can be cleared once, a client without one not at all", async () => {
    const { clientId } = await onboarded({ "attestation.riskRating": "HIGH" })
    await comply(service, (compliance) => compliance.clear(officer, String(clientId), "another person"))
    await refused((compliance) => compliance.clear(officer, String(clientId), "another person"))
    const plain = await onboarded()
    await refused((compliance) => compliance.clear(officer, String(plain.clientId), "another person"))
  })

  it.each([
    ["an ACTIVE client", {}, []],
    ["a held client", orlenko.paths, ["client.review_required"]]
  ])("D1, D2, D3: reliance rejected for %s", async (_, paths, before) => {
    const { clientId, kycPackageId } = await onboarded({ ...paths, partnerClientRef: fresh() })
    await comply(service, (compliance) => compliance.reject(officer, String(clientId), "No reply from the partner."))
    assert.deepInclude(await rowOf(clientId), { lifecycleState: "KYC_PENDING", verificationLevel: "NONE" })
    const blocks = await ofClient(service, "verificationBlocks", clientId)
    assert.sameMembers(
      blocks.map((block) => block.code),
      [...blockCodes]
    )
    for (const block of blocks) assert.strictEqual(block.state, "REJECTED")
    const [kyc] = await ofClient(service, "kycPackages", clientId)
    assert.deepInclude(kyc, { state: "REJECTED" })
    assert.deepInclude(kyc?.context, { reviewedBy: "COMPLIANCE", reviewNote: "No reply from the partner." })
    for (const row of await ofClient(service, "cases", clientId)) assert.strictEqual(row.state, "REJECTED")
    const events = await eventsOf(clientId)
    assert.deepStrictEqual(
      events.map(({ name }) => name),
      before.length === 0 ? ["client.onboarded", "kyc.rejected"] : [...before, "kyc.rejected"]
    )
    assert.deepStrictEqual(events.at(-1)?.data, {
      kycPackageId,
      revision: 1,
      reason: "No reply from the partner.",
      verificationLevel: "NONE",
      lifecycleState: "KYC_PENDING"
    })
    await refused((compliance) => compliance.reject(officer, String(clientId), "again"))
    await refused((compliance) => compliance.clear(officer, String(clientId), "another person"))
  })

  it("D1: a rejected client keeps its money and is gated with every missing block", async () => {
    const { clientId } = await onboarded()
    await collateral(service, key, clientId, { partnerRef: `kept-${clientId}`, direction: "DEPOSIT", amount: "9" })
    await comply(service, (compliance) => compliance.reject(officer, String(clientId), "test"))
    assert.strictEqual((await rowOf(clientId)).cashUsdc, "9.000000")
    const body = { partnerRef: `out-${clientId}`, direction: "WITHDRAWAL", amount: "9" }
    const { status, json } = await collateral(service, key, clientId, body)
    assert.deepStrictEqual(
      [status, json.code, json.data.action, json.data.level],
      [403, 4030, "WITHDRAW:CRYPTO", "NONE"]
    )
    assert.deepStrictEqual(json.data.missingBlocks, blockCodes.slice(0, 7))
  })

  it("A3-10: restrictions make a client RESTRICTED until the last is lifted, each announced by a notification", async () => {
    const { clientId } = await onboarded()
    const client = String(clientId)
    const states: Array<string> = []
    const look = async () => states.push((await rowOf(clientId)).lifecycleState)
    await comply(service, (compliance) => compliance.restrict(officer, client, "FROZEN", "court order"))
    await look()
    await comply(service, (compliance) => compliance.restrict(officer, client, "NO_NEW_RISK", "court order"))
    await refused((compliance) => compliance.restrict(officer, client, "FROZEN", "again"))
    await comply(service, (compliance) => compliance.lift(officer, client, "FROZEN", "order withdrawn"))
    await look()
    await refused((compliance) => compliance.lift(officer, client, "FROZEN", "again"))
    await comply(service, (compliance) => compliance.lift(officer, client, "NO_NEW_RISK", "order withdrawn"))
    await look()
    assert.deepStrictEqual(states, ["RESTRICTED", "RESTRICTED", "ACTIVE"])
    assert.deepStrictEqual(await notificationsOf(clientId), [
      "RESTRICTION_SET FROZEN",
      "RESTRICTION_SET NO_NEW_RISK",
      "RESTRICTION_LIFTED FROZEN",
      "RESTRICTION_LIFTED NO_NEW_RISK"
    ])
    const audit = (await ofClient(service, "audit", clientId)).filter(({ action }) => /restrict|lift/.test(action))
    assert.deepStrictEqual(
      audit.map(({ role, keyLabel, before, after, reason }) => [role, keyLabel, before, after, reason]),
      [
        ["COMPLIANCE", "officer", "ACTIVE", "RESTRICTED FROZEN", "court order"],
        ["COMPLIANCE", "officer", "RESTRICTED", "RESTRICTED FROZEN NO_NEW_RISK", "court order"],
        ["COMPLIANCE", "officer", "RESTRICTED", "RESTRICTED NO_NEW_RISK", "order withdrawn"],
        ["COMPLIANCE", "officer", "RESTRICTED", "ACTIVE", "order withdrawn"]
      ]
    )
  })

  it("D1: a restriction set while held outlives the review", async () => {
    const { clientId } = await onboarded({ "attestation.riskRating": "HIGH" })
    await comply(service, (compliance) => compliance.restrict(officer, String(clientId), "FROZEN", "court order"))
    assert.strictEqual((await rowOf(clientId)).lifecycleState, "KYC_PENDING")
    await comply(service, (compliance) => compliance.clear(officer, String(clientId), "another person"))
    assert.deepInclude(await rowOf(clientId), { lifecycleState: "RESTRICTED", verificationLevel: "MICA" })
    await comply(service, (compliance) => compliance.lift(officer, String(clientId), "FROZEN", "order withdrawn"))
    assert.strictEqual((await rowOf(clientId)).lifecycleState, "ACTIVE")
  })

  it("D1: twenty decisions at once on one client apply one after the other", async () => {
    const { clientId } = await onboarded()
    const verdicts = await service.run(
      Effect.provide(
        Effect.flatMap(Compliance, (compliance) =>
          Effect.all(
            Array.from({ length: 20 }, () => compliance.restrict(officer, String(clientId), "FROZEN", "race")),
            { concurrency: "unbounded" }
          )
        ),
        Compliance.layer
      )
    )
    assert.strictEqual(verdicts.filter(({ ok }) => ok).length, 1)
    assert.deepStrictEqual(await notificationsOf(clientId), ["RESTRICTION_SET FROZEN"])
  })

  it("Decisions are insert-only: the database refuses to change a decision of compliance", async () => {
    const attempts = ["UPDATE decisions SET reason = 'x'", "DELETE FROM decisions", "TRUNCATE decisions"]
    for (const text of attempts) {
      const exit = await service.run(Effect.exit(Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe(text))))
      assert.strictEqual(exit._tag, "Failure", text)
    }
  })
})
