/** Screening: similarity of names, score and outcome, and the index against the plain scan (F26). */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { nameTokens } from "../../src/machines/screening/foldName.ts"
import { listedForms, personForms } from "../../src/machines/screening/nameForms.ts"
import { jaro, jaroWinkler } from "../../src/machines/screening/nameMatch.ts"
import {
  dobFactor,
  makeScreener,
  outcomeOf,
  scoreForms,
  scorePair,
  screen,
  type ScreenedPerson,
  type ScreeningResult,
  screeningThresholds,
  toResult,
  totalScore,
  unreadable
} from "../../src/machines/screening/screen.ts"
import { transliterate } from "../../src/machines/screening/Transliteration.ts"
import type { WatchEntry } from "../../src/machines/screening/WatchList.ts"
import {
  cutOffCase,
  givenNames,
  jaroWinklerCases,
  screenedPerson,
  surnames,
  watchEntry
} from "../fixtures/screening.ts"

const none: ReadonlySet<number> = new Set()

/** The reference by definition: every entry is scored, none is skipped. */
const scan = (
  entries: ReadonlyArray<WatchEntry>,
  person: ScreenedPerson,
  dispositions: ReadonlySet<number>
): ScreeningResult => {
  const forms = personForms(person)
  const scored = entries
    .filter(({ entryId }) => !dispositions.has(entryId))
    .map((entry) => ({
      entryId: entry.entryId,
      list: entry.list,
      ...scoreForms(forms, person, listedForms(entry.name), entry)
    }))
  return toResult(unreadable(person).concat(scored.filter((found) => found.outcome !== "CLEAR")))
}

const typo = (name: string, at: number, kind: number): string => {
  const i = at % name.length
  const tail = name.slice(i + 1)
  if (kind === 0) return name.slice(0, i) + tail
  if (kind === 1) return `${name.slice(0, i)}e${name.slice(i)}`
  if (kind === 2) return name.slice(0, i) + tail.slice(0, 1) + (name[i] ?? "") + tail.slice(1)
  return name
}

const misspelt = (names: ReadonlyArray<string>) =>
  fc.tuple(fc.constantFrom(...names), fc.nat(20), fc.nat(6)).map((args) => typo(...args))
const freeWord = fc.string({ unit: fc.constantFrom(..."ABEINORSTZ"), minLength: 1, maxLength: 9 })
const word = (names: ReadonlyArray<string>) =>
  fc.oneof({ weight: 9, arbitrary: misspelt(names) }, { weight: 1, arbitrary: freeWord })
const date = fc
  .tuple(fc.integer({ min: 1970, max: 1972 }), fc.constantFrom("01-05", "02-14", "11-30"))
  .map(([year, day]) => `${year}-${day}`)
const country = fc.constantFrom("BY", "FR", "IR")

interface Names {
  readonly given: ReadonlyArray<string>
  readonly family: ReadonlyArray<string>
}

/** Few names, so that similarities near the thresholds are common. */
const village: Names = { given: ["Abdullah", "Abdurrahman", "Viktor", "Li"], family: ["Orlenko", "Al-Assad", "Orlova"] }
const city: Names = { given: givenNames, family: surnames }

const listedName = ({ given, family }: Names) =>
  fc
    .tuple(word(given), fc.option(word(given), { nil: "", freq: 3 }), word(family), fc.nat(2))
    .map(([first, middle, last, shape]) =>
      shape === 0
        ? `${last.toUpperCase()}, ${first} ${middle}`
        : shape === 1
          ? `${last} ${first}`
          : `${first} ${middle} ${last}`
    )

const entryWith = (entryId: number, names: Names): fc.Arbitrary<WatchEntry> =>
  fc.record({
    entryId: fc.constant(entryId),
    list: fc.constantFrom("SANCTIONS" as const, "PEP" as const),
    name: listedName(names),
    dob: fc.oneof(date, date, fc.constant(null), fc.constantFrom("1971", "circa 1970", "1972-02")),
    country: fc.option(country, { nil: null }),
    source: fc.constant("TEST")
  })

