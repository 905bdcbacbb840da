/**
 * The part of a tax year that a statement covers if the residency changes (A2-72, STS-26): by table at the ends of
 * years, leap years and London's midnight included; and for random histories, every day is in exactly one part.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type Period, taxPeriod } from "../../../src/machines/statement/statementPeriod.ts"
import {
  endWithin,
  isPartOfYear,
  partOfYear,
  requestedTaxPeriod,
  type TaxYear,
  requestedYears
} from "../../../src/machines/statement/taxYears.ts"

const day = 86_400_000

/** The times from which a client is a tax resident, by ISO times; the first residency also applies before. */
type Residencies = ReadonlyArray<readonly [since: string, country: "GB" | "DE"]>

const isBritishAt = (residencies: Residencies, moment: number): boolean =>
  (residencies.findLast(([since]) => Date.parse(since) <= moment) ?? residencies[0])?.[1] === "GB"

const partOf = (residencies: Residencies, taxYear: TaxYear, firstBooked = 0): Period | null => {
  const middle = endWithin(taxYear)
  return partOfYear(taxYear, {
    atEnd: isBritishAt(residencies, taxPeriod(taxYear.year, taxYear.isBritish).to),
    within: isBritishAt(residencies, middle),
    isBookedBefore: firstBooked < middle
  })
}

const yearsOf = (first: number, last: number): ReadonlyArray<TaxYear> =>
  Array.from({ length: last - first + 1 }, (_, n) => first + n).flatMap((year) => [
    { year, isBritish: false },
    { year, isBritish: true }
  ])

/** All statements of the years, in the order of their periods. */
const statementsOf = (residencies: Residencies, first: number, last: number, firstBooked = 0) =>
  yearsOf(first, last)
    .flatMap((taxYear) => {
      const part = partOf(residencies, taxYear, firstBooked)
      return part === null ? [] : [{ ...taxYear, ...part }]
    })
    .toSorted((one, other) => one.from - other.from)

/** "GB 2025-04-05T23 2026-01-01T00", UTC. */
const shown = ({ isBritish, from, to }: TaxYear & Period): string =>
  [isBritish ? "GB" : "--", ...[from, to].map((at) => new Date(at).toISOString().slice(0, 13))].join(" ")

