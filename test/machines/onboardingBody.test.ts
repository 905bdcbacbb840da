/**
 * The body of POST /clients beyond single fields, whose rules are rows in fieldRows.test.ts: golden cases,
 * configuration, normalisation, and an answer that names every failing field (doc 1, Onboarding request and rule 2;
 * A1-14..A1-27).
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as fc from "fast-check"
import { isEinShape, isItinShape, isSsnShape } from "../../src/machines/kyc/Fatca.ts"
import { decodeOnboarding, OnboardingBody, receivedSections } from "../../src/machines/kyc/OnboardingBody.ts"
import type { FieldErrors } from "../../src/machines/shared/Fields.ts"
import { tinCases, usTaxKindCases, usTaxNumberCases, verifiedAtCases } from "../fixtures/golden.ts"
import { blockedResidence } from "../fixtures/fieldRows/personalInfo.ts"
import {
  fullOnboarding,
  identification,
  onboardingFacts,
  onboardingNow,
  personal,
  setAt,
  tax,
  validOnboarding
} from "../fixtures/onboarding.ts"

type Overrides = Readonly<Record<string, unknown>>
const errorsOf = (overrides: Overrides, facts = onboardingFacts): FieldErrors => {
  const decision = decodeOnboarding(validOnboarding(overrides), facts)
  return decision.ok ? {} : decision.errors
}
const accept = (overrides: Overrides = {}): OnboardingBody => {
  const decision = decodeOnboarding(validOnboarding(overrides), onboardingFacts)
  if (!decision.ok) assert.fail(JSON.stringify(decision.errors))
  return decision.body
}

describe("field rules", () => {
  it("A1-14: sentences are plain, end with a full stop and never echo the value", () => {
    const marker = "Zx9Marker"
    const body = fillStrings(validOnboarding(fullOnboarding()), marker) as Record<string, unknown>
    const decision = decodeOnboarding(body, onboardingFacts)
    if (decision.ok) assert.fail("a body of markers was accepted")
    for (const sentence of Object.values(decision.errors)) {
      assert.match(sentence, /^[A-Z].*\.$/)
      assert.notInclude(sentence, marker)
    }
  })

  it("A1-22, A1-23: fields whose flag is false are ignored, not judged", () => {
    const request = accept({
      "kyc.fatca.ssn_itin": 5,
      "kyc.pep.details": "x",
      "kyc.pep.associations": [1],
      [tax]: [{ country: "DE", has_tin: false, tin: "!", no_tin_reasons: ["pending"], no_tin_reason_other: 9 }]
    })
    assert.deepStrictEqual(request.kyc.fatca, { us_person_status: false })
    assert.deepStrictEqual(request.kyc.pep, { is_pep: false, has_associations: false })
    assert.deepStrictEqual(request.kyc.taxResidency, {
      tax_residencies: [{ country: "DE", has_tin: false, no_tin_reasons: ["pending"] }]
    })
  })

  it("A1-26: the provider tokens are configuration", () => {
    const facts = { ...onboardingFacts, identityProviders: ["alpha", "beta"] }
    assert.deepStrictEqual(errorsOf({ "identityCheck.provider": "beta" }, facts), {})
    assert.deepStrictEqual(errorsOf({}, facts), {
      "identityCheck.provider": "The identity provider must be one of: alpha, beta, manual, other."
    })
  })

  it("A1-17: the block list is configuration; a defaulted residency is reported once, at the address", () => {
    const facts = { ...onboardingFacts, blockedJurisdictions: new Set(["DE"]) }
    assert.deepStrictEqual(errorsOf({}, facts), { [`${personal}.address.country`]: blockedResidence })
    assert.deepStrictEqual(errorsOf({ residencyCountry: "DE" }, facts), {
      [`${personal}.address.country`]: blockedResidence,
      residencyCountry: blockedResidence
    })
  })
})

describe("golden cases", () => {
  it.each(usTaxNumberCases)("A1-22: $id $value", ({ value, valid }) => {
    const path = "kyc.fatca.ssn_itin"
    const sentence = "The US tax number must be a valid nine-digit SSN, ITIN or EIN."
    assert.deepStrictEqual(errorsOf({ ...fullOnboarding(), [path]: value }), valid ? {} : { [path]: sentence })
  })

  it("A1-22: USTIN-019 kinds", () => {
    const bare = (value: string) => value.replaceAll("-", "")
    for (const value of usTaxKindCases.ssn) assert.isFalse(isSsnShape(bare(value)), value)
    for (const value of usTaxKindCases.itin) assert.isFalse(isItinShape(bare(value)), value)
    for (const value of usTaxKindCases.ein) assert.isFalse(isEinShape(bare(value)), value)
  })

  it("A1-22: exactly the listed ITIN groups and EIN prefixes", () => {
    const two = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, "0"))
    const groups = two.filter((group) => isItinShape(`912${group}3456`)).map(Number)
    const expected = two
      .map(Number)
      .filter((n) => (n >= 50 && n <= 65) || (n >= 70 && n <= 88) || [90, 91, 92, 94, 95, 96, 97, 98, 99].includes(n))
    assert.deepStrictEqual(groups, expected)
    const unissued = two.filter((prefix) => !isEinShape(`${prefix}1144442`)).join(" ")
    assert.strictEqual(unissued, "00 07 08 09 17 18 19 28 29 49 69 70 78 79 89 96 97")
  })

  it.each(tinCases)("A1-21: $id $value", ({ value, normalized }) => {
    const decision = decodeOnboarding(validOnboarding({ [`${tax}.0.tin`]: value }), onboardingFacts)
    const stored = decision.ok ? decision.body.kyc.taxResidency.tax_residencies[0]?.tin : null
    assert.strictEqual(stored, normalized)
    if (!decision.ok) assert.deepStrictEqual(Object.keys(decision.errors), [`${tax}.0.tin`])
  })

  it.each(verifiedAtCases.rows)("doc 1, identityCheck: DATE-003 verifiedAt $value", ({ value, valid }) => {
    const facts = { ...onboardingFacts, today: verifiedAtCases.now }
    assert.deepStrictEqual(
      Object.keys(errorsOf({ "identityCheck.verifiedAt": value }, facts)),
      valid ? [] : ["identityCheck.verifiedAt"]
    )
  })
})

describe("the whole request", () => {
  it("doc 1, rule 2: one answer names every failing field", () => {
    const broken: Overrides = {
      email: "nobody",
      residencyCountry: "US",
      [`${personal}.date_of_birth`]: "2015-01-01",
      [`${personal}.citizenships`]: ["DE", "DE"],
      [`${identification}.expiration_date`]: "2020-01-01",
      [`${identification}.type`]: "licence",
      [`${tax}.0.tin`]: undefined,
      "kyc.fatca": undefined,
      "kyc.declarationsMica.market_conduct": false,
      "identityCheck.verifiedAt": 1,
      "attestation.screening.sanctionsClear": false
    }
    const paths = Object.keys(broken).filter((path) => path !== `${personal}.citizenships`)
    assert.deepStrictEqual(Object.keys(errorsOf(broken)).sort(), [...paths, `${personal}.citizenships.1`].sort())
  })

  it("doc 1, rule 2: an empty object names the required envelope fields", () => {
    const decision = decodeOnboarding({}, onboardingFacts)
    if (decision.ok) assert.fail("an empty body was accepted")
    assert.deepStrictEqual(Object.keys(decision.errors).sort(), [
      "attestation",
      "email",
      "identityCheck",
      "kyc",
      "partnerClientRef"
    ])
  })

  it.each([null, [], "x", 5, true, undefined])("A1-01: %j is no object and gives no map", (body) => {
    assert.deepStrictEqual(decodeOnboarding(body, onboardingFacts), { ok: false, errors: {} })
  })

  it("doc 1: values are normalised and defaults filled", () => {
    const request = accept({
      partnerClientRef: "  Ref-1 ",
      [`${personal}.first_name`]: " Ame\u0301lie ",
      [`${personal}.middle_name`]: "  ",
      [`${tax}.0.tin`]: "ab-12 34c",
      "kyc.fatca.us_person_status": true,
      "kyc.fatca.ssn_itin": "536-90-4399"
    })
    assert.strictEqual(request.partnerClientRef, "Ref-1")
    assert.strictEqual(request.email, "anna.example@mail.example")
    assert.strictEqual(request.clientType, "NATURAL")
    assert.strictEqual(request.categorization, "RETAIL")
    assert.strictEqual(request.residencyCountry, "DE")
    assert.strictEqual(request.kyc.personalInfo.first_name, "Am\u00e9lie")
    assert.notProperty(request.kyc.personalInfo, "middle_name")
    assert.strictEqual(request.kyc.taxResidency.tax_residencies[0]?.tin, "AB1234C")
    assert.strictEqual(request.kyc.fatca.ssn_itin, "536904399")
    assert.strictEqual(accept({ residencyCountry: "FR" }).residencyCountry, "FR")
  })

  it("A1-32: sections are stored exactly as received, A1-01: unknown fields are ignored", () => {
    const body = validOnboarding({
      extra: { a: 1 },
      "kyc.extra": 1,
      "kyc.fatca.note": "kept",
      "kyc.fatca.ssn_itin": null,
      [`${personal}.first_name`]: " Anna "
    })
    const before = structuredClone(body)
    const decision = decodeOnboarding(body, onboardingFacts)
    if (!decision.ok) assert.fail(JSON.stringify(decision.errors))
    assert.deepStrictEqual(body, before)
    const { personalInfo, identification, taxResidency, fatca, pep, declarationsMica } = before.kyc
    assert.deepStrictEqual(decision.body.received, {
      kyc: { personalInfo, identification, taxResidency, fatca, pep, declarationsMica },
      identityCheck: before.identityCheck,
      attestation: before.attestation
    })
    assert.notProperty(decision.body.kyc.fatca, "note")
  })

  it("A1-32: only sent sections are stored", () => {
    assert.deepStrictEqual(receivedSections({ pep: { is_pep: false }, other: 2 }), { pep: { is_pep: false } })
  })

  it("doc 1: the schema describes the body for the OpenAPI document", () => {
    const { schema } = Schema.toJsonSchemaDocument(OnboardingBody)
    assert.deepStrictEqual(schema["required"], ["partnerClientRef", "email", "kyc", "identityCheck", "attestation"])
  })
})

/** Random valid bodies, which together take every optional and conditional branch. */
const validBody = fc
  .record({
    name: fc.string({ unit: fc.constantFrom(..."Aé' -ßЖ李"), minLength: 1, maxLength: 40 }).map((text) => `N${text}`),
    middle: fc.option(fc.constantFrom("Maria", "J."), { nil: undefined }),
    born: fc.date({ min: new Date("1900-01-01"), max: new Date("2008-11-20"), noInvalidDate: true }),
    expires: fc.date({ min: new Date("2026-11-21"), max: new Date("2100-12-31"), noInvalidDate: true }),
    citizenships: fc.uniqueArray(fc.constantFrom("DE", "FR", "US", "JP", "BR"), { minLength: 1 }),
    full: fc.boolean(),
    verifiedAgo: fc.integer({ min: -300_000, max: 366 * 86_400_000 })
  })
  .map((drawn) =>
    validOnboarding({
      ...(drawn.full ? fullOnboarding() : {}),
      [`${personal}.first_name`]: drawn.name,
      [`${personal}.middle_name`]: drawn.middle,
      [`${personal}.date_of_birth`]: drawn.born.toISOString().slice(0, 10),
      [`${personal}.citizenships`]: drawn.citizenships,
      [`${identification}.expiration_date`]: drawn.expires.toISOString().slice(0, 10),
      "identityCheck.verifiedAt": onboardingNow - drawn.verifiedAgo
    })
  )

