/**
 * PUT .../kyc after a rejected reliance: the client is onboarded again, with the grant of POST /clients (doc 1, Rules
 * of POST /clients and PUT .../kyc 8; SC-ONB-07, SC-ONB-08; D1, D2, D3; A1-28).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { questionnaire1 } from "../../src/machines/appropriateness/questionnaire1.ts"
import { answersFor } from "../../src/machines/appropriateness/scoring.ts"
import { sampleMifid } from "../../src/machines/mifid/sampleMifid.ts"
import { micaBlockCodes } from "../../src/machines/verification/Blocks.ts"
import { Lifecycle } from "../../src/runtime/services/lifecycle/Lifecycle.ts"
import { comply, ofClient, onboard, orlenko, partners, query, rowCounts } from "../support/Builders.ts"
import { operator } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, key, call, personOf, revisionOf, verificationOf, nextPerson } = await openScenario({
  watched: [orlenko.entry]
})

type Paths = Readonly<Record<string, unknown>>
const put = (clientId: number, body: object) => call("PUT", clientId, "/kyc", body)
const reject = (clientId: number) =>
  comply(service, (compliance) => compliance.reject(operator, String(clientId), "The identity session is missing."))
/** A client whose reliance was rejected. */
const rejected = async (paths: Paths = {}) => {
  const n = nextPerson()
  const { json } = await onboard(service, key, personOf(n, paths))
  const clientId = json.data.clientId as number
  await reject(clientId)
  return { n, clientId, kycPackageId: json.data.kycPackageId as number }
}
const lifecycle = async (decide: (decisions: Lifecycle["Service"]) => ReturnType<Lifecycle["Service"]["reopen"]>) => {
  const verdict = await service.run(Effect.provide(Effect.flatMap(Lifecycle, decide), Lifecycle.layer))
  assert.isTrue(verdict.ok, JSON.stringify(verdict))
}
const eventsOf = async (clientId: number) =>
  (await ofClient(service, "events", clientId)).map(({ name, data }) => ({ name, data }))

