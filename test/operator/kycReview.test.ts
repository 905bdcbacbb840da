/**
 * Compliance's review of KYC packages through the command line, on a real service: documents, samples, the final refusal
 * and the file itself (D1, D2; A1-25, A1-32, A1-48; F26).
 */
import { assert, describe, it } from "@effect/vitest"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { get, ofClient, rowCounts, rowsOf } from "../support/Builders.ts"
import { heldAt } from "../support/lockTable.ts"
import { runRecorded } from "./operatorHarness.ts"
import { openOperatorScenario } from "./operatorScenario.ts"

const { service, key, nextPerson, heldClient } = await openOperatorScenario({ partner: { code: "REVIEW" } })

type Role = "ADMIN" | "COMPLIANCE" | "FINANCE" | "SUPPORT"
const show = (clientId: number) => service.done(["client", "show", String(clientId)], "SUPPORT")
const kyc = (command: string, clientId: number, ...rest: ReadonlyArray<string>) =>
  service.done(["kyc", command, String(clientId), ...rest], "COMPLIANCE")
const refused = async (line: ReadonlyArray<string>, role: Role = "COMPLIANCE") => {
  const before = await rowCounts(service)
  const ran = await service.cli(line, role)
  assert.strictEqual(ran.status, 1, ran.stdout)
  assert.deepStrictEqual(await rowCounts(service), before)
  return ran.refusal
}
const events = async (clientId: number) => (await ofClient(service, "events", clientId)).map(({ name }) => name)
const notifications = async (clientId: number) =>
  (await ofClient(service, "notifications", clientId)).map(({ kind }) => kind)
const dispositions = async (clientId: number) =>
  (await ofClient(service, "dispositions", clientId)).map(({ entryId, disposition }) => [entryId, disposition])
const decisions = async (clientId: number) =>
  (await ofClient(service, "decisions", clientId)).map(({ decision, reason, decidedBy }) => [
    decision,
    reason,
    decidedBy
  ])
const view = async (clientId: number) => (await get(service, key, `/clients/${clientId}/verification`)).json.data
const cases = async (clientId: number) =>
  (await ofClient(service, "cases", clientId)).map(({ reason, state }) => [reason, state])