const personOf = ({ given, family }: Names): fc.Arbitrary<ScreenedPerson> =>
  fc.record({
    firstName: word(given),
    middleName: fc.option(word(given), { nil: null, freq: 2 }),
    lastName: word(family),
    dob: fc.oneof({ weight: 9, arbitrary: date as fc.Arbitrary<string | null> }, fc.constant(null)),
    nationalities: fc.uniqueArray(country, { minLength: 0, maxLength: 2 })
  })

const person = personOf(village)

const entries = fc
  .integer({ min: 0, max: 60 })
  .chain((size) => fc.tuple(...Array.from({ length: size }, (_, i) => entryWith(i + 1, village))))
  .map((list): ReadonlyArray<WatchEntry> => list)

describe("likeness of names", () => {
  for (const golden of jaroWinklerCases)
    it(`F26: ${golden.id} ${golden.a} and ${golden.b}`, () => {
      assert.strictEqual(jaro(golden.a, golden.b).toFixed(6), golden.jaro)
      assert.strictEqual(jaroWinkler(golden.a, golden.b).toFixed(6), golden.jaroWinkler)
    })

  it("F26: like nothing, like itself, and never outside 0 to 1", () => {
    assert.strictEqual(jaro("", ""), 0)
    assert.strictEqual(jaro("ABC", "XYZ"), 0)
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        const likeness = jaroWinkler(a, b)
        assert.isTrue(likeness >= 0 && likeness <= 1)
        assert.isTrue(likeness >= jaro(a, b))
        if (a !== "") assert.strictEqual(jaroWinkler(a, a), 1)
      })
    )
  })

  const texts: ReadonlyArray<readonly [string, string]> = [
    ["Ødegård", "ODEGARD"],
    ["Voẞ groß", "VOS GROS"],
    ["Æthelþryð Œuvre", "ATHELTRYD OUVRE"],
    ["Łukasz Żółć", "LUKASZ ZOLC"],
    ["Għarb Ħamrun", "GHARB HAMRUN"],
    ["Yılmaz İnce", "YILMAZ INCE"],
    ["Щербаков Юрий Ёжиков", "SHCHERBAKOV IURII EZHIKOV"],
    ["Θεμιστοκλής Ψαρράς", "THEMISTOKLIS PSARRAS"]
  ]
  for (const [from, to] of texts)
    it(`F27: ${from} becomes ${to}`, () => {
      assert.strictEqual(transliterate(from), to)
    })

  const tokens: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    ["Dr. Robert Ford", ["ROBERT", "FORD"]],
    ["O'Brian, Ph.D.", ["OBRIAN"]],
    ["Jean-Paul d’Arc", ["JEAN", "PAUL", "DARC"]],
    ["Master", ["MASTER"]],
    ["--", []],
    ["王 小明", ["WANG", "XIAOMING"]]
  ]
  for (const [name, words] of tokens)
    it(`F26: words of ${name}`, () => {
      assert.deepStrictEqual(nameTokens(name), words)
    })

  it("F26: surname and first name alone if the entry separates them", () => {
    assert.deepStrictEqual(listedForms("ORLENKO, Viktor Petrovich"), {
      full: "ORLENKO PETROVICH VIKTOR",
      short: "ORLENKO VIKTOR"
    })
    assert.deepStrictEqual(listedForms("Viktor Orlenko"), { full: "ORLENKO VIKTOR", short: "ORLENKO VIKTOR" })
    assert.deepInclude(personForms({ firstName: "Viktor", middleName: "Petrovich", lastName: "Orlenko" }), {
      full: "ORLENKO PETROVICH VIKTOR",
      short: "ORLENKO VIKTOR"
    })
  })
})