describe("properties", () => {
  it("A1-27: a random valid body is accepted, and its normalised form is accepted unchanged", () => {
    fc.assert(
      fc.property(validBody, (body) => {
        const first = decodeOnboarding(body, onboardingFacts)
        if (!first.ok) assert.fail(JSON.stringify(first.errors))
        const { received: _, ...normalised } = first.body
        const wire: unknown = JSON.parse(JSON.stringify(Schema.encodeSync(OnboardingBody)(normalised)))
        const second = decodeOnboarding(wire, onboardingFacts)
        if (!second.ok) assert.fail(JSON.stringify(second.errors))
        const { received: __, ...again } = second.body
        assert.deepStrictEqual(again, normalised)
      })
    )
  })

  it("A1-01: no JSON value makes the decoder throw, and every refusal of an object names a field", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const decision = decodeOnboarding(value, onboardingFacts)
        const isObject = typeof value === "object" && value !== null && !Array.isArray(value)
        assert.isFalse(decision.ok)
        if (!decision.ok) assert.strictEqual(Object.keys(decision.errors).length > 0, isObject)
      }),
      { numRuns: 300 }
    )
  })

  it("A1-27: one wrong value anywhere in a valid body never throws, and errors stay at or below it or its list", () => {
    const paths = pathsOf(validOnboarding(fullOnboarding()))
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue(), (path, value) => {
        const decision = decodeOnboarding(validOnboarding({ ...fullOnboarding(), [path]: value }), onboardingFacts)
        if (decision.ok) return
        const section = path.split(".").slice(0, 2).join(".")
        for (const [at, sentence] of Object.entries(decision.errors)) {
          assert.isTrue(at.startsWith(path) || at.startsWith(section), `${at} after changing ${path}`)
          assert.match(sentence, /^[A-Z].*\.$/)
        }
      }),
      { numRuns: 1000 }
    )
  })

  it("A1-01: keys of the prototype chain are data like any other", () => {
    const body: unknown = JSON.parse(
      '{"__proto__":{"email":"a@b.co"},"constructor":1,"toString":2,"kyc":{"__proto__":{"fatca":{}}}}'
    )
    const decision = decodeOnboarding(body, onboardingFacts)
    if (decision.ok) assert.fail("accepted")
    assert.property(decision.errors, "email")
    assert.property(decision.errors, "kyc.fatca")
  })
})

const pathsOf = (value: unknown, prefix = ""): string[] => {
  if (typeof value !== "object" || value === null) return [prefix]
  const below = Object.entries(value).flatMap(([key, member]) =>
    pathsOf(member, prefix === "" ? key : `${prefix}.${key}`)
  )
  return prefix === "" ? below : [prefix, ...below]
}

const fillStrings = (root: object, marker: string): object => {
  const body = structuredClone(root)
  for (const path of pathsOf(body)) {
    const value = path.split(".").reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], body)
    if (typeof value === "string") setAt(body, path, `${marker}\u0007`)
  }
  return body
}