describe("operator surface, kyc request-documents", () => {
  it("D2: an ACTIVE client stays ACTIVE; the partner reads the note and gets one notice; clearing accepts again", async () => {
    const clientId = await service.client(key)
    const asked = await kyc("request-documents", clientId, "--note", "  a certified copy of the passport ")
    assert.deepStrictEqual([asked.lifecycleState, asked.verificationLevel, asked.openCases], ["ACTIVE", "MICA", []])
    const { kycPackage } = await view(clientId)
    assert.deepStrictEqual(
      [kycPackage.status, kycPackage.reviewNote],
      ["DOCUMENTS_REQUESTED", "a certified copy of the passport"]
    )
    const [, told] = await ofClient(service, "events", clientId)
    assert.deepStrictEqual(
      [told?.name, told?.data],
      [
        "kyc.documents_requested",
        { kycPackageId: kycPackage.kycPackageId, revision: 1, note: "a certified copy of the passport" }
      ]
    )
    assert.deepStrictEqual(await cases(clientId), [["SPOT_CHECK", "OPEN"]])
    assert.strictEqual((await refused(["kyc", "request-documents", String(clientId), "--note", "n"])).code, 4092)
    const cleared = await kyc("clear", clientId, "--note", "copy received")
    assert.deepStrictEqual([cleared.lifecycleState, cleared.kycPackage.status], ["ACTIVE", "ACCEPTED"])
    assert.deepStrictEqual(await cases(clientId), [["SPOT_CHECK", "CLEARED"]])
    assert.deepStrictEqual(await notifications(clientId), ["VERIFICATION_DECISION"])
    assert.isNull((await view(clientId)).kycPackage.reviewNote)
    assert.deepStrictEqual(await events(clientId), ["client.onboarded", "kyc.documents_requested"])
  })

  it("D2: a KYC_PENDING client stays held, an uploaded document moves nothing, clearing grants", async () => {
    const { clientId, entryId } = await heldClient()
    const asked = await kyc("request-documents", clientId, "--note", "proof of address")
    assert.deepStrictEqual([asked.lifecycleState, asked.kycPackage.status], ["KYC_PENDING", "DOCUMENTS_REQUESTED"])
    assert.strictEqual(asked.openCases.length, 1)
    const dataBase64 = Buffer.from("%PDF-1.7\nbill").toString("base64")
    const uploaded = await service.call("POST", `/partner/v1/clients/${clientId}/documents`, {
      key,
      body: { name: "bill.pdf", purpose: "address", dataBase64 }
    })
    assert.strictEqual(uploaded.status, 201)
    assert.strictEqual((await show(clientId)).kycPackage.status, "DOCUMENTS_REQUESTED")
    const cleared = await kyc("clear", clientId, "--note", "another person")
    assert.deepStrictEqual(
      [cleared.lifecycleState, cleared.verificationLevel, cleared.kycPackage.status],
      ["ACTIVE", "MICA", "ACCEPTED"]
    )
    assert.deepStrictEqual(await notifications(clientId), ["VERIFICATION_DECISION"])
    assert.deepStrictEqual(await dispositions(clientId), [[entryId, "FALSE_POSITIVE"]])
  })

  it("D2: a RESTRICTED client keeps its restriction", async () => {
    const clientId = await service.client(key)
    await service.done(["client", "restrict", String(clientId), "FROZEN", "--reason", "r"])
    const asked = await kyc("request-documents", clientId, "--note", "n")
    assert.deepStrictEqual([asked.lifecycleState, asked.restrictions], ["RESTRICTED", ["FROZEN"]])
    const cleared = await kyc("clear", clientId)
    assert.deepStrictEqual([cleared.lifecycleState, cleared.restrictions], ["RESTRICTED", ["FROZEN"]])
  })

  it("D2: a rejected package requests nothing, and a note has 1 to 500 characters", async () => {
    const clientId = await service.client(key)
    for (const note of ["   ", "x".repeat(501)]) {
      const refusal = await refused(["kyc", "request-documents", String(clientId), "--note", note])
      assert.deepStrictEqual([refusal.code, Object.keys(refusal.data.errors)], [4000, ["note"]])
    }
    await kyc("reject", clientId, "--reason", "r")
    for (const line of [
      ["request-documents", String(clientId), "--note", "n"],
      ["sample", String(clientId)]
    ]) {
      assert.strictEqual((await refused(["kyc", ...line])).code, 4092, line.join(" "))
    }
    assert.strictEqual((await refused(["kyc", "request-documents", "999999", "--note", "n"])).code, 4004)
  })
})

describe("operator surface, kyc sample", () => {
  it("D2: a sample is not published, holds no client, and clears back to ACCEPTED", async () => {
    const clientId = await service.client(key)
    const sampled = await kyc("sample", clientId)
    assert.deepStrictEqual(
      [sampled.lifecycleState, sampled.verificationLevel, sampled.openCases, sampled.kycPackage.status],
      ["ACTIVE", "MICA", [], "SPOT_CHECK"]
    )
    assert.deepStrictEqual(await cases(clientId), [["SPOT_CHECK", "OPEN"]])
    assert.strictEqual((await refused(["kyc", "sample", String(clientId)])).code, 4092)
    const cleared = await kyc("clear", clientId)
    assert.deepStrictEqual(
      [cleared.kycPackage.status, cleared.kycPackage.reviewedBy, cleared.lifecycleState],
      ["ACCEPTED", "COMPLIANCE", "ACTIVE"]
    )
    assert.deepStrictEqual(await cases(clientId), [["SPOT_CHECK", "CLEARED"]])
    assert.deepStrictEqual(await notifications(clientId), [])
    assert.deepStrictEqual(await events(clientId), ["client.onboarded"])
  })

  it("D2: a sample that fails rejects reliance as any other", async () => {
    const clientId = await service.client(key)
    await kyc("sample", clientId)
    const rejected = await kyc("reject", clientId, "--reason", "attestation withdrawn")
    assert.deepStrictEqual([rejected.lifecycleState, rejected.kycPackage.status], ["KYC_PENDING", "REJECTED"])
    assert.deepStrictEqual(await cases(clientId), [["SPOT_CHECK", "REJECTED"]])
  })

  it("A1-34: two commands at once on one package take it once", async () => {
    const clientId = await service.client(key)
    const ran = await Promise.all(
      Array.from({ length: 6 }, () => service.cli(["kyc", "sample", String(clientId)], "COMPLIANCE"))
    )
    assert.strictEqual(ran.filter(({ status }) => status === 0).length, 1)
    assert.deepStrictEqual(await cases(clientId), [["SPOT_CHECK", "OPEN"]])
  })
})

