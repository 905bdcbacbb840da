/**
 * POST /clients on the real service: the answer, all stored rows, refusals without a trace, gates (doc 1, Rules of POST
 * /clients; D1, D2, D3; A1-14..A1-27; F27). Reviews are in onboardingReview.test.ts.
 */
import { assert, describe, it } from "@effect/vitest"
import { blockCodes, micaBlockCodes } from "../../src/machines/verification/Blocks.ts"
import { comply, get, ofClient, onboard, partners, person, rowCounts, rowsOf } from "../support/Builders.ts"
import { operator } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, partner } = await openScenario()
const other = await service.partner()

const mifidBlocks = blockCodes.filter((code) => !micaBlockCodes.includes(code as never))

describe("onboarding", () => {
  const withoutId = <Row extends { readonly id: number }>({ id, ...row }: Row) => {
    assert.isAbove(id, 0)
    return row
  }

  describe("success", () => {
    it("SC-ONB-01: the answer and the one client.onboarded have exactly the documented members", async () => {
      const body = person(1, "ok")
      const { status, json } = await onboard(service, partner.key, body)
      const { clientId, kycPackageId } = json.data
      const open = { "TRADE:SPOT": [], "DEPOSIT:CRYPTO": [], "WITHDRAW:CRYPTO": [] }
      const fiat = { "DEPOSIT:FIAT": ["BANK_ACCOUNT"], "WITHDRAW:FIAT": ["BANK_ACCOUNT"] }
      const mifid = { "TRADE:PERP": mifidBlocks, "TRADE:BARRIER": mifidBlocks, "TRADE:STAKING": mifidBlocks }
      assert.strictEqual(status, 201)
      assert.deepStrictEqual(json, {
        code: 0,
        data: {
          clientId,
          clientUid: `${partner.code}-${String(clientId).padStart(8, "0")}`,
          partnerClientRef: "ok-1",
          verificationLevel: "MICA",
          lifecycleState: "ACTIVE",
          status: "ACTIVE",
          kycPackageId,
          requirements: { ...open, ...fiat, ...mifid },
          review: null
        }
      })
      assert.isAbove(clientId, 0)
      assert.isAbove(kycPackageId, 0)
      const events = await ofClient(service, "events", clientId)
      assert.deepStrictEqual(
        events.map(({ name, data }) => ({ name, data })),
        [
          {
            name: "client.onboarded",
            data: { verificationLevel: "MICA", lifecycleState: "ACTIVE", kycPackageId }
          }
        ]
      )
    })

    it("Rules of POST /clients 3 to 6: every row is stored, sealed values open to the received ones", async () => {
      const body = person(2, "rows", { "kyc.personalInfo.middle_name": "Maria" })
      const { clientId, clientUid, kycPackageId } = (await onboard(service, partner.key, body)).json.data
      const [client] = await rowsOf(service, "clients", "id = $1", [BigInt(clientId)])
      const at = client?.createdAt as number
      assert.deepInclude(client, {
        partnerId: partner.partnerId,
        uid: clientUid,
        state: "ACTIVE",
        level: "MICA",
        partnerClientRef: "rows-2",
        email: body.email,
        displayName: `${body.kyc.personalInfo.first_name} Maria ${body.kyc.personalInfo.last_name}`,
        categorization: "RETAIL",
        residencyCountry: "DE",
        onboardingSource: "PARTNER_RELIANCE"
      })
      const blocks = await ofClient(service, "verificationBlocks", clientId)
      assert.sameMembers(
        blocks.map((block) => block.code),
        [...micaBlockCodes]
      )
      for (const block of blocks) {
        assert.strictEqual(block.state, "APPROVED")
        assert.deepInclude(block.context, { decidedBy: "PARTNER", decidedAt: at, reason: null })
      }
      const payloads = new Map((await ofClient(service, "blockPayloads", clientId)).map((row) => [row.code, row.data]))
      assert.deepStrictEqual(payloads.get("PERSONAL_INFO"), body.kyc.personalInfo as never)
      assert.deepStrictEqual(payloads.get("IDENTIFICATION"), body.kyc.identification as never)
      assert.deepStrictEqual(payloads.get("DECLARATIONS_MICA"), body.kyc.declarationsMica as never)
      assert.deepStrictEqual(payloads.get("IDENTITY_CHECK"), body.identityCheck as never)
      const [kyc] = await ofClient(service, "kycPackages", clientId)
      assert.deepInclude(kyc, { id: kycPackageId, state: "ACCEPTED", receivedAt: at })
      const [revision, ...more] = await ofClient(service, "kycRevisions", clientId)
      assert.lengthOf(more, 0)
      assert.deepInclude(revision, { packageId: kycPackageId, revision: 1, receivedAt: at })
      assert.deepStrictEqual([revision?.payload, revision?.attestation], [body.kyc, body.attestation] as never)
      const [session] = await ofClient(service, "identitySessions", clientId)
      assert.deepInclude(session, { provider: "partner", status: "VERIFIED", createdAt: at })
      assert.deepStrictEqual(session?.data, body.identityCheck as never)
      const [run] = await ofClient(service, "screeningRuns", clientId)
      assert.deepInclude(run, { trigger: "ONBOARDING", outcome: "CLEAR", ranAt: at })
      assert.deepStrictEqual((await ofClient(service, "decisions", clientId)).map(withoutId), [
        {
          partnerId: partner.partnerId,
          clientId,
          decision: "GRANT_MICA",
          reason: "reliance onboarding",
          decidedBy: "SYSTEM",
          decidedAt: at
        }
      ])
      assert.deepStrictEqual(await ofClient(service, "cases", clientId), [])
    })

    it("F27: the reporting record carries all given names and the identifier of the nationality", async () => {
      const body = person(3, "record", {
        "kyc.personalInfo.first_name": "Anna Lena",
        "kyc.personalInfo.middle_name": "Maria",
        "kyc.personalInfo.last_name": "von Albrecht"
      })
      const { clientId } = (await onboard(service, partner.key, body)).json.data
      const [row] = await ofClient(service, "reportingRecords", clientId)
      assert.deepInclude(row, { fromRevision: 1, complete: true })
      assert.deepStrictEqual(row?.record, {
        nationality: "DE",
        scheme: "CONCAT",
        identifier: "DE19530404ANNA#ALBRE",
        firstNames: "ANNA,LENA,MARIA",
        surnames: "VON ALBRECHT",
        dateOfBirth: "1953-04-04",
        complete: true,
        builtAt: row?.builtAt,
        fromRevision: 1
      } as never)
    })

    it("Rules of POST /clients 3: the audit stream shows the onboarding by the partner's key, without personal data", async () => {
      const body = person(4, "audit")
      const { clientId } = (await onboard(service, partner.key, body, { "x-request-id": "audit-request-4" })).json.data
      const audit = await ofClient(service, "audit", clientId)
      assert.deepInclude(
        audit.find((row) => row.action === "client.onboard"),
        {
          role: "PARTNER",
          keyLabel: "test",
          requestId: "audit-request-4",
          before: null,
          after: "ACTIVE",
          reason: "reliance onboarding"
        }
      )
      assert.include(
        audit.map((row) => row.action),
        "kyc.store"
      )
      assert.notInclude(JSON.stringify(audit), body.kyc.personalInfo.last_name)
    })

    it("D3: timers wait for the end of both identity documents", async () => {
      const body = person(5, "timer", { "identityCheck.documentExpiry": "2099-02-28" })
      body.kyc.identification.expiration_date = "2098-12-31"
      const { clientId } = (await onboard(service, partner.key, body)).json.data
      assert.deepStrictEqual(await rowsOf(service, "timers", "subject = $1", [`client:${clientId}`]), [
        { subject: `client:${clientId}`, name: "identification.expiry", dueAt: Date.parse("2099-01-01T00:00:00Z") },
        { subject: `client:${clientId}`, name: "identityCheck.expiry", dueAt: Date.parse("2099-03-01T00:00:00Z") }
      ])
    })

    it("A1-14: texts are trimmed and NFC, the e-mail in lower case, the package as received", async () => {
      const body = person(6, "clean", {
        partnerClientRef: " \u00a0Cafe\u0301-6 ",
        email: " Clean.Six@Mail.Example ",
        "kyc.personalInfo.first_name": " Jose\u0301 "
      })
      const { clientId, partnerClientRef } = (await onboard(service, partner.key, body)).json.data
      assert.strictEqual(partnerClientRef, "Café-6")
      const row = (await get(service, partner.key, `/clients/${clientId}`)).json.data
      assert.deepInclude(row, {
        email: "clean.six@mail.example",
        displayName: `José ${body.kyc.personalInfo.last_name}`
      })
      const [revision] = await ofClient(service, "kycRevisions", clientId)
      assert.deepStrictEqual(revision?.payload, body.kyc as never)
    })
  })

  describe("refusals leave nothing", () => {
    const refusedWithNothing = async (key: string, body: object, status: number, code: number) => {
      const before = await rowCounts(service)
      const answer = await onboard(service, key, body)
      assert.deepStrictEqual([answer.status, answer.json.code], [status, code], answer.text)
      assert.deepStrictEqual(await rowCounts(service), before)
      return answer.json
    }

    it.each(["US", "KP", "IR", "MM", "SY", "CU", "RU", "UA"])("A1-17: residents of %s are refused", async (country) => {
      const { data } = await refusedWithNothing(
        partner.key,
        person(51, "blocked", { residencyCountry: country }),
        400,
        4000
      )
      assert.deepStrictEqual(Object.keys(data.errors), ["residencyCountry"])
    })

    it("A1-17: citizenship, birth country, tax residency and issuing country are not blocked", async () => {
      const body = person(52, "blocked", {
        "kyc.personalInfo.citizenships": ["RU"],
        "kyc.personalInfo.country_of_birth": "SY",
        "kyc.identification.country_of_issuance": "RU",
        "kyc.taxResidency.tax_residencies": [{ country: "RU", has_tin: true, tin: "7707083893" }]
      })
      assert.strictEqual((await onboard(service, partner.key, body)).status, 201)
    })

    it("A1-16: an e-mail of an open account is 4090, in any case and at any partner", async () => {
      const body = person(53, "mail")
      await onboard(service, partner.key, body)
      const again = person(54, "mail", { email: body.email.toUpperCase() })
      const refused = await refusedWithNothing(other.key, again, 409, 4090)
      assert.notInclude(JSON.stringify(refused), body.email)
    })

    it("SC-ONB-06: a reference of a live client is 4092 and reveals nothing of it, even with the same e-mail", async () => {
      const body = person(55, "ref")
      await onboard(service, partner.key, body)
      const refused = await refusedWithNothing(partner.key, body, 409, 4092)
      assert.deepStrictEqual(refused.data, { reason: "REFERENCE_REUSED" })
      // A1-18: references are case-sensitive, and belong to one partner.
      const upper = person(56, "ref", { partnerClientRef: "REF-55" })
      assert.strictEqual((await onboard(service, partner.key, upper)).status, 201)
      const foreign = person(57, "ref", { partnerClientRef: "ref-55" })
      assert.strictEqual((await onboard(service, other.key, foreign)).status, 201)
    })

    it("SC-ONB-06: a reference of a REJECTED client points at re-onboarding, before the e-mail is judged", async () => {
      const body = person(58, "ref")
      const { clientId, clientUid } = (await onboard(service, partner.key, body)).json.data
      await comply(service, (compliance) => compliance.reject(operator, String(clientId), "Documents are missing."))
      const refused = await refusedWithNothing(partner.key, body, 409, 4092)
      assert.deepStrictEqual(refused.data, {
        reason: "REONBOARD",
        clientId,
        clientUid,
        kycPackageStatus: "REJECTED",
        reonboardWith: `PUT /partner/v1/clients/${clientId}/kyc`
      })
    })
  })

  describe("gates", () => {
    it.each(["REQUESTED", "SUSPENDED", "REVOKED"] as const)(
      "SC-ONB-16: reliance %s refuses onboarding with 4036 before fields, reads continue",
      async (target) => {
        const own = await service.partner()
        const client = await service.client(own.key)
        const path = { REQUESTED: ["REVOKED", "REQUESTED"], SUSPENDED: ["SUSPENDED"], REVOKED: ["REVOKED"] } as const
        for (const to of path[target]) {
          await partners(service, (commands) => commands.reliance(operator, own.code, to, "test"))
        }
        const before = await rowCounts(service)
        const refused = await onboard(service, own.key, { partnerClientRef: 1 })
        assert.deepStrictEqual([refused.status, refused.json.code], [403, 4036])
        assert.deepStrictEqual(refused.json.data, { error: "RELIANCE_NOT_APPROVED" })
        assert.deepStrictEqual(await rowCounts(service), before)
        for (const route of ["/me", "/clients", `/clients/${client}`, "/summary"]) {
          assert.strictEqual((await get(service, own.key, route)).status, 200)
        }
        assert.strictEqual((await get(service, own.key, "/me")).json.data.partner.relianceStatus, target)
      }
    )

    it("SC-ONB-16: a SUSPENDED partner is refused with 4037 on an unknown route too, and serves again when ACTIVE", async () => {
      const own = await service.partner()
      const client = await service.client(own.key)
      await partners(service, (commands) => commands.status(operator, own.code, "SUSPENDED", "test"))
      const answers = await Promise.all([
        ...["/me", "/clients", `/clients/${client}`, "/nowhere"].map((route) => get(service, own.key, route)),
        onboard(service, own.key, person(70, "gate"))
      ])
      for (const { status, json } of answers) {
        assert.deepStrictEqual([status, json.code, json.data], [403, 4037, { error: "PARTNER_SUSPENDED" }])
      }
      await partners(service, (commands) => commands.status(operator, own.code, "ACTIVE", "test"))
      assert.strictEqual((await onboard(service, own.key, person(70, "gate"))).status, 201)
    })
  })
})
