/**
 * POST /clients whose grant requires a review by compliance: screening, declared functions, ratings, the same person
 * twice, and races between them (doc 1, Client lifecycle and level; D1, D2; A1-16, A1-28..A1-30; F26).
 */
import { assert, describe, it } from "@effect/vitest"
import { get, ofClient, onboard, orlenko, person, rowsOf } from "../support/Builders.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, partner } = await openScenario({
  watched: [
    { ...orlenko.entry, country: "BY" },
    { name: "Ingrid Solberg", dob: "1961-09-30", country: "NO", list: "PEP" }
  ]
})
const other = await service.partner()

describe("onboarding review", () => {
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
        // A1-30: every block is approved, so the list names the missing requirement instead.
        assert.deepStrictEqual(requirements["TRADE:SPOT"], ["COMPLIANCE_REVIEW"])
        assert.deepStrictEqual(requirements["DEPOSIT:CRYPTO"], ["COMPLIANCE_REVIEW"])
        const [kyc] = await ofClient(service, "kycPackages", clientId)
        assert.strictEqual(kyc?.state, "SPOT_CHECK")
        const [opened, ...more] = await ofClient(service, "cases", clientId)
        assert.lengthOf(more, 0)
        assert.deepInclude(opened, { id: review.caseId, state: "OPEN", reason, closedAt: null })
        const [run] = await ofClient(service, "screeningRuns", clientId)
        assert.strictEqual(run?.outcome, outcome)
        assert.strictEqual(
          (run?.candidates as unknown as ReadonlyArray<unknown> | undefined)?.length !== 0,
          outcome !== "CLEAR"
        )
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
      "A1-28: the same person again at %s reads COMPLIANCE_REVIEW, the case has DUPLICATE_PERSON",
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

    it("A1-16: twenty equal requests without a key make one client; the others are answered with the reference", async () => {
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
})
