/** Country codes against an independent list, and the European Economic Area (A1-14, ISO-001, A1-17). */
import { assert, describe, it } from "@effect/vitest"
import countries from "i18n-iso-countries"
import {
  countryCodes,
  defaultBlockedJurisdictions,
  eeaCountries,
  isCountry
} from "../../src/machines/shared/Country.ts"
import { countryCases } from "../fixtures/golden.ts"

describe("A1-14 countries", () => {
  it.each(countryCases)("A1-14: ISO-001 $value", ({ value, valid }) => assert.strictEqual(isCountry(value), valid))

  it("A1-14: the 249 officially assigned codes, no user-assigned XK", () => {
    const assigned = Object.keys(countries.getAlpha2Codes()).filter((code) => code !== "XK")
    assert.strictEqual(countryCodes.size, 249)
    assert.deepStrictEqual([...countryCodes].sort(), assigned.sort())
  })

  it("F27: the area has 30 members, all of them countries", () => {
    assert.strictEqual(eeaCountries.size, 30)
    for (const code of eeaCountries) assert.isTrue(isCountry(code), code)
    assert.isFalse(eeaCountries.has("GB"))
    assert.isFalse(eeaCountries.has("CH"))
  })

  it("A1-17: the default block list", () => {
    assert.deepStrictEqual([...defaultBlockedJurisdictions], ["US", "KP", "IR", "MM", "SY", "CU", "RU", "UA"])
  })
})