describe("score and outcome", () => {
  const dates: ReadonlyArray<readonly [string | null, string | null, number | null]> = [
    ["1970-03-04", "1970-03-04", 1],
    ["1970-03-04", "1970-12-31", 0.6],
    ["1970-03-04", "1970", 0.6],
    ["1970-03-04", "1971-03-04", 0],
    ["1970-03-04", "circa 1970", 0.5],
    ["1970-03-04", null, null],
    [null, "1970-03-04", null]
  ]
  for (const [mine, theirs, factor] of dates)
    it(`F26: birth date ${mine ?? "unknown"} against ${theirs ?? "unknown"}`, () => {
      assert.strictEqual(dobFactor(mine, theirs), factor)
    })

  it("F26: weights 0.75, 0.20 and 0.05, unknown terms left out and the rest scaled to 1", () => {
    assert.strictEqual(totalScore(1, 1, 1), 1)
    assert.strictEqual(totalScore(1, 1, 0), 0.95)
    assert.strictEqual(totalScore(1, 0, 1), 0.8)
    assert.strictEqual(totalScore(0.8, null, null), 0.8)
    assert.strictEqual(totalScore(1, 0.6, null).toFixed(6), "0.915789")
    assert.strictEqual(totalScore(1, null, 0), 0.9375)
  })

  const outcomes: ReadonlyArray<readonly ["SANCTIONS" | "PEP", number, number, string]> = [
    ["SANCTIONS", 0.95, 1, "HIT"],
    ["SANCTIONS", 0.949, 1, "POSSIBLE"],
    ["PEP", 1, 1, "POSSIBLE"],
    ["SANCTIONS", 0.85, 0.8, "POSSIBLE"],
    ["SANCTIONS", 0.849, 0.899, "CLEAR"],
    ["SANCTIONS", 0.675, 0.9, "POSSIBLE"],
    ["PEP", 0.849, 1, "CLEAR"],
    ["PEP", 0.85, 0.8, "POSSIBLE"]
  ]
  for (const [list, score, name, outcome] of outcomes)
    it(`F26: ${list} with score ${score} and name ${name} is ${outcome}`, () => {
      assert.strictEqual(outcomeOf(list, score, name), outcome)
    })

  it(`F26: ${cutOffCase.id} a cut-off drops hits below it`, () => {
    const limits = { ...screeningThresholds, possible: cutOffCase.threshold / 100 }
    const outcome = cutOffCase.scores.map((score) => outcomeOf("PEP", score / 100, score / 100, limits))
    assert.deepStrictEqual(outcome, [...cutOffCase.expected])
  })
})