describe("operator surface, kyc reject-person", () => {
  it("D1, A1-48: a held person is refused for good; the partner gets the decision and nothing else", async () => {
    const { clientId, entryId } = await heldClient()
    const rejected = await kyc("reject-person", clientId, "--reason", "the listed person")
    assert.deepStrictEqual(
      [rejected.lifecycleState, rejected.verificationLevel, rejected.openCases],
      ["KYC_REJECTED", "NONE", []]
    )
    assert.deepStrictEqual(await cases(clientId), [["SCREENING_HIT", "REJECTED"]])
    assert.deepStrictEqual(await dispositions(clientId), [[entryId, "TRUE_MATCH"]])
    assert.deepStrictEqual(await decisions(clientId), [["PERSON_REJECTED", "the listed person", "COMPLIANCE"]])
    assert.deepStrictEqual(await notifications(clientId), ["VERIFICATION_DECISION"])
    assert.deepStrictEqual(await events(clientId), ["client.review_required"])
    for (const line of [
      ["kyc", "reject-person", String(clientId), "--reason", "r"],
      ["kyc", "reject", String(clientId), "--reason", "r"],
      ["kyc", "clear", String(clientId)],
      ["kyc", "sample", String(clientId)],
      ["kyc", "request-documents", String(clientId), "--note", "n"],
      ["client", "restrict", String(clientId), "FROZEN", "--reason", "r"]
    ]) {
      assert.strictEqual((await refused(line)).code, 4092, line.join(" "))
    }
  })

  it("D1: an ACTIVE client can't be refused as a person, a RESTRICTED one with money not yet", async () => {
    const clientId = await service.client(key)
    assert.strictEqual((await refused(["kyc", "reject-person", String(clientId), "--reason", "r"])).code, 4092)
    await service.done(["client", "restrict", String(clientId), "NO_WITHDRAWALS", "--reason", "r"])
    await service.done(
      ["ledger", "adjust", String(clientId), "--currency", "USDC", "--amount", "12.5", "--reason", "r"],
      "FINANCE"
    )
    const refusal = await refused(["kyc", "reject-person", String(clientId), "--reason", "r"])
    assert.deepStrictEqual([refusal.code, refusal.data.blockers[0]], [4092, "The client's cash is 12.500000 USDC."])
  })

  it("D1: refusing the person and clearing at once end in one of the two", async () => {
    for (let round = 0; round < 4; round++) {
      const { clientId, entryId } = await heldClient()
      const both = [
        ["kyc", "reject-person", String(clientId), "--reason", "race"],
        ["kyc", "clear", String(clientId), "--note", "another person"]
      ]
      const ran = await Promise.all((round % 2 === 0 ? both : both.toReversed()).map((line) => service.cli(line)))
      assert.sameMembers(
        ran.map(({ status }) => status),
        [0, 1]
      )
      const { lifecycleState, openCases } = await show(clientId)
      const cleared = lifecycleState === "ACTIVE"
      assert.include(["ACTIVE", "KYC_REJECTED"], lifecycleState)
      assert.deepStrictEqual(openCases, [])
      assert.deepStrictEqual(await dispositions(clientId), [[entryId, cleared ? "FALSE_POSITIVE" : "TRUE_MATCH"]])
      assert.deepStrictEqual(
        (await decisions(clientId)).map(([decision]) => decision),
        [cleared ? "REVIEW_CLEARED" : "PERSON_REJECTED"]
      )
    }
  })
})

