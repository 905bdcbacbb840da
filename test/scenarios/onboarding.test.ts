/**
 * POST /clients on the real service: the answer, everything that is stored beside it, reviews, refusals that leave
 * nothing (document 1, Rules of POST /clients; D1, D2, D3; A1-14..A1-29; F25, F26, F27).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { blockCodes, micaBlockCodes } from "../../src/machines/verification/Blocks.ts"
import {
  brokenInvariants,
  comply,
  get,
  ofClient,
  onboard,
  partners,
  person,
  rowCounts,
  rowsOf,
  watch
} from "../support/Builders.ts"
import { operator, type Service, startService } from "../support/Service.ts"

const mifidBlocks = blockCodes.filter((code) => !micaBlockCodes.includes(code as never))

describe("onboarding", () => {
  let service: Service
  let partner: Awaited<ReturnType<Service["partner"]>>
  let other: Awaited<ReturnType<Service["partner"]>>

  beforeAll(async () => {
    service = await startService()
    partner = await service.partner()
    other = await service.partner()
    await watch(service, { name: "Viktor Orlenko", dob: "1970-03-04", country: "BY", list: "SANCTIONS" })
    await watch(service, { name: "Ingrid Solberg", dob: "1961-09-30", country: "NO", list: "PEP" })
  })
  afterAll(async () => {
    assert.deepStrictEqual(await brokenInvariants(service), [])
    await service.stop()
  })

  describe("success", () => {
    it("SC-ONB-01: the answer has exactly the documented members, client.onboarded is told once", async () => {
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

    it("Rules of POST /clients 3 to 6: every row is stored, sealed values open to what was received", async () => {
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
      assert.deepStrictEqual(
        (await ofClient(service, "decisions", clientId)).map(({ id: _, ...row }) => row),
        [
          {
            partnerId: partner.partnerId,
            clientId,
            decision: "GRANT_MICA",
            reason: "reliance onboarding",
            decidedBy: "SYSTEM",
            decidedAt: at
          }
        ]
      )
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

    it("Rules of POST /clients 3: the audit stream tells the onboarding by the partner's key, without personal data", async () => {
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

  describe("review", () => {
    const reviews: ReadonlyArray<readonly [string, string, string, Readonly<Record<string, unknown>>]> = [
      [
        "SC-ONB-02: a sanctions hit",
        "SCREENING_HIT",
        "HIT",
        {
          "kyc.personalInfo.first_name": "Viktor",
          "kyc.personalInfo.last_name": "Orlenko",
          "kyc.personalInfo.date_of_birth": "1970-03-04",
          "kyc.personalInfo.citizenships": ["BY"]
        }
      ],
      [
        "A1-28: a sanctioned name with another birth date",
        "SCREENING_POSSIBLE_MATCH",
        "POSSIBLE",
        {
          "kyc.personalInfo.first_name": "Viktor",
          "kyc.personalInfo.last_name": "Orlenko",
          "kyc.personalInfo.date_of_birth": "1988-01-01"
        }
      ],
      [
        "A1-28: a listed politically exposed person is never more than possible",
        "SCREENING_POSSIBLE_MATCH",
        "POSSIBLE",
        {
          "kyc.personalInfo.first_name": "Ingrid",
          "kyc.personalInfo.last_name": "Solberg",
          "kyc.personalInfo.date_of_birth": "1961-09-30",
          "kyc.personalInfo.citizenships": ["NO"]
        }
      ],
      [
        "SC-ONB-19: a declared public function",
        "PEP_DECLARED",
        "CLEAR",
        {
          "kyc.pep": {
            is_pep: true,
            details: { position: "mayor", country: "DE", institution: "City of Berlin", start_date: "2020-01-01" },
            has_associations: false
          }
        }
      ],
      [
        "A1-28: a declared association",
        "PEP_DECLARED",
        "CLEAR",
        {
          "kyc.pep": {
            is_pep: false,
            has_associations: true,
            associations: [
              {
                full_name: "Otto Beispiel",
                dob: "1960-01-01",
                nationality: "DE",
                address: "Lindenallee 1, Berlin",
                position: "minister",
                country: "DE",
                institution: "Ministry",
                start_date: "2019-01-01",
                relationship: "spouse"
              }
            ]
          }
        }
      ],
      ["A1-28: a HIGH rating", "HIGH_RISK_RATING", "CLEAR", { "attestation.riskRating": "HIGH" }]
    ]

    it.each(reviews.map(([title, reason, outcome, paths], index) => ({ title, reason, outcome, paths, index })))(
      "$title is $reason",
      async ({ reason, outcome, paths, index }) => {
        const { status, json } = await onboard(service, partner.key, person(20 + index, "review", paths))
        const { clientId, kycPackageId, review, requirements } = json.data
        assert.strictEqual(status, 201)
        assert.deepInclude(json.data, {
          status: "PENDING_REVIEW",
          lifecycleState: "KYC_PENDING",
          verificationLevel: "NONE"
        })
        assert.deepStrictEqual(review, { reason, caseId: review.caseId })
        // A1-30: every block is approved, so the list says what is missing instead.
        assert.deepStrictEqual(requirements["TRADE:SPOT"], ["COMPLIANCE_REVIEW"])
        assert.deepStrictEqual(requirements["DEPOSIT:CRYPTO"], ["COMPLIANCE_REVIEW"])
        const [kyc] = await ofClient(service, "kycPackages", clientId)
        assert.strictEqual(kyc?.state, "SPOT_CHECK")
        const [opened, ...more] = await ofClient(service, "cases", clientId)
        assert.lengthOf(more, 0)
        assert.deepInclude(opened, { id: review.caseId, state: "OPEN", reason, closedAt: null })
        const [run] = await ofClient(service, "screeningRuns", clientId)
        assert.strictEqual(run?.outcome, outcome)
        assert.strictEqual((run?.candidates as ReadonlyArray<unknown>).length > 0, outcome !== "CLEAR")
        assert.deepStrictEqual(await ofClient(service, "decisions", clientId), [])
        const events = await ofClient(service, "events", clientId)
        assert.deepStrictEqual(
          events.map(({ name, data }) => ({ name, data })),
          [{ name: "client.review_required", data: { reason, kycPackageId, caseId: review.caseId } }]
        )
      }
    )

    it("A1-28: details sent with the flags false are ignored", async () => {
      const body = person(30, "review", {
        "kyc.pep": { is_pep: false, details: { position: "mayor" }, has_associations: false, associations: [{}] }
      })
      const { json } = await onboard(service, partner.key, body)
      assert.strictEqual(json.data.status, "ACTIVE")
    })

    it.each([
      ["the same partner", () => partner.key],
      ["another partner", () => other.key]
    ])(
      "A1-28: the same person again at %s is told COMPLIANCE_REVIEW, the case says DUPLICATE_PERSON",
      async (_, keyOf) => {
        const n = keyOf() === partner.key ? 40 : 41
        const first = await onboard(service, partner.key, person(n, "twin"))
        const again = person(n, "twin", { partnerClientRef: `second-${n}`, email: `second.${n}@mail.example` })
        again.kyc.personalInfo.first_name = `  ${again.kyc.personalInfo.first_name.toUpperCase()} `
        const { status, json, text } = await onboard(service, keyOf(), again)
        const { clientId, kycPackageId, review } = json.data
        assert.strictEqual(status, 201)
        assert.strictEqual(json.data.status, "PENDING_REVIEW")
        assert.strictEqual(review.reason, "COMPLIANCE_REVIEW")
        assert.notInclude(text, "DUPLICATE")
        const [opened] = await ofClient(service, "cases", clientId)
        assert.strictEqual(opened?.reason, "DUPLICATE_PERSON")
        assert.deepInclude(opened?.details as object, { duplicateOf: first.json.data.clientId })
        const events = await ofClient(service, "events", clientId)
        assert.deepStrictEqual(
          events.map(({ name, data }) => ({ name, data })),
          [
            {
              name: "client.review_required",
              data: { reason: "COMPLIANCE_REVIEW", kycPackageId, caseId: review.caseId }
            }
          ]
        )
        const row = (await get(service, partner.key, `/clients/${first.json.data.clientId}`)).json.data
        assert.strictEqual(row.lifecycleState, "ACTIVE")
      }
    )
  })

  describe("races", () => {
    it("A1-28: twenty onboardings of one person at two partners at once make one ACTIVE client", async () => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => {
          const body = person(80, "same", { partnerClientRef: `same-${n}`, email: `same.${n}@mail.example` })
          return onboard(service, n % 2 === 0 ? partner.key : other.key, body)
        })
      )
      for (const { status, text } of answers) assert.strictEqual(status, 201, text)
      const active = answers.filter(({ json }) => json.data.status === "ACTIVE")
      assert.lengthOf(active, 1)
      for (const { json } of answers) {
        if (json.data.status === "ACTIVE") continue
        assert.strictEqual(json.data.review.reason, "COMPLIANCE_REVIEW")
        const [opened] = await ofClient(service, "cases", json.data.clientId)
        assert.deepInclude(opened?.details as object, { duplicateOf: active[0]?.json.data.clientId })
      }
    })

    it("A1-16: twenty equal requests without a key make one client; the others are told of the reference", async () => {
      const body = person(81, "equal")
      const answers = await Promise.all(Array.from({ length: 20 }, () => onboard(service, partner.key, body)))
      assert.lengthOf(
        answers.filter(({ status }) => status === 201),
        1
      )
      assert.lengthOf(
        answers.filter(({ status, json }) => status === 409 && json.code === 4092),
        19
      )
      const rows = await rowsOf(service, "clients", "partner_client_ref = 'equal-81'")
      assert.lengthOf(rows, 1)
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

    it("SC-ONB-04: all field errors come in one answer; e-mail and reference stay free", async () => {
      const body = person(50, "fields", {
        clientType: "LEGAL",
        residencyCountry: "RU",
        "kyc.personalInfo.date_of_birth": "1985-02-30",
        "kyc.personalInfo.citizenships": ["DE", "XX", "DE"],
        "kyc.personalInfo.address.country": "KP",
        "kyc.identification.document_ids": [1],
        "kyc.declarationsMica.market_conduct": false,
        "identityCheck.provider": "someone",
        "identityCheck.verifiedAt": Date.now() - 367 * 86_400_000,
        attestation: undefined
      })
      const refused = await refusedWithNothing(partner.key, body, 400, 4000)
      assert.strictEqual(refused.msg, "Please check the highlighted fields.")
      assert.strictEqual(refused.error, refused.msg)
      assert.sameMembers(Object.keys(refused.data.errors), [
        "clientType",
        "residencyCountry",
        "kyc.personalInfo.date_of_birth",
        "kyc.personalInfo.citizenships.1",
        "kyc.personalInfo.citizenships.2",
        "kyc.personalInfo.address.country",
        "kyc.identification.document_ids",
        "kyc.declarationsMica.market_conduct",
        "identityCheck.provider",
        "identityCheck.verifiedAt",
        "attestation"
      ])
      for (const sentence of Object.values<string>(refused.data.errors)) assert.match(sentence, /^[A-Z].*\.$/)
      const good = await onboard(service, partner.key, person(50, "fields"))
      assert.strictEqual(good.status, 201)
    })

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

    it("SC-ONB-06: a reference of a living client is 4092 without data, even with the same e-mail", async () => {
      const body = person(55, "ref")
      await onboard(service, partner.key, body)
      const refused = await refusedWithNothing(partner.key, body, 409, 4092)
      assert.isUndefined(refused.data)
      // A1-18: case counts, and the reference belongs to its partner alone.
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
        clientId,
        clientUid,
        kycPackageStatus: "REJECTED",
        reonboardWith: `PUT /partner/v1/clients/${clientId}/kyc`
      })
    })
  })

  describe("gates", () => {
    it.each(["REQUESTED", "SUSPENDED", "REVOKED"] as const)(
      "SC-ONB-16: reliance %s refuses onboarding with 4036 before fields, reads go on",
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

    it("SC-ONB-16: a SUSPENDED partner is refused everywhere with 4037 and serves again when ACTIVE", async () => {
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

    it("SC-PLT-01: a READ key cannot onboard, a CLOSED partner's key is unknown", async () => {
      const own = await service.partner({}, "READ")
      const refused = await onboard(service, own.key, person(71, "gate"))
      assert.deepStrictEqual([refused.status, refused.json.code], [403, 4034])
      assert.strictEqual(refused.json.msg, "This partner key cannot use this endpoint.")
      const unknown = await get(service, "pbk_unknown", "/me")
      await partners(service, (commands) => commands.status(operator, own.code, "CLOSED", "test"))
      const closed = await get(service, own.key, "/me")
      assert.deepStrictEqual([closed.status, closed.text], [unknown.status, unknown.text])
      assert.deepStrictEqual([closed.status, closed.json.code], [401, 4010])
    })
  })
})