describe("screening a client", () => {
  const cases: ReadonlyArray<readonly [string, Partial<WatchEntry>, Partial<ScreenedPerson>, string]> = [
    ["the same person", {}, {}, "HIT"],
    ["the same person, foreign nationality", {}, { nationalities: ["FR"] }, "HIT"],
    ["one letter missing", {}, { lastName: "Orlenk" }, "HIT"],
    ["surname and first name swapped", {}, { firstName: "Orlenko", lastName: "Viktor" }, "HIT"],
    ["Cyrillic spelling", {}, { firstName: "Виктор", lastName: "Орленко" }, "HIT"],
    ["another year of birth", {}, { dob: "1985-01-01" }, "POSSIBLE"],
    ["a politically exposed person", { list: "PEP" }, {}, "POSSIBLE"],
    ["a politically exposed person, another year", { list: "PEP" }, { dob: "1985-01-01" }, "CLEAR"],
    ["a name without date and country", { dob: null, country: null }, {}, "HIT"],
    ["a middle name the list lacks", {}, { middleName: "Alexandrovich" }, "HIT"],
    ["a middle name the client lacks", { name: "ORLENKO, Viktor Alexandrovich" }, {}, "HIT"],
    ["somebody else", {}, { firstName: "Maria", lastName: "Santos" }, "CLEAR"]
  ]
  for (const [title, entry, client, outcome] of cases)
    it(`F26: ${title} is ${outcome}`, () => {
      const result = screen(makeScreener([watchEntry(entry)]), screenedPerson(client), none)
      assert.strictEqual(result.outcome, outcome)
      assert.strictEqual(result.candidates.length, outcome === "CLEAR" ? 0 : 1)
    })

  // The exact name and country with every kind of birth date: score, then outcome on a sanctions list and on a list of
  // PEPs.
  const births: ReadonlyArray<readonly [string | null, string | null, string, string, string]> = [
    ["1970-03-04", "1970-03-04", "1.0000", "HIT", "POSSIBLE"],
    ["1970-03-04", "1970", "0.9200", "POSSIBLE", "POSSIBLE"],
    ["1970-03-04", "1970-05", "0.9200", "POSSIBLE", "POSSIBLE"],
    ["1970-03-04", "1970-12-31", "0.9200", "POSSIBLE", "POSSIBLE"],
    ["1970-03-04", "circa 1970", "0.9000", "POSSIBLE", "POSSIBLE"],
    ["1970-03-04", "1931-03-04", "0.8000", "POSSIBLE", "CLEAR"],
    ["1970-03-04", "1931", "0.8000", "POSSIBLE", "CLEAR"],
    ["1970-03-04", null, "1.0000", "HIT", "POSSIBLE"],
    [null, "1970-03-04", "1.0000", "HIT", "POSSIBLE"]
  ]
  it.each(births)("F26: the same name, born %s and listed %s, scores %s", (dob, listed, score, sanctions, pep) => {
    for (const [list, outcome] of [
      ["SANCTIONS", sanctions],
      ["PEP", pep]
    ] as const) {
      const entry = watchEntry({ list, dob: listed })
      const person = screenedPerson({ dob })
      assert.strictEqual(scorePair(person, entry).score.toFixed(4), score)
      assert.strictEqual(screen(makeScreener([entry]), person, none).outcome, outcome, list)
    }
  })

  // One or two different letters in the name, and another birth date: only the sanctions rule for very similar names
  // can match it.
  const alike: ReadonlyArray<readonly [string, boolean]> = [
    ["Viktor Orlenko", true],
    ["Viktor Orlenka", true],
    ["Viktor Orlanka", false],
    ["Viktor Orlov", false],
    ["Viktoria Orlenkova", true],
    ["Vitali Ostrenko", false]
  ]
  it.each(alike)("F26: %s on a sanctions list, born in another year, is possible: %s", (name, possible) => {
    const entry = watchEntry({ name, dob: "1931-01-01" })
    const pair = scorePair(screenedPerson(), entry)
    assert.strictEqual(pair.nameScore >= 0.9, possible, String(pair.nameScore))
    assert.isBelow(pair.score, 0.85)
    const outcome = screen(makeScreener([entry]), screenedPerson(), none).outcome
    assert.strictEqual(outcome, possible ? "POSSIBLE" : "CLEAR")
    assert.strictEqual(screen(makeScreener([{ ...entry, list: "PEP" }]), screenedPerson(), none).outcome, "CLEAR")
  })

  it("F26: nationality overlaps when one of several is listed, and counts for nothing when unknown", () => {
    const score = (nationalities: ReadonlyArray<string>, country: string | null) =>
      scorePair(screenedPerson({ nationalities }), watchEntry({ country })).score
    assert.deepStrictEqual(
      [score(["FR", "BY"], "BY"), score(["FR"], "BY"), score([], "BY"), score(["FR"], null)],
      [1, 0.95, 1, 1]
    )
  })

  it("F26: hits stay in front of a crowd of possible matches, at most 20 shown", () => {
    const crowd = Array.from({ length: 40 }, (_, i) => watchEntry({ entryId: i + 1, list: "PEP" }))
    const hit = watchEntry({ entryId: 99, country: "FR" })
    const result = screen(makeScreener([...crowd, hit]), screenedPerson(), none)
    assert.strictEqual(result.outcome, "HIT")
    assert.deepStrictEqual(
      result.candidates.map((candidate) => candidate.entryId),
      [99, ...Array.from({ length: 19 }, (_, i) => i + 1)]
    )
  })

  it("F26: a disposition removes its entry and no other", () => {
    const screener = makeScreener([watchEntry(), watchEntry({ entryId: 2, list: "PEP" })])
    const before = screen(screener, screenedPerson(), none)
    const after = screen(screener, screenedPerson(), new Set([1]))
    assert.deepStrictEqual([before.outcome, after.outcome], ["HIT", "POSSIBLE"])
    assert.deepStrictEqual(
      after.candidates,
      before.candidates.filter((candidate) => candidate.entryId !== 1)
    )
    assert.strictEqual(screen(screener, screenedPerson(), new Set([1, 2])).outcome, "CLEAR")
  })
})

