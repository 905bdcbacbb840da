/** The transaction-reporting identifier: nationality, Annex II priorities and CONCAT (F27). */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { concatIdentifier, schemesOf, tinIsIdentifier } from "../../src/machines/reporting/identifierSchemes.ts"
import {
  buildReportingRecord,
  type ReportingFacts,
  reportingNationality
} from "../../src/machines/reporting/ReportingRecord.ts"
import { countryCodes, eeaCountries } from "../../src/machines/shared/Country.ts"
import {
  annexIIRows,
  britishCase,
  concatCases,
  concatErrorCase,
  nationalityCase,
  reportingFacts
} from "../fixtures/reporting.ts"

const concat = (firstName: string, surname: string): string | null =>
  concatIdentifier({ nationality: "NO", dateOfBirth: "1980-12-24", firstName, surname })

describe("CONCAT", () => {
  for (const [id, , nationality, dateOfBirth, firstName, surname, expected] of concatCases)
    it(`F27: ${id} ${firstName} ${surname}`, () => {
      assert.strictEqual(concatIdentifier({ nationality, dateOfBirth, firstName, surname }), expected)
    })

  for (const [nationality, dateOfBirth, firstName, surname, why] of concatErrorCase.bad)
    it(`F27: ${concatErrorCase.id} none for ${why}`, () => {
      assert.isNull(concatIdentifier({ nationality, dateOfBirth, firstName, surname }))
    })

  const names: ReadonlyArray<readonly [string, string, string]> = [
    ["Jon Ian", "Dewitt", "JON##DEWIT"],
    ["Ludwig", "Van der Rohe", "LUDWIROHE#"],
    ["Giovani", "dos Santos", "GIOVASANTO"],
    ["Eli", "Ødegård", "ELI##ODEGA"],
    ["Prof. Dr. Sir Jon", "Snow", "JON##SNOW#"],
    ["Jon", "Mhíc Giolla Bríde", "JON##BRIDE"],
    ["Jon", "Ní Bhriain", "JON##BHRIA"],
    ["Jon", "de l’Isle", "JON##ISLE#"],
    ["Jon", "de l' Isle", "JON##ISLE#"],
    ["Jon", "d'Artagnan", "JON##DARTA"],
    ["Jon", "McDonald", "JON##MCDON"],
    ["Jon", "Mac Donald", "JON##DONAL"],
    ["Jon", "von und zu Berg", "JON##UNDZU"],
    ["Jon", "De Van den Berg", "JON##BERG#"],
    ["Jon", "Van", "JON##VAN##"],
    ["Jon", "Van Do", "JON##DO###"],
    ["De Jon", "Snow", "JON##SNOW#"],
    ["1Jon", "?Snow", "JON##SNOW#"],
    ["Ph.D. Jon", "Snow", "JON##SNOW#"],
    ["Sir", "Master", "SIR##MASTE"]
  ]
  for (const [first, surname, expected] of names)
    it(`F27: ${first} ${surname}`, () => {
      assert.strictEqual(concat(first, surname), `NO19801224${expected}`)
    })

  it("F27: twenty characters, capitals and filling alone, for any names", () => {
    const name = fc.oneof(fc.string({ unit: "grapheme", maxLength: 20 }), fc.lorem({ maxCount: 3 }))
    let built = 0
    fc.assert(
      fc.property(name, name, (first, surname) => {
        const identifier = concat(first, surname)
        if (identifier === null) return
        built += 1
        assert.match(identifier, /^NO19801224[A-Z]{1,5}#{0,4}[A-Z]{1,5}#{0,4}$/)
        assert.strictEqual(identifier.length, 20)
      })
    )
    assert.isAbove(built, 20)
  })
})

describe("Annex II", () => {
  const letters = {
    N: "NATIONAL_NUMBER",
    T: "TAX_NUMBER",
    D: "INVESTOR_SHARE",
    P: "PASSPORT",
    I: "NATIONAL_ID",
    C: "CONCAT"
  } as const
  const rows = annexIIRows.split(", ").map((row) => row.split(" "))

  it("F27: every EEA country has its own line", () => {
    assert.deepStrictEqual(
      rows.map(([country]) => country),
      [...eeaCountries].toSorted()
    )
  })

  for (const [country = "", order = ""] of rows)
    it(`F27: ${country} ${order}`, () => {
      const expected = Object.entries(letters)
        .filter(([letter]) => order.includes(letter))
        .toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b))
        .map(([, scheme]) => scheme)
      assert.deepStrictEqual(schemesOf(country), expected)
    })

  it(`F27: ${britishCase.id} GB and every other country outside the EEA: passport, then CONCAT`, () => {
    assert.deepStrictEqual(schemesOf("GB"), [...britishCase.priorities])
    for (const country of countryCodes)
      if (!eeaCountries.has(country)) assert.deepStrictEqual(schemesOf(country), ["PASSPORT", "CONCAT"], country)
  })

  it("F27: the tax number is used only where a national or tax number is demanded", () => {
    for (const country of tinIsIdentifier)
      assert.isTrue(schemesOf(country).some((scheme) => scheme === "NATIONAL_NUMBER" || scheme === "TAX_NUMBER"))
    assert.isFalse(tinIsIdentifier.has("SI"))
  })
})

describe("nationality", () => {
  const cases: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
    [nationalityCase.citizenships, nationalityCase.nationality],
    [["US", "CA"], "CA"],
    [["SE", "IS", "GB"], "IS"],
    [["LI", "CH"], "LI"],
    [["GB"], "GB"]
  ]
  for (const [citizenships, nationality] of cases)
    it(`F27: ${citizenships.join(", ")} reports as ${nationality}`, () => {
      assert.strictEqual(reportingNationality(citizenships), nationality)
    })
})