describe("operator surface, kyc clear", () => {
  it("D1: an addition to the file after the review by compliance is not cleared with the rest", async () => {
    const { clientId } = await heldClient()
    // The clearing reads the sections after it has read the case file.
    const { refusal } = await heldAt(
      service,
      "block_payloads",
      () => service.cli(["kyc", "clear", String(clientId)], "COMPLIANCE"),
      () => kyc("reject", clientId, "--reason", "withdrawn")
    )
    assert.deepStrictEqual(
      [refusal.code, refusal.msg],
      [4092, "The client's file has changed meanwhile: look at it again before clearing it."]
    )
    assert.strictEqual((await show(clientId)).kycPackage.status, "REJECTED")
  })

  it("D1: --revision clears the reviewed revision and no other", async () => {
    const { clientId } = await heldClient()
    const { code, data } = await refused(["kyc", "clear", String(clientId), "--revision", "2"], "COMPLIANCE")
    assert.deepStrictEqual([code, data], [4092, { reason: "FILE_CHANGED", revision: 1 }])
    assert.strictEqual(
      (await kyc("clear", clientId, "--revision", "1", "--note", "another person")).lifecycleState,
      "ACTIVE"
    )
  })

  it("D1: --revision rejects reliance on the reviewed revision and on no other", async () => {
    const { clientId } = await heldClient()
    const reject = (revision: string) =>
      ["kyc", "reject", String(clientId), "--reason", "forged", "--revision", revision] as const
    const { code, data } = await refused([...reject("2")], "COMPLIANCE")
    assert.deepStrictEqual([code, data], [4092, { reason: "FILE_CHANGED", revision: 1 }])
    assert.notStrictEqual((await show(clientId)).kycPackage.status, "REJECTED")
    await kyc("reject", clientId, "--reason", "forged", "--revision", "1")
    assert.strictEqual((await show(clientId)).kycPackage.status, "REJECTED")
  })
})

