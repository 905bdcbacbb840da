/**
 * The body of PUT .../mifid beyond single fields, whose rules are rows in fieldRows.test.ts (doc 1, MiFID blocks; A1-27,
 * A1-43, A1-44).
 */
import { assert, describe, it } from "@effect/vitest"
import { decodeMifid, mifidSectionNames } from "../../src/machines/mifid/MifidBody.ts"
import { sampleMifid } from "../../src/machines/mifid/sampleMifid.ts"
import { withPaths } from "../support/Builders.ts"

type Paths = Readonly<Record<string, unknown>>
const errorsOf = (paths: Paths) => {
  const decision = decodeMifid(withPaths(sampleMifid(), paths))
  return decision.ok ? {} : decision.errors
}

describe("doc 1, MiFID blocks: PUT .../mifid", () => {
  it("A1-44: the sample is accepted, and the employment of a person without work is not checked", () => {
    assert.deepStrictEqual(errorsOf({}), {})
    const work = { industry: "nonsense", position: 4, employer_name: undefined }
    const ofWork = Object.entries(work).map(([name, value]) => [`employmentFinancial.${name}`, value])
    assert.deepStrictEqual(
      errorsOf({ "employmentFinancial.employment_status": "retired", ...Object.fromEntries(ofWork) }),
      {}
    )
  })

  it("A1-27: all failures of all sections are named together, a missing section by its name", () => {
    const { errors } = decodeMifid({ accountPurpose: {}, sourceOfWealth: { income_sources: ["other"] } }) as {
      readonly errors: object
    }
    assert.sameMembers(Object.keys(errors), [
      "mifid.accountPurpose.primary_purpose",
      "mifid.employmentFinancial",
      "mifid.sourceOfWealth.income_source_other",
      "mifid.sourceOfWealth.funds_sources",
      "mifid.sourceOfWealth.wealth_sources",
      "mifid.declarationsMifid"
    ])
  })

  it.each([[null], [[]], ["x"], [5], [true]])("A1-01: %j is no object and has no field map", (body) => {
    assert.deepStrictEqual(decodeMifid(body), { ok: false, errors: {} })
  })

  it("A1-44: ignored data are not handed on: unknown fields, texts without their token, employment of the retired", () => {
    const body = withPaths(sampleMifid(), {
      "accountPurpose.extra": { a: 1 },
      "accountPurpose.primary_purpose_other": "a private matter",
      "employmentFinancial.employment_status": "retired",
      "employmentFinancial.industry_other": "a private matter",
      "employmentFinancial.employment_status_other": null,
      "sourceOfWealth.income_source_other": "a private matter",
      "sourceOfWealth.funds_sources": ["savings", "other"],
      "sourceOfWealth.funds_source_other": " u\u0308 ",
      more: {}
    })
    const before = structuredClone(body)
    const decision = decodeMifid(body)
    const { employment_status: _, ...means } = sampleMifid().employmentFinancial
    const { industry: __, position: ___, employer_name: ____, ...ofAll } = means
    assert.deepStrictEqual(decision.ok ? (decision.body as object) : decision.errors, {
      ...sampleMifid(),
      employmentFinancial: { employment_status: "retired", ...ofAll },
      sourceOfWealth: {
        ...sampleMifid().sourceOfWealth,
        funds_sources: ["savings", "other"],
        funds_source_other: "\u00fc"
      }
    })
    assert.deepStrictEqual(Object.keys(decision.ok ? decision.body : {}), [...mifidSectionNames])
    assert.deepStrictEqual(body, before)
  })
})
