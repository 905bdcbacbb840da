/**
 * Field errors of POST /clients on the real service: over thirty failing fields of all sections in one answer, nothing
 * created, and no body with a disproportionate answer (doc 1, Rules of POST /clients 2; SC-ONB-04; A1-01, A1-27). The
 * rules themselves are tables in fixtures/fieldRows.
 */
import { assert, describe, it } from "@effect/vitest"
import { bodyCaps, bodyMembers } from "../../src/machines/shared/Limits.ts"
import { get, onboard, person, rowCounts } from "../support/Builders.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, key } = await openScenario()

const residences = [
  { country: "DE", has_tin: true, tin: "12.345" },
  { country: "DE", has_tin: "yes" },
  { country: "FR", has_tin: false, no_tin_reasons: ["pending", "lost", "other"] }
]
const association = {
  full_name: "x".repeat(101),
  dob: "2020-01-01",
  nationality: "UK",
  address: "a\u0007b",
  position: "king",
  country: "FR",
  institution: "City of Example",
  start_date: "2020-03-01",
  end_date: "2019-03-01",
  relationship: "Spouse"
}

/** The sent value, and the path of its error if that differs from the value's path. */
const failing = (now: number): Readonly<Record<string, unknown>> => ({
  clientType: "CORPORATE",
  categorization: "PROFESSIONAL",
  residencyCountry: "KP",
  "kyc.personalInfo.first_name": " ",
  "kyc.personalInfo.middle_name": 5,
  "kyc.personalInfo.last_name": undefined,
  "kyc.personalInfo.date_of_birth": "1985-02-30",
  "kyc.personalInfo.country_of_birth": "de",
  "kyc.personalInfo.citizenships": ["DE", "XX", "DE"],
  "kyc.personalInfo.phone_country_code": "49",
  "kyc.personalInfo.phone_number": "12 34",
  "kyc.personalInfo.address.country": "IR",
  "kyc.personalInfo.address.city": null,
  "kyc.personalInfo.utility_bill_document_id": 1,
  "kyc.identification.type": "Passport",
  "kyc.identification.number": "x".repeat(51),
  "kyc.identification.expiration_date": "2020-01-01",
  "kyc.identification.document_ids": [1],
  "kyc.taxResidency.tax_residencies": residences,
  "kyc.fatca.us_person_status": true,
  "kyc.fatca.ssn_itin": "666-00-0000",
  "kyc.fatca.w9_document_id": 1,
  "kyc.pep.is_pep": true,
  "kyc.pep.details": undefined,
  "kyc.pep.has_associations": true,
  "kyc.pep.associations": [association],
  "kyc.declarationsMica.market_conduct": false,
  "kyc.declarationsMica.acceptedAt": -1,
  "identityCheck.provider": "someone",
  "identityCheck.method": "selfie",
  "identityCheck.verifiedAt": now + 3_600_000,
  "identityCheck.documentExpiry": "2020-01-01",
  "attestation.cddPerformedAt": "now",
  "attestation.screening.sanctionsClear": false,
  "attestation.screening.pepChecked": undefined,
  "attestation.riskRating": "low",
  "attestation.documentsAvailableOnRequest": "yes"
})
/** Containers and flags that are valid themselves, and the failing fields inside them. */
const containers: Readonly<Record<string, ReadonlyArray<string>>> = {
  "kyc.personalInfo.citizenships": ["1", "2"],
  "kyc.taxResidency.tax_residencies": [
    "0.tin",
    "1.country",
    "1.has_tin",
    "2.no_tin_reasons.1",
    "2.no_tin_reason_other"
  ],
  "kyc.pep.associations": ["full_name", "dob", "nationality", "address", "position", "end_date", "relationship"].map(
    (name) => `0.${name}`
  ),
  "kyc.fatca.us_person_status": [],
  "kyc.pep.is_pep": [],
  "kyc.pep.has_associations": []
}