const table: ReadonlyArray<readonly [what: string, residencies: Residencies, expected: ReadonlyArray<string>]> = [
  [
    "British throughout",
    [["2000-01-01T00:00Z", "GB"]],
    ["GB 2024-04-05T23 2025-04-05T23", "GB 2025-04-05T23 2026-04-05T23", "GB 2026-04-05T23 2027-04-05T23"]
  ],
  [
    "German throughout",
    [["2000-01-01T00:00Z", "DE"]],
    ["-- 2024-01-01T00 2025-01-01T00", "-- 2025-01-01T00 2026-01-01T00", "-- 2026-01-01T00 2027-01-01T00"]
  ],
  [
    "GB to DE between April and December",
    [
      ["2000-01-01T00:00Z", "GB"],
      ["2026-07-01T00:00Z", "DE"]
    ],
    ["GB 2024-04-05T23 2025-04-05T23", "GB 2025-04-05T23 2026-04-05T23", "-- 2026-04-05T23 2027-01-01T00"]
  ],
  [
    "GB to DE between January and April: the British year ends where the calendar year begins",
    [
      ["2000-01-01T00:00Z", "GB"],
      ["2026-02-01T00:00Z", "DE"]
    ],
    ["GB 2024-04-05T23 2025-04-05T23", "GB 2025-04-05T23 2026-01-01T00", "-- 2026-01-01T00 2027-01-01T00"]
  ],
  [
    "DE to GB between January and April",
    [
      ["2000-01-01T00:00Z", "DE"],
      ["2026-02-01T00:00Z", "GB"]
    ],
    [
      "-- 2024-01-01T00 2025-01-01T00",
      "-- 2025-01-01T00 2026-01-01T00",
      "GB 2026-01-01T00 2026-04-05T23",
      "GB 2026-04-05T23 2027-04-05T23"
    ]
  ],
  [
    "DE to GB between April and December: the calendar year ends where the British year begins",
    [
      ["2000-01-01T00:00Z", "DE"],
      ["2026-07-01T00:00Z", "GB"]
    ],
    [
      "-- 2024-01-01T00 2025-01-01T00",
      "-- 2025-01-01T00 2026-01-01T00",
      "-- 2026-01-01T00 2026-04-05T23",
      "GB 2026-04-05T23 2027-04-05T23"
    ]
  ],
  [
    "away over New Year and back before April",
    [
      ["2000-01-01T00:00Z", "GB"],
      ["2025-11-01T00:00Z", "DE"],
      ["2026-03-01T00:00Z", "GB"]
    ],
    [
      "GB 2024-04-05T23 2025-04-05T23",
      "-- 2025-04-05T23 2026-01-01T00",
      "GB 2026-01-01T00 2026-04-05T23",
      "GB 2026-04-05T23 2027-04-05T23"
    ]
  ],
  [
    "away over 6 April alone, in a leap year: two cut years, the other way round",
    [
      ["2000-01-01T00:00Z", "GB"],
      ["2024-02-29T12:00Z", "DE"],
      ["2024-05-01T00:00Z", "GB"]
    ],
    [
      "GB 2023-04-05T23 2024-01-01T00",
      "-- 2024-01-01T00 2024-04-05T23",
      "GB 2024-04-05T23 2025-04-05T23",
      "GB 2025-04-05T23 2026-04-05T23",
      "GB 2026-04-05T23 2027-04-05T23"
    ]
  ],
  [
    "there and back between two ends changes nothing",
    [
      ["2000-01-01T00:00Z", "GB"],
      ["2026-05-01T00:00Z", "DE"],
      ["2026-12-31T23:59Z", "GB"]
    ],
    ["GB 2024-04-05T23 2025-04-05T23", "GB 2025-04-05T23 2026-04-05T23", "GB 2026-04-05T23 2027-04-05T23"]
  ],
  [
    "GB from the last moment of 5 April in London on",
    [
      ["2000-01-01T00:00Z", "DE"],
      ["2026-04-05T22:59:59.999Z", "GB"]
    ],
    [
      "-- 2024-01-01T00 2025-01-01T00",
      "-- 2025-01-01T00 2026-01-01T00",
      "GB 2026-01-01T00 2026-04-05T23",
      "GB 2026-04-05T23 2027-04-05T23"
    ]
  ],
  [
    "GB from the first moment behind 6 April 00:00 in London on, which is before midnight UTC",
    [
      ["2000-01-01T00:00Z", "DE"],
      ["2026-04-05T23:00:00.001Z", "GB"]
    ],
    [
      "-- 2024-01-01T00 2025-01-01T00",
      "-- 2025-01-01T00 2026-01-01T00",
      "-- 2026-01-01T00 2026-04-05T23",
      "GB 2026-04-05T23 2027-04-05T23"
    ]
  ]
]

