/** Calendar dates and age (A1-19, DATE-001). */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  ageOn,
  type CalendarDate,
  isAdultOn,
  isAfterDate,
  parseCalendarDate,
  utcDateAt
} from "../../src/machines/shared/CalendarDate.ts"
import { dateCases } from "../fixtures/golden.ts"

const date = (text: string): CalendarDate => {
  const parsed = parseCalendarDate(text)
  assert.isDefined(parsed, text)
  return parsed
}

describe("A1-19 dates", () => {
  it.each(dateCases)("A1-19: DATE-001 $value", ({ value, valid }) => {
    assert.strictEqual(parseCalendarDate(value) !== undefined, valid)
  })

  it.each([
    "2024-01-01T00:00:00Z",
    "2024/01/01",
    "20240101",
    "2024-01-00",
    "2024-01-32",
    "2024-06-31",
    "+2024-01-01",
    "2024-01-01\n"
  ])("A1-19: %j is no date", (text) => assert.isUndefined(parseCalendarDate(text)))

  it("A1-19: exactly the days of the calendar are dates", () => {
    const start = Date.UTC(1900, 0, 1)
    const written = new Set<string>()
    for (let day = 0; day < 366 * 202; day++) written.add(new Date(start + day * 86_400_000).toISOString().slice(0, 10))
    const two = (n: number) => String(n).padStart(2, "0")
    for (const year of [1900, 1999, 2000, 2023, 2024, 2100]) {
      for (let month = 0; month <= 13; month++) {
        for (let day = 0; day <= 32; day++) {
          const text = `${year}-${two(month)}-${two(day)}`
          assert.strictEqual(parseCalendarDate(text) !== undefined, written.has(text), text)
        }
      }
    }
  })

  it("A1-19: today is the UTC date of receipt", () => {
    assert.strictEqual(utcDateAt(1_795_132_800_000), "2026-11-20")
    assert.strictEqual(utcDateAt(1_795_132_799_999), "2026-11-19")
  })

  it("A1-19: after means strictly after", () => {
    assert.isTrue(isAfterDate(date("2026-11-21"), date("2026-11-20")))
    assert.isFalse(isAfterDate(date("2026-11-20"), date("2026-11-20")))
  })
})

describe("A1-19 age", () => {
  const rows = [
    ["2008-11-20", "2026-11-20", true],
    ["2008-11-21", "2026-11-20", false],
    ["2008-02-29", "2026-02-28", false],
    ["2008-02-29", "2026-03-01", true],
    ["2008-12-31", "2026-12-30", false],
    ["2030-01-01", "2026-11-20", false]
  ] as const
  it.each(rows)("A1-19: born %s, adult on %s: %s", (birth, day, adult) => {
    assert.strictEqual(isAdultOn(date(birth), date(day)), adult)
  })

  it("A1-19: age grows by one exactly on birthdays", () => {
    const anyDay = fc.integer({ min: 0, max: 60_000 }).map((day) => utcDateAt(day * 86_400_000))
    fc.assert(
      fc.property(anyDay, fc.integer({ min: 1, max: 60_000 }), (birth, day) => {
        const [before, after] = [utcDateAt((day - 1) * 86_400_000), utcDateAt(day * 86_400_000)]
        const birthday = birth.slice(5) === "02-29" && !isLeap(after) ? "03-01" : birth.slice(5)
        assert.strictEqual(ageOn(birth, after) - ageOn(birth, before), after.slice(5) === birthday ? 1 : 0)
      })
    )
  })
})

const isLeap = (day: string): boolean => parseCalendarDate(`${day.slice(0, 4)}-02-29`) !== undefined