describe("the index", () => {
  it("F26: finds exactly what the plain scan finds", () => {
    let found = 0
    fc.assert(
      fc.property(entries, fc.array(person, { minLength: 1, maxLength: 5 }), (list, clients) => {
        const screener = makeScreener(list)
        for (const client of clients) {
          const result = screen(screener, client, none)
          assert.deepStrictEqual(result, scan(list, client, none))
          found += result.candidates.length
        }
      }),
      { numRuns: 400 }
    )
    // Without matches the comparison would prove nothing.
    assert.isAbove(found, 500)
  })

  it("F26: still finds it while entries are added, changed and removed", () => {
    const step = fc
      .integer({ min: 1, max: 30 })
      .chain((id) => fc.record({ id: fc.constant(id), entry: fc.option(entryWith(id, village), { nil: null }) }))
    fc.assert(
      fc.property(entries, fc.array(step, { maxLength: 60 }), person, (list, steps, client) => {
        const screener = makeScreener(list)
        const kept = new Map(list.map((entry) => [entry.entryId, entry]))
        for (const { id, entry } of steps) {
          if (entry === null) {
            screener.remove(id)
            kept.delete(id)
          } else {
            screener.add(entry)
            kept.set(id, entry)
          }
        }
        assert.strictEqual(screener.size, kept.size)
        assert.deepStrictEqual(screen(screener, client, none), scan([...kept.values()], client, none))
      }),
      { numRuns: 150 }
    )
  })

  it("F26: survives many replacements of one entry", () => {
    const screener = makeScreener([watchEntry()])
    for (let i = 0; i < 3001; i += 1) {
      screener.add(watchEntry({ entryId: 2, list: i % 2 === 0 ? "PEP" : "SANCTIONS" }))
    }
    assert.strictEqual(screener.size, 2)
    assert.deepStrictEqual(
      screen(screener, screenedPerson(), none).candidates.map((candidate) => candidate.entryId),
      [1, 2]
    )
  })

  it("F26: the order of words never matters, on either side", () => {
    fc.assert(
      fc.property(
        // Adjacent single letters are one word, so two such words would depend on the order.
        fc
          .tuple(word(village.given), word(village.given), word(village.family))
          .filter(
            (words) => words.flatMap((each) => each.split(/[^\p{L}]+/u)).filter(({ length }) => length === 1).length < 2
          ),
        person,
        ([a, b, c], client) => {
          const results = [`${a} ${b} ${c}`, `${c} ${a} ${b}`, `${b} ${c} ${a}`].map((name) =>
            screen(makeScreener([watchEntry({ name, dob: client.dob })]), client, none)
          )
          const swapped = { ...client, firstName: client.lastName, lastName: client.firstName }
          results.push(screen(makeScreener([watchEntry({ name: `${a} ${b} ${c}`, dob: client.dob })]), swapped, none))
          for (const result of results) assert.deepStrictEqual(result, results[0])
        }
      )
    )
  })

  it("F26: agrees with the scan of 50,000 entries and compares a small part of them", () => {
    const seed = 20_260_903
    const list = fc
      .sample(entryWith(1, city), { numRuns: 50_000, seed })
      .map((entry, i) => ({ ...entry, entryId: i + 1 }))
    const clients = fc.sample(
      personOf(city).filter((client) => client.dob !== null),
      { numRuns: 8, seed }
    )
    const screener = makeScreener(list)
    let compared = 0
    const counting: typeof screener = {
      size: screener.size,
      add: (entry) => screener.add(entry),
      remove: (id) => screener.remove(id),
      visitCandidates: (question, visit) =>
        screener.visitCandidates(question, (listed) => {
          compared += 1
          visit(listed)
        })
    }
    for (const client of clients)
      assert.deepStrictEqual(screen(counting, client, none), scan(list, client, none), `seed ${seed}`)
    const all = clients.length * list.length
    assert.isBelow(compared / all, 0.02)
  })
})