describe("re-onboarding", () => {
  it("SC-ONB-07: the full body onboards a rejected client again: every member of the answer, and the stored rows", async () => {
    const { n, clientId, kycPackageId } = await rejected()
    const answer = await put(clientId, revisionOf(n))
    const after = await verificationOf(clientId)
    assert.deepStrictEqual(answer.json, {
      code: 0,
      data: {
        clientId,
        clientUid: after.clientUid,
        partnerClientRef: after.partnerClientRef,
        kycPackageId,
        revision: 2,
        status: "ACCEPTED",
        verificationLevel: "MICA",
        lifecycleState: "ACTIVE",
        identityChanged: false,
        screening: "CLEAR",
        reonboarded: true,
        grant: "ACTIVE",
        review: null,
        requirements: after.requirements
      }
    })
    assert.deepStrictEqual(after.requirements["TRADE:SPOT"], [])
    for (const { code, status, decidedBy } of after.blocks) {
      const mica = (micaBlockCodes as ReadonlyArray<string>).includes(code)
      assert.deepStrictEqual([status, decidedBy], mica ? ["APPROVED", "PARTNER"] : ["REJECTED", "ADMIN"], code)
    }
    assert.deepStrictEqual(
      (await eventsOf(clientId)).map(({ name }) => name),
      ["client.onboarded", "kyc.rejected", "client.onboarded"]
    )
    assert.deepStrictEqual((await eventsOf(clientId)).at(-1)?.data, {
      verificationLevel: "MICA",
      lifecycleState: "ACTIVE",
      kycPackageId
    })
    assert.lengthOf(await ofClient(service, "identitySessions", clientId), 2)
    assert.deepStrictEqual(
      (await ofClient(service, "decisions", clientId)).map(({ decision, reason }) => `${decision} ${reason}`),
      [
        "GRANT_MICA reliance onboarding",
        "RELIANCE_REJECTED The identity session is missing.",
        "GRANT_MICA reliance onboarding"
      ]
    )
    const [record] = await ofClient(service, "reportingRecords", clientId)
    assert.strictEqual(record?.fromRevision, 2)
    const revisions = await ofClient(service, "kycRevisions", clientId)
    assert.deepStrictEqual(
      revisions.map(({ revision }) => revision),
      [1, 2]
    )
    // After the re-onboarding, the next update is an ordinary one.
    const { kyc, attestation } = revisionOf(n)
    const ordinary = await put(clientId, { kyc: { pep: kyc.pep }, attestation })
    assert.deepInclude(ordinary.json.data, { revision: 3, screening: "NOT_RUN" })
    assert.notProperty(ordinary.json.data, "reonboarded")
  })

  it("SC-ONB-08: without identityCheck 400 names exactly the missing parts, and no row is written", async () => {
    const { n, clientId } = await rejected()
    const { kyc, attestation } = revisionOf(n)
    const before = await rowCounts(service)
    const { status, json } = await put(clientId, { kyc, attestation })
    assert.deepStrictEqual([status, json.code], [400, 4000])
    assert.deepStrictEqual(Object.keys(json.data.errors), ["identityCheck"])
    assert.match(json.data.errors.identityCheck, /record of the identity check is required to onboard the client again/)
    const partial = await put(clientId, { kyc: { pep: kyc.pep } })
    assert.sameMembers(Object.keys(partial.json.data.errors), [
      "kyc.personalInfo",
      "kyc.identification",
      "kyc.taxResidency",
      "kyc.fatca",
      "kyc.declarationsMica",
      "identityCheck",
      "attestation"
    ])
    assert.deepStrictEqual(await rowCounts(service), before)
  })

  const reasons: ReadonlyArray<readonly [reason: string, screening: string, paths: Paths]> = [
    ["SCREENING_HIT", "PENDING_REVIEW", orlenko.paths],
    ["HIGH_RISK_RATING", "CLEAR", { "attestation.riskRating": "HIGH" }],
    [
      "PEP_DECLARED",
      "CLEAR",
      {
        "kyc.pep.is_pep": true,
        "kyc.pep.details": { position: "mayor", country: "FR", institution: "City", start_date: "2020-03-01" }
      }
    ]
  ]
  it.each(reasons)("rule 8, A1-28: %s refuses the grant: the client stays held", async (reason, screening, paths) => {
    const { n, clientId, kycPackageId } = await rejected()
    const { json } = await put(clientId, revisionOf(n, paths))
    const [open] = await ofClient(service, "cases", clientId)
    assert.deepInclude(json.data, {
      revision: 2,
      status: "SPOT_CHECK",
      verificationLevel: "NONE",
      lifecycleState: "KYC_PENDING",
      screening,
      reonboarded: true,
      grant: "PENDING_REVIEW"
    })
    assert.deepStrictEqual(json.data.review, { reason, caseId: open?.id })
    assert.deepStrictEqual(json.data.requirements["TRADE:SPOT"], ["COMPLIANCE_REVIEW"])
    assert.deepStrictEqual((await eventsOf(clientId)).slice(2), [
      { name: "client.review_required", data: { reason, kycPackageId, caseId: open?.id as number } }
    ])
    await comply(service, (compliance) => compliance.clear(operator, String(clientId), "looked at"))
    assert.deepInclude(await verificationOf(clientId), { level: "MICA", lifecycleState: "ACTIVE" })
    assert.lengthOf(
      (await eventsOf(clientId)).filter(({ name }) => name === "client.onboarded"),
      1
    )
  })

  it("A1-28: a re-onboarding as another client's person is held as COMPLIANCE_REVIEW; its own person is no duplicate", async () => {
    const { n, clientId } = await rejected()
    const other = nextPerson()
    const first = (await onboard(service, key, personOf(other))).json.data.clientId
    const { json } = await put(clientId, revisionOf(other))
    assert.deepInclude(json.data, { grant: "PENDING_REVIEW", identityChanged: true, screening: "CLEAR" })
    assert.strictEqual(json.data.review.reason, "COMPLIANCE_REVIEW")
    const [open] = await ofClient(service, "cases", clientId)
    assert.deepInclude(open, { reason: "DUPLICATE_PERSON" })
    assert.deepInclude(open?.details, { duplicateOf: first })
    // The old person is free again; rejected and onboarded as that person, the client holds the claim again.
    const owned = () =>
      query(service, "SELECT 1 FROM claims WHERE owner = $1 AND name LIKE 'person:%'", [BigInt(clientId)])
    assert.lengthOf(await owned(), 0)
    await reject(clientId)
    assert.deepInclude((await put(clientId, revisionOf(n))).json.data, { grant: "ACTIVE", revision: 3 })
    assert.lengthOf(await owned(), 1)
  })

  it("D1: MiFID halves given again while held take the re-onboarding on to MICA_MIFID in one commit", async () => {
    const { n, clientId } = await rejected()
    const test = await call("POST", clientId, "/appropriateness", {
      version: 1,
      answers: answersFor(questionnaire1, "PASS")
    })
    assert.strictEqual(test.status, 200, test.text)
    const mifid = await call("PUT", clientId, "/mifid", sampleMifid())
    assert.deepInclude(mifid.json.data, { granted: false, verificationLevel: "NONE" })
    assert.deepInclude((await put(clientId, revisionOf(n))).json.data, {
      verificationLevel: "MICA_MIFID",
      grant: "ACTIVE"
    })
    assert.deepStrictEqual(
      (await eventsOf(clientId)).slice(-2).map(({ name }) => name),
      ["client.onboarded", "client.level_changed"]
    )
  })

  it("D1: a restriction set while rejected outlives the re-onboarding", async () => {
    const { n, clientId } = await rejected()
    await comply(service, (compliance) => compliance.restrict(operator, String(clientId), "FROZEN", "court order"))
    assert.deepInclude((await put(clientId, revisionOf(n))).json.data, {
      grant: "ACTIVE",
      verificationLevel: "MICA",
      lifecycleState: "RESTRICTED"
    })
  })

  it("D1: a person refused for good and reopened stays held until compliance clears the case", async () => {
    const { n, clientId, kycPackageId } = await rejected()
    const of = String(clientId)
    await lifecycle((decisions) => decisions.rejectPerson(operator, of, "forged papers"))
    await lifecycle((decisions) => decisions.reopen(operator, of, "new evidence"))
    const [reopened] = await ofClient(service, "cases", clientId)
    const review = { reason: "REOPENED", caseId: reopened?.id as number }
    assert.deepInclude((await put(clientId, revisionOf(n))).json.data, {
      revision: 2,
      status: "SPOT_CHECK",
      verificationLevel: "NONE",
      lifecycleState: "KYC_PENDING",
      screening: "CLEAR",
      reonboarded: true,
      grant: "PENDING_REVIEW",
      review
    })
    assert.deepInclude(await verificationOf(clientId), { level: "NONE", lifecycleState: "KYC_PENDING" })
    assert.deepStrictEqual((await eventsOf(clientId)).at(-1), {
      name: "client.review_required",
      data: { ...review, kycPackageId }
    })
    const decided = async () => (await ofClient(service, "decisions", clientId)).map(({ decision }) => decision)
    assert.notInclude((await decided()).slice(1), "GRANT_MICA")
    await comply(service, (compliance) => compliance.clear(operator, of, "papers are genuine"))
    assert.deepInclude(await verificationOf(clientId), { level: "MICA", lifecycleState: "ACTIVE" })
    assert.deepStrictEqual(
      (await ofClient(service, "cases", clientId)).map(({ reason, state }) => [reason, state]),
      [["REOPENED", "CLEARED"]]
    )
  })

  it("doc 1, 4036: without approved reliance nothing is onboarded again", async () => {
    const { partnerId, key: own } = await service.partner()
    const clientId = await service.client(own)
    await reject(clientId)
    await partners(service, (commands) => commands.reliance(operator, String(partnerId), "SUSPENDED", "test"))
    const path = `/partner/v1/clients/${clientId}/kyc`
    const answer = await service.call("PUT", path, { key: own, body: {} })
    assert.deepStrictEqual([answer.status, answer.json.code], [403, 4036])
    assert.strictEqual((await service.call("GET", path, { key: own })).status, 200)
  })

  it("rule 8: twenty re-onboardings at once: one onboards, the others are ordinary revisions of it", async () => {
    const { n, clientId } = await rejected()
    const answers = await Promise.all(Array.from({ length: 20 }, () => put(clientId, revisionOf(n))))
    assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200])
    assert.lengthOf(
      answers.filter(({ json }) => json.data.reonboarded === true),
      1
    )
    const revisions = answers.map(({ json }) => json.data.revision).toSorted((a, b) => a - b)
    assert.deepStrictEqual(
      revisions,
      Array.from({ length: 20 }, (_, index) => index + 2)
    )
    assert.deepStrictEqual(
      (await eventsOf(clientId)).map(({ name }) => name),
      ["client.onboarded", "kyc.rejected", "client.onboarded"]
    )
  })
})