describe("operator surface, kyc show", () => {
  it("A1-32: the file holds every section as received, and each reading is audited without its content", async () => {
    const { clientId, body, entryId } = await heldClient()
    await kyc("request-documents", clientId, "--note", "proof")
    const file = await kyc("show", clientId, "--reason", "quarterly review")
    const sections = new Map(
      file.sections.map((section: { code: string; data: object }) => [section.code, section.data])
    )
    assert.deepStrictEqual(sections.get("PERSONAL_INFO"), body.kyc.personalInfo)
    assert.deepStrictEqual(sections.get("IDENTITY_CHECK"), body.identityCheck)
    assert.strictEqual(sections.size, 7)
    assert.deepStrictEqual(file.attestation, body.attestation)
    assert.deepStrictEqual([file.status, file.revision, file.reviewNote], ["DOCUMENTS_REQUESTED", 1, "proof"])
    assert.deepStrictEqual(file.identitySessions[0].data, body.identityCheck)
    assert.deepStrictEqual(
      [file.screeningRuns[0].outcome, file.screeningRuns[0].candidates[0].entryId],
      ["HIT", entryId]
    )
    assert.deepStrictEqual(file.revisions, [{ revision: 1, receivedAt: file.receivedAt }])
    assert.strictEqual(file.reportingRecord.fromRevision, 1)
    assert.deepStrictEqual([file.documents, file.dispositions], [[], []])
    const audit = await rowsOf(service, "audit", "object = $1 AND action = 'kyc.read'", [
      `kycPackage:${file.kycPackageId}`
    ])
    assert.deepStrictEqual(
      audit.map(({ role, keyLabel, before, after, reason }) => [role, keyLabel, before, after, reason]),
      [["COMPLIANCE", "COMPLIANCE one", null, null, "quarterly review"]]
    )
    const shown = await runRecorded(["kyc", "show", String(clientId), "--reason", "r", ...service.connection("ADMIN")])
    assert.include(shown.stdout, body.kyc.personalInfo.last_name)
    assert.include(shown.stdout, "PERSONAL_INFO APPROVED")
    const [caseId] = (await show(clientId)).openCases
    const asked = await runRecorded(["case", "show", String(caseId), ...service.connection("SUPPORT")])
    const { first_name, last_name, date_of_birth } = body.kyc.personalInfo
    const named = `${entryId} +SANCTIONS +${first_name} ${last_name} +${date_of_birth} .*OPERATOR .*1\\.000 +1\\.000`
    assert.match(
      asked.stdout,
      new RegExp(`ENTRY +LIST +NAME +DOB +COUNTRY +SOURCE +REMOVED +SCORE +NAME SCORE\n${named}`)
    )
    assert.match(shown.stdout, new RegExp(named))
    const opened = await service.done(["case", "show", String(caseId)], "SUPPORT")
    const entry = {
      entryId,
      list: "SANCTIONS",
      name: `${first_name} ${last_name}`,
      dob: date_of_birth,
      country: null,
      source: "OPERATOR",
      removedAt: null
    }
    assert.deepStrictEqual([opened.revision, opened.entries, file.entries], [1, [entry], [entry]])
    // An entry that has been removed from the list is still shown, with the time of removal.
    const { removedAt } = await service.done(["screening", "remove", String(entryId)], "COMPLIANCE")
    const later = await service.done(["case", "show", String(caseId)], "SUPPORT")
    assert.deepStrictEqual(later.entries, [{ ...entry, removedAt }])
  })

  it("F26: a name that can't be compared is shown as such, and cleared as any other candidate", async () => {
    const body = sampleOnboarding(700 + nextPerson(), "review", Date.now())
    body.kyc.personalInfo.last_name = "\u0627\u0644\u0627\u0633\u062f"
    const { clientId, review } = (await service.call("POST", "/partner/v1/clients", { key, body })).json.data
    const listed = await runRecorded(["case", "list", "--open", ...service.connection("SUPPORT")])
    assert.match(listed.stdout, new RegExp(`\\n${review.caseId} .*SCREENING_POSSIBLE_MATCH +OPEN`))
    const line = "0 +UNREADABLE +the client's own name: letters that can't be compared +1\\.000 +1\\.000"
    const asked = await runRecorded(["case", "show", String(review.caseId), ...service.connection("SUPPORT")])
    assert.match(asked.stdout, new RegExp(line))
    assert.deepStrictEqual(asked.stderr, "")
    const cleared = await kyc("clear", clientId, "--note", "no listed person")
    assert.deepStrictEqual([cleared.lifecycleState, cleared.openCases], ["ACTIVE", []])
    const shown = await runRecorded(["kyc", "show", String(clientId), "--reason", "r", ...service.connection("ADMIN")])
    assert.match(shown.stdout, new RegExp(line))
    assert.match(shown.stdout, /0 +the client's own name +FALSE_POSITIVE +POSSIBLE +1\.000/)
  })

  it("operator surface: only ADMIN and COMPLIANCE read it, with a reason; a refusal leaves no audit row", async () => {
    const clientId = await service.client(key)
    for (const role of ["FINANCE", "SUPPORT"] as const) {
      const refusal = await refused(["kyc", "show", String(clientId), "--reason", "curiosity"], role)
      assert.strictEqual(refusal.code, 4034)
    }
    assert.strictEqual((await service.cli(["kyc", "show", String(clientId)], "COMPLIANCE")).status, 2)
    assert.strictEqual((await refused(["kyc", "show", "999999", "--reason", "r"])).code, 4004)
    assert.strictEqual((await refused(["kyc", "show", String(clientId), "--reason", " "])).code, 4000)
  })

  it("D1: a closed client's file can still be read", async () => {
    const clientId = await service.client(key)
    await service.done(["client", "close", String(clientId), "--reason", "asked by the client"], "COMPLIANCE")
    const file = await kyc("show", clientId, "--reason", "supervisor")
    assert.deepStrictEqual([file.lifecycleState, file.sections.length], ["CLOSED", 7])
    assert.deepStrictEqual(
      file.decisions.map(({ decision }: { decision: string }) => decision),
      ["CLOSED", "GRANT_MICA"]
    )
  })
})