describe("parts of tax years", () => {
  it.each(table)("STS-26: %s", (_, residencies, expected) => {
    const found = statementsOf(residencies, 2022, 2027).map(shown)
    // The expected periods are consecutive; the years around them are whole.
    const at = found.indexOf(expected[0] ?? "")
    assert.deepStrictEqual(found.slice(at, at + expected.length), expected)
  })

  it("STS-26: nothing is cut off at the start if nothing was booked: an account's first year has its usual beginning", () => {
    const residencies: Residencies = [
      ["2000-01-01T00:00Z", "DE"],
      ["2026-02-01T00:00Z", "GB"]
    ]
    const year = { year: 2025, isBritish: true }
    assert.deepStrictEqual(partOf(residencies, year, Date.parse("2026-02-02T00:00Z")), taxPeriod(2025, true))
    assert.isTrue(isPartOfYear(partOf(residencies, year) ?? taxPeriod(2025, true)))
    for (const isBritish of [true, false])
      for (const whole of [2023, 2024]) assert.isFalse(isPartOfYear(taxPeriod(whole, isBritish)))
  })

  it("STS-26: for any residencies each day is in one statement, of at most a year, by the residency at its end", () => {
    const ends = yearsOf(2008, 2030).map(({ year, isBritish }) => taxPeriod(year, isBritish).to)
    const moment = fc.oneof(
      fc.integer({ min: Date.UTC(2010, 0, 1), max: Date.UTC(2028, 0, 1) }),
      fc.tuple(fc.constantFrom(...ends), fc.integer({ min: -2, max: 2 })).map(([end, by]) => end + by)
    )
    fc.assert(
      fc.property(fc.boolean(), fc.array(moment, { maxLength: 40 }), (first, changes) => {
        const sorted = [0, ...changes.toSorted((one, other) => one - other)]
        const residencies = sorted.map(
          (at, n) => [new Date(at).toISOString(), (n % 2 === 0) === first ? "GB" : "DE"] as const
        )
        const found = statementsOf(residencies, 2005, 2030)
        for (const [n, { from, to, isBritish }] of found.entries()) {
          if (n > 0) assert.strictEqual(from, found[n - 1]?.to)
          assert.isAtMost(to - from, 366 * day)
          assert.isAbove(to, from)
          assert.strictEqual(isBritishAt(residencies, to), isBritish)
        }
        assert.isAbove(found.length, 20)
      }),
      { numRuns: 300, seed: 26 }
    )
  })
})

describe("a requested year", () => {
  const now = Date.parse("2026-08-15T10:00:00Z")
  const answered = (residencies: Residencies, asked: number | null, at = now): string | null => {
    for (const taxYear of requestedYears(asked, at)) {
      const part = partOf(residencies, taxYear)
      if (part !== null) return shown({ ...taxYear, ...part })
    }
    return null
  }
  const british: Residencies = [["2000-01-01T00:00Z", "GB"]]
  const german: Residencies = [["2000-01-01T00:00Z", "DE"]]
  const moved: Residencies = [
    ["2000-01-01T00:00Z", "DE"],
    ["2026-02-01T00:00Z", "GB"]
  ]

  it.each<[Residencies, number | null, number, string | null]>([
    [british, null, now, "GB 2025-04-05T23 2026-04-05T23"],
    [german, null, now, "-- 2025-01-01T00 2026-01-01T00"],
    [german, 2024, now, "-- 2024-01-01T00 2025-01-01T00"],
    [german, 2026, now, null],
    [british, 2026, now, null],
    [german, 2030, now, null],
    [british, null, Date.UTC(2026, 3, 5, 23) - 1, "GB 2024-04-05T23 2025-04-05T23"],
    [british, 2025, Date.UTC(2026, 3, 5, 23) - 1, null],
    [british, 2025, Date.UTC(2026, 3, 5, 23), "GB 2025-04-05T23 2026-04-05T23"],
    // Two periods with one start year: the one that has ended, and then the later of the two.
    [moved, 2025, Date.UTC(2026, 2, 1), "-- 2025-01-01T00 2026-01-01T00"],
    [moved, 2025, now, "GB 2026-01-01T00 2026-04-05T23"],
    [moved, null, now, "GB 2026-01-01T00 2026-04-05T23"]
  ])("A2-65: of %j the year %s at %d is %s", (residencies, asked, at, expected) =>
    assert.strictEqual(answered(residencies, asked, at), expected)
  )

  it("STS-15: a year that has not ended is refused by its field", () => {
    const refused = requestedTaxPeriod(null)
    assert.isFalse(refused.ok)
    assert.deepInclude(refused.ok ? {} : refused.refusal, { _tag: "Invalid" })
    const part = { year: 2025, isBritish: true, ...taxPeriod(2025, true) }
    assert.deepInclude(requestedTaxPeriod(part), {
      ok: true,
      value: { kind: "TAX", from: part.from, to: part.to, cutFrom: null, taxYear: 2025, isBritish: true }
    })
  })
})
