/**
 * The body of PUT .../kyc: its required parts in an ordinary revision and in a re-onboarding, and document references.
 * The rules inside a section are those of POST /clients (doc 1, Rules of POST /clients and PUT .../kyc 7 and 8; A1-27,
 * A1-32).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { decodeKycUpdate, type KycUpdateFacts, referredDocuments } from "../../src/machines/kyc/KycUpdateBody.ts"
import { kycSectionNames } from "../../src/machines/kyc/OnboardingBody.ts"
import { onboardingFacts, validOnboarding } from "../fixtures/onboarding.ts"

const facts = (over: Partial<KycUpdateFacts> = {}): KycUpdateFacts => ({
  ...onboardingFacts,
  documents: new Set([7, 8]),
  reonboarding: false,
  ...over
})
const again = facts({ reonboarding: true })

/** A full body with some paths replaced; the envelope fields of POST /clients are left out. */
const full = (over: Readonly<Record<string, unknown>> = {}) => {
  const { kyc, identityCheck, attestation } = validOnboarding(over)
  return JSON.parse(JSON.stringify({ kyc, identityCheck, attestation })) as Pick<
    ReturnType<typeof validOnboarding>,
    "kyc" | "identityCheck" | "attestation"
  >
}
const errorsOf = (body: unknown, given = facts()) => {
  const decided = decodeKycUpdate(body, given)
  return decided.ok ? {} : decided.errors
}
const requestOf = (body: unknown, given = facts()) => {
  const decided = decodeKycUpdate(body, given)
  if (!decided.ok) throw new Error(JSON.stringify(decided.errors))
  return decided.body
}
const only = (...names: ReadonlyArray<string>) => {
  const { kyc, attestation } = full()
  return { kyc: Object.fromEntries(Object.entries(kyc).filter(([name]) => names.includes(name))), attestation }
}

const oneSection =
  "At least one section is required: personalInfo, identification, taxResidency, fatca, pep, declarationsMica."
const notOurs = "The document reference does not name a document uploaded for this client."
const newCheck = "A new record of the identity check is required to onboard the client again after a rejection."

type Row = readonly [title: string, body: unknown, errors: Readonly<Record<string, string>>]

const ordinary: ReadonlyArray<Row> = [
  ["the full body", full(), {}],
  ["no identity check", full({ identityCheck: undefined }), {}],
  ["an identity check of null", full({ identityCheck: null }), {}],
  ...kycSectionNames.map((name): Row => [`${name} alone`, only(name), {}]),
  ["no section", only(), { kyc: oneSection }],
  ["sections of null", { ...only(), kyc: { pep: null, fatca: null } }, { kyc: oneSection }],
  ["a name that is no section", { ...only(), kyc: { personal: {} } }, { kyc: oneSection }],
  ["no kyc", full({ kyc: undefined }), { kyc: "The kyc object is required." }],
  ["a kyc that is a list", full({ kyc: [] }), { kyc: "The kyc object must be an object." }],
  ["no attestation", full({ attestation: undefined }), { attestation: "The attestation is required." }],
  ["an attestation of null", full({ attestation: null }), { attestation: "The attestation is required." }],
  ["a section that is no object", full({ "kyc.pep": 5 }), { "kyc.pep": "The PEP section must be an object." }],
  [
    "an identity check that is no object",
    full({ identityCheck: "done" }),
    { identityCheck: "The identity check must be an object." }
  ],
  [
    "failures of all parts at once",
    full({
      "kyc.personalInfo.citizenships": ["DE", "XX", "DE"],
      "kyc.fatca.w9_document_id": 9,
      "identityCheck.verifiedAt": 1,
      "attestation.riskRating": "low"
    }),
    {
      "kyc.personalInfo.citizenships.1": "The citizenship must be an ISO 3166-1 alpha-2 country code in upper case.",
      "kyc.personalInfo.citizenships.2": "The citizenship must not be named twice.",
      "kyc.fatca.w9_document_id": notOurs,
      "identityCheck.verifiedAt": "The identity check must not be older than 12 months (366 days).",
      "attestation.riskRating": "The risk rating must be one of: LOW, MEDIUM, HIGH."
    }
  ],
  [
    "a blocked residence",
    full({ "kyc.personalInfo.address.country": "US" }),
    { "kyc.personalInfo.address.country": "Clients resident in this country cannot be onboarded." }
  ]
]