describe("field errors of POST /clients", () => {
  it("SC-ONB-04: every failing field of every section is named in one answer, and nothing is created", async () => {
    const values = failing(Date.now())
    const expected = Object.keys(values).flatMap((path) => containers[path]?.map((at) => `${path}.${at}`) ?? [path])
    assert.isAbove(expected.length, 30)
    const before = await rowCounts(service)
    const refused = await onboard(service, key, person(1, "fields", values))
    assert.strictEqual(refused.status, 400)
    const { code, msg, error, data, ...others } = refused.json
    assert.deepStrictEqual([code, msg, error, others], [4000, checkFields, checkFields, {}])
    assert.deepStrictEqual(Object.keys(data), ["reason", "errors"])
    assert.deepStrictEqual(Object.keys(data.errors).sort(), [...expected].sort())
    for (const sentence of Object.values<string>(data.errors)) assert.match(sentence, /^[A-Z].*[^.]\.$/)
    assert.deepStrictEqual(await rowCounts(service), before)
    assert.strictEqual((await get(service, key, "/clients/by-ref/fields-1")).status, 404)
    const good = await onboard(service, key, person(1, "fields"))
    assert.strictEqual(good.status, 201, "the e-mail and the reference are still free")
  })

  it("A1-27: a keyed refusal is replayed byte for byte and leaves e-mail and reference free", async () => {
    const headers = { "idempotency-key": "fields-2" }
    const body = person(2, "fields", failing(1_795_132_800_000))
    const [first, again] = [await onboard(service, key, body, headers), await onboard(service, key, body, headers)]
    assert.deepStrictEqual([again.status, again.text], [400, first.text])
    assert.strictEqual(again.headers["idempotency-replayed"], "true")
    assert.strictEqual((await onboard(service, key, person(2, "fields"))).status, 201)
  })

  it("A1-24, A1-25: times without a window are stored as sent up to the largest integer", async () => {
    const largest = 2 ** 53 - 1
    const body = person(3, "fields", {
      "kyc.declarationsMica.acceptedAt": largest,
      "attestation.cddPerformedAt": largest,
      "attestation.screening.screenedAt": 1
    })
    const { status, json } = await onboard(service, key, body)
    assert.strictEqual(status, 201)
    const { data } = (await get(service, key, `/clients/${json.data.clientId}/kyc`)).json
    assert.deepStrictEqual([data.payload, data.attestation], [body.kyc, body.attestation])
  })

  const withTime = (written: string) =>
    service.call("POST", "/partner/v1/clients", {
      key,
      raw: JSON.stringify(person(4, "fields")).replace(/"acceptedAt":\d+/, `"acceptedAt":${written}`)
    })

  it.each(["NaN", "Infinity", "01", "0x1", "1e400", "-1e400"])(
    "A1-01: %s is no number of JSON, or too large for a reader: 400 without a map",
    async (written) => {
      const { status, json } = await withTime(written)
      assert.deepStrictEqual([status, json.code, json.data], [400, 4000, { reason: "INVALID_BODY" }])
    }
  )

  it.each(["9007199254740992", "1e21", "1.0000000000000002", "-1", "0"])(
    "A1-24: the number %s is no time and is named",
    async (written) => {
      const { status, json } = await withTime(written)
      assert.strictEqual(status, 400)
      assert.deepStrictEqual(json.data.errors, {
        "kyc.declarationsMica.acceptedAt": "The time of acceptance must be a positive integer of Unix milliseconds."
      })
    }
  )

  /** As many items as fit below the cap of the route and the limit on members, each item with at most two members. */
  const filling = (item: unknown) => {
    const fit = Math.floor((bodyCaps.onboarding - 8_192) / (JSON.stringify(item).length + 1))
    return Array.from({ length: Math.min(fit, bodyMembers / 2 - 1_000) }, () => item)
  }
  it.each([
    ["kyc.pep.associations", {}],
    ["kyc.pep.associations", 1],
    ["kyc.personalInfo.citizenships", ""],
    ["kyc.taxResidency.tax_residencies", {}],
    ["kyc.taxResidency.tax_residencies.0.no_tin_reasons", 1]
  ])("A1-27: a body full of %s, each %j, earns one sentence, not one for each", async (path, item) => {
    const body = person(5, "fields", {
      "kyc.pep.has_associations": true,
      "kyc.pep.associations": [association],
      "kyc.taxResidency.tax_residencies": [{ country: "DE", has_tin: false }],
      ...(path.endsWith("reasons") ? {} : { "kyc.taxResidency.tax_residencies": [residences[0]] }),
      [path]: filling(item)
    })
    const { status, json, text } = await onboard(service, key, body)
    assert.strictEqual(status, 400)
    assert.match(json.data.errors[path], /^The list of [a-z ]+ must have at most [0-9]+ entries\.$/)
    assert.isBelow(text.length, 4_096)
  })
})

const checkFields = "Please check the highlighted fields."
