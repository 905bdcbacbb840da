/**
 * The parts of a screening that count as settled: by identity, by similarity, by several names at once (F26,
 * dispositions).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { unreadableEntryId } from "../../src/machines/screening/foldName.ts"
import {
  findAll,
  findUnderNames,
  isNoWorse,
  makeScreener,
  resultOf,
  type ScreeningOutcome
} from "../../src/machines/screening/screen.ts"
import { clearedFor, identityText } from "../../src/runtime/services/screening/dispositions.ts"
import { seenBy } from "../../src/runtime/services/clients/screening/rescreening.ts"
import type { DispositionRow } from "../../src/runtime/tables/screening.ts"
import { screenedPerson, watchEntry } from "../fixtures/screening.ts"

const row = (over: Partial<DispositionRow> = {}): DispositionRow => ({
  clientId: 1,
  entryId: 7,
  number: 1,
  partnerId: 1,
  disposition: "FALSE_POSITIVE",
  identityKey: "me",
  outcome: "POSSIBLE",
  score: 900_000,
  decidedAt: 1,
  decidedBy: "COMPLIANCE",
  ...over
})
const match = { ...row(), disposition: "TRUE_MATCH", identityKey: null } as const

describe("F26: a disposition settles", () => {
  it.each<[string, ReadonlyArray<DispositionRow>, string, ScreeningOutcome, number, boolean]>([
    ["the same identity, however like", [row()], "me", "HIT", 1, true],
    ["another identity that is as like", [row()], "other", "POSSIBLE", 0.9, true],
    ["another identity that is less like", [row()], "other", "POSSIBLE", 0.86, true],
    ["no worse score", [row()], "other", "POSSIBLE", 0.900_001, false],
    ["no worse outcome", [row()], "other", "HIT", 0.9, false],
    [
      "nothing when it is older than its columns",
      [row({ identityKey: null, outcome: null, score: null })],
      "me",
      "POSSIBLE",
      0.1,
      false
    ],
    ["by likeness alone where no identity is known", [row({ identityKey: null })], "me", "POSSIBLE", 0.9, true],
    ["no other entry", [row({ entryId: 8 })], "me", "POSSIBLE", 0.9, false],
    ["nothing when it is a true match", [match], "me", "POSSIBLE", 0.1, false],
    ["nothing before a true match", [row(), { ...match, number: 2 }], "me", "POSSIBLE", 0.9, false],
    ["again after a true match", [{ ...match, number: 1 }, row({ number: 2 })], "me", "POSSIBLE", 0.9, true],
    ["what an earlier finding settled", [row({ score: 950_000 }), row({ number: 2 })], "other", "POSSIBLE", 0.94, true]
  ])("%s", (_, rows, identityKey, outcome, score, settled) => {
    assert.strictEqual(clearedFor(rows, identityKey).has(7, { outcome, score, nameScore: 1 }), settled)
  })

  it("for names that can't be compared only the identical name", () => {
    const itself = { outcome: "POSSIBLE", score: 1, nameScore: 1 } as const
    const cleared = [row({ entryId: unreadableEntryId, score: 1_000_000 })]
    assert.isTrue(clearedFor(cleared, "me").has(unreadableEntryId, itself))
    assert.isFalse(clearedFor(cleared, "other").has(unreadableEntryId, itself))
  })

  it("a judged pair is never worse than itself, with any score", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (score) => {
        const stored = row({ score: Math.ceil(score * 1_000_000) })
        assert.isTrue(clearedFor([stored], "other").has(7, { outcome: "POSSIBLE", score, nameScore: 1 }))
      })
    )
  })

  it("no worse is an order: of two pairs with one outcome each is, or the other", () => {
    const pair = fc.record({
      outcome: fc.constantFrom<ScreeningOutcome>("CLEAR", "POSSIBLE", "HIT"),
      score: fc.double({ min: 0, max: 1, noNaN: true })
    })
    fc.assert(
      fc.property(pair, pair, pair, (a, b, c) => {
        assert.isTrue(isNoWorse(a, a))
        if (a.outcome === b.outcome) assert.isTrue(isNoWorse(a, b) || isNoWorse(b, a))
        if (isNoWorse(a, b) && isNoWorse(b, c)) assert.isTrue(isNoWorse(a, c))
      })
    )
  })
})

describe("F26: an open case has shown", () => {
  const shown = [{ entryId: 7, list: "SANCTIONS", score: 0.9, nameScore: 0.92 }] as const
  it.each<[string, number, ScreeningOutcome, number, boolean]>([
    ["the candidate as it is", 7, "POSSIBLE", 0.9, true],
    ["a less like one", 7, "POSSIBLE", 0.88, true],
    ["not a worse score", 7, "POSSIBLE", 0.91, false],
    ["not a hit", 7, "HIT", 0.9, false],
    ["no other entry", 8, "POSSIBLE", 0.9, false]
  ])("%s", (_, entryId, outcome, score, seen) => {
    assert.strictEqual(seenBy(clearedFor([], "me"), shown).has(entryId, { outcome, score, nameScore: 0.92 }), seen)
  })
})

describe("F26: an identity", () => {
  const one = screenedPerson({ firstName: "Ida", middleName: null, lastName: "Immergrün", dob: "1970-01-02" })
  it("is the same in another writing and order of citizenships, another with any other fact", () => {
    const me = identityText({ ...one, nationalities: ["DE", "AT"] })
    for (const same of [
      { ...one, nationalities: ["AT", "DE", "AT"] },
      { ...one, firstName: " iDA ", lastName: "Immergru\u0308n", nationalities: ["DE", "AT"] }
    ]) {
      assert.strictEqual(identityText(same), me)
    }
    for (const other of [
      { ...one, nationalities: ["DE"] },
      { ...one, dob: "1970-01-03", nationalities: ["DE", "AT"] },
      { ...one, middleName: "Eva", nationalities: ["DE", "AT"] },
      { ...one, firstName: "Immergrün", lastName: "Ida", nationalities: ["DE", "AT"] }
    ]) {
      assert.notStrictEqual(identityText(other), me)
    }
  })
})

describe("F26: several names of one person", () => {
  const screener = makeScreener([
    watchEntry({ entryId: 1, name: "Ida Immergrün", dob: null, country: null }),
    watchEntry({ entryId: 2, name: "Berta Baumgarten", dob: null, country: null })
  ])
  const ida = screenedPerson({ firstName: "Ida", middleName: null, lastName: "Immergrün", dob: null })
  const berta = screenedPerson({ firstName: "Berta", middleName: null, lastName: "Baumgarten", dob: null })

  it("meet the entries of each, every entry once and with the name that is worse", () => {
    const near = { ...ida, lastName: "Immergrünn" }
    const found = findUnderNames(screener, [near, berta, ida])
    assert.sameMembers(
      found.map(({ entryId }) => entryId),
      [1, 2]
    )
    assert.strictEqual(found.find(({ entryId }) => entryId === 1)?.score, 1)
    assert.deepStrictEqual(findUnderNames(screener, [ida]), findAll(screener, ida))
  })

  it("can't be compared as long as one of them can't", () => {
    const found = findUnderNames(screener, [ida, { ...ida, firstName: "—", lastName: "—" }])
    const itself = { entryId: 0, list: "UNREADABLE", score: 1, nameScore: 1, why: "NO_NAME" } as const
    assert.deepStrictEqual(resultOf(found, new Set([1])), { outcome: "POSSIBLE", candidates: [itself] })
  })
})
