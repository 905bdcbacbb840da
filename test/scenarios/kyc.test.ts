/**
 * Ordinary revisions of a client's KYC on the real service: changed and unchanged rows, screening of a changed
 * identity, and duplicates; refusals are in kycRefusals.test.ts (doc 1, Rules of POST /clients and PUT .../kyc 7;
 * SC-ONB-09, SC-ONB-10; D1, D2, D3; A1-32..A1-36).
 */
import { assert, describe, it } from "@effect/vitest"
import { collateral, comply, get, ofClient, onboard, orlenko, query } from "../support/Builders.ts"
import { type Answer, operator } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, key, onboarded, personOf, rowOf, blockOf, eventNames, nextPerson, sectionsOf } = await openScenario({
  watched: [orlenko.entry, { name: "Leopold Quandt-Rieger", dob: "1961-09-09", list: "PEP" }]
})

type Paths = Readonly<Record<string, unknown>>
const put = (clientId: number, sent: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  service.call("PUT", `/partner/v1/clients/${clientId}/kyc`, { key, body: sent, headers })
const revise = async (clientId: number, sent: object) => {
  const answer = await put(clientId, sent)
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.json.data
}
const personal = (n: number, paths: Paths) =>
  sectionsOf(
    n,
    ["personalInfo"],
    Object.fromEntries(Object.entries(paths).map(([name, value]) => [`kyc.personalInfo.${name}`, value]))
  )
const asOrlenko = { first_name: "Viktor", last_name: "Orlenko", date_of_birth: "1970-03-04" }
const kycOf = async (clientId: number) => (await get(service, key, `/clients/${clientId}/kyc`)).json.data
const runsOf = async (clientId: number) =>
  (await ofClient(service, "screeningRuns", clientId)).map(({ trigger, outcome }) => `${trigger} ${outcome}`)
const casesOf = async (clientId: number) =>
  (await ofClient(service, "cases", clientId)).map(({ state, reason }) => `${state} ${reason}`)
const personOwner = async (clientId: number) => {
  const rows = await query<{ readonly name: string }>(
    service,
    "SELECT name FROM claims WHERE owner = $1 AND name LIKE 'person:%'",
    [BigInt(clientId)]
  )
  return rows.map(({ name }) => name.slice("person:".length))
}

describe("ordinary revisions", () => {
  it("rule 7: only the section present is re-written; the answer and GET .../kyc, to the member", async () => {
    const { n, clientId, kycPackageId } = await onboarded()
    const before = (await get(service, key, `/clients/${clientId}/verification`)).json.data
    const record = await ofClient(service, "reportingRecords", clientId)
    const sent = sectionsOf(n, ["fatca"], { "kyc.fatca.note": " as sent ", "attestation.riskRating": "MEDIUM" })
    const { clientUid, partnerClientRef } = await rowOf(clientId)
    assert.deepStrictEqual((await put(clientId, sent)).json, {
      code: 0,
      data: {
        clientId,
        clientUid,
        partnerClientRef,
        kycPackageId,
        revision: 2,
        status: "ACCEPTED",
        verificationLevel: "MICA",
        lifecycleState: "ACTIVE",
        identityChanged: false,
        screening: "NOT_RUN"
      }
    })
    const latest = await kycOf(clientId)
    const [package_] = await ofClient(service, "kycPackages", clientId)
    assert.deepStrictEqual(latest, {
      kycPackageId,
      partnerId: package_?.partnerId,
      clientId,
      clientUid,
      revision: 2,
      status: "ACCEPTED",
      receivedAt: package_?.receivedAt,
      payload: sent.kyc,
      attestation: sent.attestation,
      reviewedBy: null,
      reviewedAt: null,
      reviewNote: null
    })
    const after = (await get(service, key, `/clients/${clientId}/verification`)).json.data
    for (const [index, block] of after.blocks.entries()) {
      if (block.code === "FATCA") assert.isAbove(block.updatedAt, before.blocks[index].updatedAt)
      else assert.deepStrictEqual(block, before.blocks[index])
    }
    assert.deepStrictEqual(await eventNames(clientId), ["client.onboarded"])
    assert.deepStrictEqual(await runsOf(clientId), ["ONBOARDING CLEAR"])
    assert.lengthOf(await ofClient(service, "identitySessions", clientId), 1)
    assert.deepStrictEqual(await ofClient(service, "reportingRecords", clientId), record)
    const audit = (await ofClient(service, "audit", clientId)).map(({ action, role }) => `${role} ${action}`)
    assert.includeMembers(audit, ["PARTNER client.kycRevision", "PARTNER kyc.revise"])
  })

  it("rule 7: an identity check is a further session and re-writes its block", async () => {
    const { n, clientId } = await onboarded()
    const before = await blockOf(clientId, "IDENTITY_CHECK")
    await revise(clientId, sectionsOf(n, ["pep", "identityCheck"], { "identityCheck.reference": "second" }))
    const sessions = await ofClient(service, "identitySessions", clientId)
    assert.deepStrictEqual(
      sessions.map(({ provider, status }) => [provider, status]),
      Array.from({ length: 2 }, () => ["partner", "VERIFIED"])
    )
    assert.deepInclude(sessions[1]?.data, { reference: "second" })
    assert.isAbove((await blockOf(clientId, "IDENTITY_CHECK")).updatedAt, before.updatedAt)
    const payloads = await ofClient(service, "blockPayloads", clientId)
    assert.deepInclude(payloads.find(({ code }) => code === "IDENTITY_CHECK")?.data, { reference: "second" })
  })

  const identity: ReadonlyArray<readonly [title: string, paths: Paths, changed: boolean]> = [
    ["another last name", { last_name: "Neumann" }, true],
    ["a middle name", { middle_name: "Maria" }, true],
    ["another birth date", { date_of_birth: "1980-02-29" }, true],
    ["one citizenship more", { citizenships: ["AT", "DE", "FR"] }, true],
    ["SC-ONB-10: citizenships in another order", { citizenships: ["AT", "DE"] }, false],
    ["white space around a name", { last_name: "  Müller " }, false],
    ["the name in another normal form", { last_name: "Müller".normalize("NFD") }, false],
    ["another phone number", { phone_number: "4711471147" }, false],
    ["another address", { "address.city": "Potsdam" }, false]
  ]
  it.each(identity)("A1-33: %s", async (_, paths, changed) => {
    const known = { "kyc.personalInfo.last_name": "Müller", "kyc.personalInfo.citizenships": ["DE", "AT"] }
    const { n, clientId } = await onboarded(known)
    const before = await rowOf(clientId)
    const sent = personal(n, { last_name: "Müller", citizenships: ["DE", "AT"], ...paths })
    const answer = await revise(clientId, sent)
    assert.deepInclude(answer, { identityChanged: changed, screening: changed ? "CLEAR" : "NOT_RUN" })
    assert.deepStrictEqual(await runsOf(clientId), ["ONBOARDING CLEAR", ...(changed ? ["KYC_REVISION CLEAR"] : [])])
    const [record] = await ofClient(service, "reportingRecords", clientId)
    assert.strictEqual(record?.fromRevision, changed ? 2 : 1)
    const { first_name, middle_name, last_name } = sent.kyc.personalInfo as Record<string, string | undefined>
    const after = await rowOf(clientId)
    assert.strictEqual(
      after.displayName,
      changed ? [first_name, middle_name, last_name].filter(Boolean).join(" ") : before.displayName
    )
    assert.deepStrictEqual([after.lifecycleState, answer.status], ["ACTIVE", "ACCEPTED"])
  })

  it("rule 7, F27: identification or tax residency alone rebuild the record with the stored sections; other sections do not", async () => {
    const { n, clientId } = await onboarded()
    const recordOf = async () => {
      const [row] = await ofClient(service, "reportingRecords", clientId)
      return { from: row?.fromRevision, ...(row?.record as Record<string, unknown>) } as Record<string, unknown>
    }
    const first = await recordOf()
    await revise(clientId, sectionsOf(n, ["pep", "declarationsMica"]))
    assert.deepStrictEqual(await recordOf(), first)
    const italian = { "kyc.personalInfo.citizenships": ["IT"] }
    await revise(clientId, sectionsOf(n, ["personalInfo"], italian))
    await revise(
      clientId,
      sectionsOf(n, ["taxResidency"], {
        "kyc.taxResidency.tax_residencies": [{ country: "IT", has_tin: true, tin: "RSS-MRA 85T10A562S" }]
      })
    )
    const third = await recordOf()
    assert.deepInclude(third, { from: 4, nationality: "IT", identifier: "ITRSSMRA85T10A562S", complete: true })
    assert.deepStrictEqual([third["firstNames"], third["dateOfBirth"]], [first["firstNames"], first["dateOfBirth"]])
    await revise(clientId, sectionsOf(n, ["identification"]))
    assert.deepInclude(await recordOf(), { from: 5, identifier: "ITRSSMRA85T10A562S" })
  })

  it("A1-28: a declared function or a HIGH rating in a revision does not hold the client", async () => {
    const { n, clientId } = await onboarded()
    const answer = await revise(
      clientId,
      sectionsOf(n, ["pep"], {
        "kyc.pep.is_pep": true,
        "kyc.pep.details": { position: "mayor", country: "FR", institution: "City", start_date: "2020-03-01" },
        "attestation.riskRating": "HIGH"
      })
    )
    assert.deepInclude(answer, { lifecycleState: "ACTIVE", status: "ACCEPTED", screening: "NOT_RUN" })
  })
})

describe("screening of a changed identity", () => {
  it("SC-ONB-09: a hit restricts an ACTIVE client, under its new name, in the answer and in every row beside it", async () => {
    const { n, clientId, kycPackageId } = await onboarded()
    const answer = await revise(clientId, personal(n, asOrlenko))
    assert.deepInclude(answer, {
      status: "SPOT_CHECK",
      lifecycleState: "RESTRICTED",
      verificationLevel: "MICA",
      identityChanged: true,
      screening: "PENDING_REVIEW"
    })
    assert.deepInclude(await rowOf(clientId), { displayName: "Viktor Orlenko", lifecycleState: "RESTRICTED" })
    const [open] = await ofClient(service, "cases", clientId)
    const events = (await ofClient(service, "events", clientId)).map(({ name, data }) => ({ name, data }))
    assert.deepStrictEqual(events.slice(1), [
      { name: "client.review_required", data: { reason: "SCREENING_HIT", kycPackageId, caseId: open?.id as number } }
    ])
    assert.deepInclude(open, { state: "OPEN", reason: "SCREENING_HIT" })
    const [, run] = await ofClient(service, "screeningRuns", clientId)
    assert.deepInclude(open?.details, { screeningRunId: run?.id as number, duplicateOf: null })
    assert.strictEqual((await ofClient(service, "reportingRecords", clientId))[0]?.fromRevision, 2)
    // A money movement is no new risk, so it is allowed while a review is open.
    const deposit = { partnerRef: `held-${clientId}`, direction: "DEPOSIT", amount: "1" }
    assert.strictEqual((await collateral(service, key, clientId, deposit)).status, 201)
  })

  it("F26: a possible match is answered as such, and a cleared match holds no client again", async () => {
    const { n, clientId } = await onboarded()
    const quandt = { first_name: "Leopold", last_name: "Quandt-Rieger", date_of_birth: "1961-09-09" }
    assert.strictEqual((await revise(clientId, personal(n, quandt))).screening, "PENDING_REVIEW")
    assert.deepStrictEqual(await casesOf(clientId), ["OPEN SCREENING_POSSIBLE_MATCH"])
    await comply(service, (compliance) => compliance.clear(operator, String(clientId), "another person"))
    assert.deepInclude(await rowOf(clientId), { lifecycleState: "ACTIVE" })
    const answer = await revise(clientId, personal(n, { ...quandt, citizenships: ["AT"] }))
    assert.deepInclude(answer, { screening: "CLEAR", lifecycleState: "ACTIVE", status: "ACCEPTED" })
    assert.deepStrictEqual(await eventNames(clientId), ["client.onboarded", "client.review_required"])
  })

  it("A1-48: a cleared review is one verification decision; no restriction was set, so none is lifted", async () => {
    const { n, clientId } = await onboarded()
    await revise(clientId, personal(n, asOrlenko))
    await comply(service, (compliance) => compliance.clear(operator, String(clientId), "another person"))
    assert.deepInclude(await rowOf(clientId), { lifecycleState: "ACTIVE" })
    const told = (await ofClient(service, "notifications", clientId)).map(({ kind }) => kind)
    assert.deepStrictEqual(told, ["VERIFICATION_DECISION"])
  })

  it("A1-34, A1-35, D1: while RESTRICTED the open case stays; only a new candidate opens another", async () => {
    const { n, clientId } = await onboarded()
    await revise(clientId, personal(n, asOrlenko))
    const again = await revise(clientId, personal(n, { ...asOrlenko, citizenships: ["AT"] }))
    assert.deepInclude(again, { screening: "PENDING_REVIEW", lifecycleState: "RESTRICTED", status: "SPOT_CHECK" })
    const clear = await revise(clientId, personal(n, {}))
    assert.deepInclude(clear, { screening: "CLEAR", lifecycleState: "RESTRICTED", status: "SPOT_CHECK" })
    assert.deepStrictEqual(await casesOf(clientId), ["OPEN SCREENING_HIT"])
    const other = { first_name: "Leopold", last_name: "Quandt-Rieger", date_of_birth: "1961-09-09" }
    assert.deepInclude(await revise(clientId, personal(n, other)), { screening: "PENDING_REVIEW" })
    assert.deepStrictEqual(await casesOf(clientId), ["OPEN SCREENING_HIT", "OPEN SCREENING_POSSIBLE_MATCH"])
    assert.deepStrictEqual(await eventNames(clientId), [
      "client.onboarded",
      "client.review_required",
      "client.review_required"
    ])
    await comply(service, (compliance) => compliance.clear(operator, String(clientId), "another person"))
    assert.deepInclude(await rowOf(clientId), { lifecycleState: "ACTIVE", verificationLevel: "MICA" })
  })

  it("D1: a client RESTRICTED by the operator alone gets a case, which outlives the restriction", async () => {
    const { n, clientId } = await onboarded()
    const of = String(clientId)
    await comply(service, (compliance) => compliance.restrict(operator, of, "FROZEN", "court order"))
    assert.deepInclude(await revise(clientId, personal(n, asOrlenko)), { status: "SPOT_CHECK" })
    assert.deepStrictEqual(await casesOf(clientId), ["OPEN SCREENING_HIT"])
    await comply(service, (compliance) => compliance.lift(operator, of, "FROZEN", "order withdrawn"))
    assert.strictEqual((await rowOf(clientId)).lifecycleState, "RESTRICTED")
  })

  it("A1-34: a client held at onboarding stays held; a revision answers a request for documents", async () => {
    const { n, clientId } = await onboarded({ "attestation.riskRating": "HIGH" })
    assert.deepInclude(await revise(clientId, sectionsOf(n, ["pep"])), {
      revision: 2,
      status: "SPOT_CHECK",
      lifecycleState: "KYC_PENDING",
      verificationLevel: "NONE"
    })
    await comply(service, (compliance) =>
      compliance.requestDocuments(operator, String(clientId), "A copy of the passport is needed.")
    )
    assert.deepInclude(await kycOf(clientId), {
      status: "DOCUMENTS_REQUESTED",
      reviewedBy: "ADMIN",
      reviewNote: "A copy of the passport is needed."
    })
    assert.deepInclude(await revise(clientId, personal(n, asOrlenko)), {
      revision: 3,
      status: "SPOT_CHECK",
      lifecycleState: "KYC_PENDING",
      screening: "PENDING_REVIEW"
    })
    assert.deepInclude(await kycOf(clientId), { reviewedBy: null, reviewedAt: null, reviewNote: null })
    assert.deepStrictEqual(await casesOf(clientId), ["OPEN HIGH_RISK_RATING", "OPEN SCREENING_HIT"])
    await comply(service, (compliance) => compliance.clear(operator, String(clientId), "another person"))
    assert.deepInclude(await rowOf(clientId), { lifecycleState: "ACTIVE", verificationLevel: "MICA" })
    assert.strictEqual((await kycOf(clientId)).reviewNote, null)
  })
})

describe("the same person twice (A1-28)", () => {
  it("A1-28: a revision into another client's person is reviewed, not held, and not published", async () => {
    const first = await onboarded()
    const second = await onboarded()
    const answer = await revise(second.clientId, sectionsOf(first.n, ["personalInfo", "identification"]))
    assert.deepInclude(answer, { lifecycleState: "ACTIVE", status: "ACCEPTED", screening: "CLEAR" })
    const [open] = await ofClient(service, "cases", second.clientId)
    assert.deepInclude(open, { state: "OPEN", reason: "DUPLICATE_PERSON" })
    assert.deepInclude(open?.details, { duplicateOf: first.clientId })
    assert.deepStrictEqual(await eventNames(second.clientId), ["client.onboarded"])
    assert.deepStrictEqual(await personOwner(second.clientId), [])
    assert.lengthOf(await personOwner(first.clientId), 1)
    // The same duplicate opens no second case, and the case is cleared like any other.
    await revise(second.clientId, sectionsOf(second.n, ["personalInfo", "identification"]))
    await revise(second.clientId, sectionsOf(first.n, ["personalInfo", "identification"]))
    assert.deepStrictEqual(await casesOf(second.clientId), ["OPEN DUPLICATE_PERSON"])
    await comply(service, (compliance) => compliance.clear(operator, String(second.clientId), "brothers"))
    assert.deepStrictEqual(await casesOf(second.clientId), ["CLEARED DUPLICATE_PERSON"])
    const actions = (await ofClient(service, "audit", second.clientId)).map(({ action }) => action)
    assert.lengthOf(
      actions.filter((action) => action === "case.open"),
      1
    )
  })

  it("A1-28: the claim of a person moves with it: the old one is free, the new one taken", async () => {
    const { n, clientId } = await onboarded()
    const before = await personOwner(clientId)
    await revise(clientId, personal(n, { last_name: "Umgezogen" }))
    const after = await personOwner(clientId)
    assert.lengthOf(after, 1)
    assert.notDeepEqual(after, before)
    const same = async (paths: Paths) => {
      const sent = personOf(n, paths)
      const other = nextPerson()
      const unique = { partnerClientRef: `same-${other}`, email: `same.${other}@mail.example` }
      return (await onboard(service, key, { ...sent, ...unique })).json.data.review
    }
    assert.isNull(await same({}))
    assert.deepInclude(await same({ "kyc.personalInfo.last_name": "Umgezogen" }), { reason: "COMPLIANCE_REVIEW" })
    // A revision without a changed person claims nothing again.
    await revise(clientId, personal(n, { last_name: "Umgezogen" }))
    assert.deepStrictEqual(await personOwner(clientId), after)
  })
})