describe("the record", () => {
  const passport = (country: string, number = "K123") => ({ type: "passport", country_of_issuance: country, number })
  const card = (country: string) => ({ type: "national_id", country_of_issuance: country, number: "ID 7-7" })
  const tax = (country: string, tin: string | null) => [{ country, tin }]
  const none: ReportingFacts["taxResidencies"] = []

  const cases: ReadonlyArray<readonly [string, Partial<ReportingFacts>, string | null, string | null]> = [
    ["a matching passport", {}, "PASSPORT", "NLNX1234567"],
    ["an identity card, second in line", { identification: card("NL") }, "NATIONAL_ID", "NLID77"],
    ["a passport of another country", { identification: passport("BE") }, "CONCAT", "NL19660416WILLEBRUIJ"],
    [
      "a driving licence",
      { identification: { ...passport("NL"), type: "drivers_license" } },
      "CONCAT",
      "NL19660416WILLEBRUIJ"
    ],
    [
      "a Swedish tax number",
      { citizenships: ["SE"], taxResidencies: tax("SE", "19660416-1234") },
      "NATIONAL_NUMBER",
      "SE196604161234"
    ],
    [
      "a tax number of another country",
      { citizenships: ["SE"], taxResidencies: tax("NO", "16046612345") },
      "CONCAT",
      "SE19660416WILLEBRUIJ"
    ],
    ["no tax number yet", { citizenships: ["FI"], taxResidencies: tax("FI", null) }, "CONCAT", "FI19660416WILLEBRUIJ"],
    [
      "CONCAT first",
      { citizenships: ["DE"], identification: passport("DE"), taxResidencies: tax("DE", "12345678901") },
      "CONCAT",
      "DE19660416WILLEBRUIJ"
    ],
    [
      "Spain without a tax number",
      { citizenships: ["ES"], identification: passport("ES"), taxResidencies: none },
      null,
      null
    ],
    [
      "Malta by passport",
      { citizenships: ["MT"], identification: passport("MT"), taxResidencies: none },
      "PASSPORT",
      "MTK123"
    ],
    ["Malta with neither", { citizenships: ["MT"], identification: card("MT"), taxResidencies: none }, null, null],
    [
      "Slovenia, whose tax number is another",
      { citizenships: ["SI"], taxResidencies: tax("SI", "12345678") },
      "CONCAT",
      "SI19660416WILLEBRUIJ"
    ],
    [
      "Greece, share number unknown",
      { citizenships: ["GR"], taxResidencies: tax("GR", "123456789") },
      "CONCAT",
      "GR19660416WILLEBRUIJ"
    ],
    ["a PESEL", { citizenships: ["PL"], taxResidencies: tax("PL", "66041612345") }, "NATIONAL_NUMBER", "PL66041612345"],
    ["a NIP", { citizenships: ["PL"], taxResidencies: tax("PL", "1234567890") }, "TAX_NUMBER", "PL1234567890"],
    [
      "Portugal, tax number before passport",
      { citizenships: ["PT"], identification: passport("PT"), taxResidencies: tax("PT", "123456789") },
      "TAX_NUMBER",
      "PT123456789"
    ],
    [
      "a British passport",
      { citizenships: ["GB"], identification: passport("GB", "925665416"), taxResidencies: tax("GB", "AB123456C") },
      "PASSPORT",
      "GB925665416"
    ],
    ["an American by CONCAT", { citizenships: ["US"], identification: card("US") }, "CONCAT", "US19660416WILLEBRUIJ"]
  ]
  for (const [title, overrides, scheme, identifier] of cases)
    it(`F27: ${title}`, () => {
      const record = buildReportingRecord(reportingFacts(overrides), 1_700_000_000_000, 3)
      assert.deepStrictEqual([record.scheme, record.identifier], [scheme, identifier])
      assert.strictEqual(record.complete, identifier !== null)
    })

  it("F27: names in capitals, first names separated by commas, with date, time and revision", () => {
    const facts = reportingFacts({ firstName: "Jean Paul", middleName: "Éric", lastName: "de  la Tour" })
    assert.deepStrictEqual(buildReportingRecord(facts, 1_700_000_000_000, 3), {
      nationality: "NL",
      scheme: "PASSPORT",
      identifier: "NLNX1234567",
      firstNames: "JEAN,PAUL,ÉRIC",
      surnames: "DE LA TOUR",
      dateOfBirth: "1966-04-16",
      complete: true,
      builtAt: 1_700_000_000_000,
      fromRevision: 3
    })
  })

  it("F27: the order of the input never matters, and an identifier starts with its nationality", () => {
    const code: fc.Arbitrary<string> = fc.constantFrom("ES", "FR", "GB", "NL", "PL", "SE", "US")
    const codes = fc.uniqueArray(code, { minLength: 1 })
    fc.assert(
      fc.property(codes, codes, fc.constantFrom("passport", "national_id", "residence_permit"), (mine, taxed, type) => {
        const of = (citizenships: ReadonlyArray<string>, countries: ReadonlyArray<string>) =>
          buildReportingRecord(
            reportingFacts({
              citizenships,
              identification: { ...passport("NL"), type },
              taxResidencies: countries.map((country) => ({ country, tin: "12345678901" }))
            }),
            0,
            1
          )
        const record = of(mine, taxed)
        assert.deepStrictEqual(of(mine.toReversed(), taxed.toReversed()), record)
        assert.isTrue(mine.includes(record.nationality))
        if (record.identifier !== null) assert.strictEqual(record.identifier.slice(0, 2), record.nationality)
      })
    )
  })
})