const idSentence = (label: string) => `${label} must be a document id.`
const references: ReadonlyArray<readonly [path: string, value: unknown, at: string, sentence: string | null]> = [
  ["kyc.personalInfo.utility_bill_document_id", 7, "", null],
  ["kyc.personalInfo.utility_bill_document_id", null, "", null],
  ["kyc.personalInfo.utility_bill_document_id", 9, "", notOurs],
  ["kyc.personalInfo.utility_bill_document_id", 0, "", idSentence("The utility bill reference")],
  ["kyc.personalInfo.utility_bill_document_id", -7, "", idSentence("The utility bill reference")],
  ["kyc.personalInfo.utility_bill_document_id", 7.5, "", idSentence("The utility bill reference")],
  ["kyc.personalInfo.utility_bill_document_id", "7", "", idSentence("The utility bill reference")],
  ["kyc.fatca.w9_document_id", 8, "", null],
  ["kyc.fatca.w9_document_id", 6, "", notOurs],
  ["kyc.fatca.w9_document_id", [8], "", idSentence("The W-9 reference")],
  ["kyc.identification.document_ids", [7, 8], "", null],
  ["kyc.identification.document_ids", [], "", null],
  ["kyc.identification.document_ids", [7, 9, 8], ".1", notOurs],
  ["kyc.identification.document_ids", [7, 2 ** 53], ".1", idSentence("The document reference")],
  ["kyc.identification.document_ids", ["7"], ".0", idSentence("The document reference")],
  ["kyc.identification.document_ids", 7, "", "The document references must be a list of document ids."]
]

const reonboarding: ReadonlyArray<Row> = [
  ["the full body", full(), {}],
  ["no identity check", full({ identityCheck: undefined }), { identityCheck: newCheck }],
  ["an identity check of null", full({ identityCheck: null }), { identityCheck: newCheck }],
  ["no attestation", full({ attestation: undefined }), { attestation: "The attestation is required." }],
  ["no kyc", full({ kyc: undefined }), { kyc: "The kyc object is required." }],
  [
    "one section alone",
    only("pep"),
    {
      identityCheck: newCheck,
      "kyc.personalInfo": "The personal information section is required.",
      "kyc.identification": "The identification section is required.",
      "kyc.taxResidency": "The tax residency section is required.",
      "kyc.fatca": "The FATCA section is required.",
      "kyc.declarationsMica": "The declarations section is required."
    }
  ],
  [
    "a section missing and a field wrong",
    full({ "kyc.fatca": undefined, "kyc.personalInfo.phone_number": "1" }),
    {
      "kyc.fatca": "The FATCA section is required.",
      "kyc.personalInfo.phone_number": "The phone number must be 4 to 15 digits."
    }
  ]
]

describe("PUT .../kyc, the body", () => {
  it.each(ordinary)("rule 7, ordinary revision: %s", (_, body, errors) => {
    assert.deepStrictEqual(errorsOf(body), errors)
  })

  it.each(reonboarding)("rule 8, re-onboarding: %s", (_, body, errors) => {
    assert.deepStrictEqual(errorsOf(body, again), errors)
  })

  it.each(references)("doc 1, document references: %s of %j", (path, value, at, sentence) => {
    const errors = errorsOf(full({ [path]: value }))
    if (sentence === null) assert.deepStrictEqual(errors, {})
    else assert.strictEqual(errors[`${path}${at}`], sentence)
    assert.lengthOf(Object.keys(errors), sentence === null ? 0 : 1)
  })

  it("A1-32: sections, identity check and attestation stay as received, white space and ignored fields too", () => {
    const body = full({
      "kyc.personalInfo.first_name": "  Anna ",
      "kyc.personalInfo.middle_name": null,
      "kyc.pep": null,
      "kyc.fatca.extra": "kept",
      "kyc.other": 1,
      "attestation.extra": [1]
    })
    const request = requestOf(body)
    assert.deepStrictEqual(
      Object.keys(request.kyc),
      kycSectionNames.filter((name) => name !== "pep")
    )
    for (const [name, section] of Object.entries(request.kyc)) {
      assert.deepStrictEqual(section, (body.kyc as Record<string, unknown>)[name] as typeof section)
    }
    assert.deepStrictEqual(request.attestation, body.attestation as unknown as typeof request.attestation)
    assert.deepStrictEqual(request.identityCheck, body.identityCheck as typeof request.identityCheck)
    assert.isNull(requestOf(only("fatca")).identityCheck)
  })

  it("doc 1, document references: every referred id is found", () => {
    const body = full({
      "kyc.personalInfo.utility_bill_document_id": 7,
      "kyc.fatca.w9_document_id": 8,
      "kyc.identification.document_ids": [8, 7]
    })
    assert.deepStrictEqual(referredDocuments(requestOf(body).kyc), [7, 8, 8, 7])
    assert.deepStrictEqual(referredDocuments(requestOf(only("pep")).kyc), [])
  })

  it("A1-01: no JSON value makes the decoder throw; a body that is no object gives an empty map", () => {
    assert.deepStrictEqual(decodeKycUpdate([], facts()), { ok: false, errors: {} })
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.jsonValue(),
        fc.jsonValue(),
        fc.boolean(),
        (kyc, identityCheck, attestation, re) => {
          const decided = decodeKycUpdate({ kyc, identityCheck, attestation }, re ? again : facts())
          assert.isFalse(decided.ok)
        }
      )
    )
  })

  it("rule 7: any choice of sections of a valid body is a valid revision", () => {
    fc.assert(
      fc.property(fc.subarray([...kycSectionNames], { minLength: 1 }), (names) => {
        assert.deepStrictEqual(Object.keys(requestOf(only(...names)).kyc), names)
        assert.strictEqual(decodeKycUpdate(only(...names), again).ok, false)
      })
    )
  })
})
