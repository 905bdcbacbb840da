/** The name index against the plain scan, with names built to evade it (F26). */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { isAlike, jaro, jaroWinkler, maxPrefix } from "../../src/machines/screening/nameMatch.ts"
import { listedForms, personForms } from "../../src/machines/screening/nameForms.ts"
import { Floor, isMet, patternOf } from "../../src/machines/screening/NamePattern.ts"
import { NameIndex } from "../../src/machines/screening/NameIndex.ts"
import { NameSheets } from "../../src/machines/screening/NameSheets.ts"
import {
  makeScreener,
  scoreForms,
  screen,
  type ScreenedPerson,
  screeningFloors,
  type ScreeningResult,
  toResult,
  unreadable
} from "../../src/machines/screening/screen.ts"
import type { WatchEntry } from "../../src/machines/screening/WatchList.ts"

const none: ReadonlySet<number> = new Set()

/** The reference by definition: every entry is scored. */
const scan = (entries: ReadonlyArray<WatchEntry>, person: ScreenedPerson): ScreeningResult => {
  const forms = personForms(person)
  const scored = entries.map((entry) => ({
    entryId: entry.entryId,
    list: entry.list,
    ...scoreForms(forms, person, listedForms(entry.name), entry)
  }))
  return toResult(unreadable(person).concat(scored.filter((found) => found.outcome !== "CLEAR")))
}

/**
 * Words of one character, equal beginnings, anagrams, more letters than any limit, other scripts, titles, very long
 * names.
 */
const oddWords = [
  ..."A B Q O X DE AL".split(" "),
  ..."AL LI IL ABD ABDUL ABDULLAH ABDULLAHI ABDURRAHMAN ABDURRAHIM ALEXANDER ALEXANDRA ALEXANDROVA".split(" "),
  ..."MARIA AMIRA MAIRA RAMIA ANNA NANA NAAN".split(" "),
  ..."AAAAAAAAAAAA AAAAAAAAAAAAB EEEEEEEEEIIIIIIII QQQQ XXXX".split(" "),
  ..."Виктор Щербаков Θεμιστοκλής محمد مدحم 王 小明 明小 Ødegård O'Brian Dr Master 007".split(" "),
  // Names before folding: single letters, invisible characters, look-alikes, split words.
  ..."M.A.R.I.A A-L-I V\u00adik\u200btor\u202e Mаria ABDUL-LAH ALEX.ANDER Ｍaria Ma\u2800ria Сосо".split(" "),
  "ANASTASIOPOULOS".repeat(9),
  "ANASTASIOPOULOU".repeat(18),
  "ANASTASIOPOULOS".repeat(18)
]

const letter = fc.constantFrom(..."AENIR")

/** A word, sometimes with one letter inserted, removed or changed, or two letters swapped. */
const oddWord = fc
  .tuple(fc.constantFrom(...oddWords), fc.nat(40), fc.integer({ min: 0, max: 7 }), letter)
  .map(([word, place, kind, other]) => {
    const at = place % word.length
    if (kind === 0) return word.slice(0, at) + word.slice(at + 1)
    if (kind === 1) return word.slice(0, at) + other + word.slice(at)
    if (kind === 2) return word.slice(0, at) + other + word.slice(at + 1)
    if (kind === 3) return word.slice(0, at) + word.slice(at + 1, at + 2) + word.slice(at, at + 1) + word.slice(at + 2)
    return word
  })

const day = fc
  .tuple(fc.integer({ min: 1970, max: 1973 }), fc.constantFrom("01-01", "01-02"))
  .map(([year, rest]) => `${year}-${rest}`)
const anyDob = fc.oneof(day, fc.constantFrom(null, "1970", "1971-01", "circa 1972", "1970-00-00", ""))
const anyCountry = fc.constantFrom("BY", "FR", null)

const oddEntry: fc.Arbitrary<Omit<WatchEntry, "entryId">> = fc.record({
  list: fc.constantFrom("SANCTIONS" as const, "PEP" as const),
  name: fc
    .tuple(fc.array(oddWord, { minLength: 1, maxLength: 4 }), fc.boolean())
    .map(([[first = "", ...rest], comma]) => `${first}${comma ? ", " : " "}${rest.join(" ")}`),
  dob: anyDob,
  country: anyCountry,
  source: fc.constant("TEST")
})

const oddPerson: fc.Arbitrary<ScreenedPerson> = fc.record({
  firstName: oddWord,
  middleName: fc.option(oddWord, { nil: null }),
  lastName: oddWord,
  dob: fc.oneof({ weight: 8, arbitrary: day as fc.Arbitrary<string | null> }, { weight: 1, arbitrary: anyDob }),
  nationalities: fc.uniqueArray(fc.constantFrom("BY", "FR", "IR"), { maxLength: 2 })
})

const numbered = (entries: ReadonlyArray<Omit<WatchEntry, "entryId">>): ReadonlyArray<WatchEntry> =>
  entries.map((entry, i) => ({ ...entry, entryId: i + 1 }))

/** Jaro's similarity by its definition: each character of a takes the first free equal one of b within reach. */
const plainJaro = (a: string, b: string): number => {
  const reach = Math.max(0, Math.floor(Math.max(a.length, b.length) / 2) - 1)
  const taken = new Set<number>()
  const paired = [...a.split("").entries()].filter(([i, character]) => {
    const place = b.split("").findIndex((other, j) => other === character && Math.abs(i - j) <= reach && !taken.has(j))
    if (place >= 0) taken.add(place)
    return place >= 0
  })
  const others = [...taken].toSorted((one, other) => one - other).map((place) => b.charAt(place))
  const outOfOrder = paired.filter(([, character], i) => character !== others[i]).length
  const count = paired.length
  return count === 0 ? 0 : (count / a.length + count / b.length + (count - outOfOrder / 2) / count) / 3
}

const likenesses = fc.constantFrom(0.8, 0.84, 0.85, 0.9, 0.9067)

/** The compared form of a name: capitals, with one space between words. */
const oddText = fc
  .array(oddWord, { minLength: 1, maxLength: 3 })
  .map((words) => words.join(" ").toUpperCase().slice(0, 255))
  .filter((text) => text !== "")

/** The names found in a sheet with all texts, after the texts that are not `left` were removed again. */
const foundIn = (
  texts: ReadonlyArray<string>,
  query: string,
  likeness: number,
  left: ReadonlyArray<number> = texts.map((_text, name) => name)
): ReadonlyArray<number> => {
  const sheets = new NameSheets((name) => texts[name]!)
  const sheet = sheets.sheet()
  const gone = [...texts.keys()].filter((name) => !left.includes(name))
  const put = (name: number) => sheets.put(sheet, name, patternOf(texts[name]!))
  const remove = (name: number) => sheets.remove(sheet, name, patternOf(texts[name]!))
  for (const name of texts.keys()) put(name)
  for (const name of gone) remove(name)
  for (const name of gone) put(name)
  for (const name of gone) remove(name)
  assert.deepStrictEqual(
    sheets.namesOf(sheet).toSorted((a, b) => a - b),
    left
  )
  const demand = new Floor(likeness).demand(query.length)
  const search = { query: sheets.query(query), demand, found: [] as Array<number>, seen: 0 }
  sheets.search(sheet, search, maxPrefix, demand.mayLackAnywhere(maxPrefix), false)
  return search.found.toSorted((a, b) => a - b)
}

describe("names made to slip through the index", () => {
  it("F26: both computations give the same likeness: by bits for plain letters, place by place for others", () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom(..."ABCD "), minLength: 1, maxLength: 70, size: "max" }),
      fc.string({ unit: fc.constantFrom(..."AБ明"), minLength: 1, maxLength: 34, size: "max" }),
      oddWord.map((word) => word.toUpperCase())
    )
    const lengths = new Set<number>()
    fc.assert(
      fc.property(text, text, (a, b) => {
        fc.pre(a !== "" && b !== "" && a !== b)
        lengths.add(Math.max(a.length, b.length))
        assert.strictEqual(jaro(a, b), plainJaro(a, b))
      }),
      { numRuns: 5_000 }
    )
    for (const length of [31, 32, 33, 63, 64, 65]) assert.include([...lengths], length)
  })

  it("F26: the floors are those of the formula", () => {
    const { sameDay, sameYear, anyone, undatedSameCountry, undatedNoCountry } = screeningFloors
    assert.deepStrictEqual(
      [sameDay, sameYear, anyone, undatedSameCountry, undatedNoCountry].map((floor) => floor.toFixed(4)),
      ["0.8000", "0.9067", "0.9000", "0.8400", "0.8500"]
    )
  })

  it("F26: whether two names are alike is answered as by their likeness", () => {
    let alike = 0
    fc.assert(
      fc.property(oddWord, oddWord, likenesses, (a, b, likeness) => {
        fc.pre(a !== "" && b !== "")
        assert.strictEqual(isAlike(a, b, likeness), jaroWinkler(a, b) >= likeness - 1e-9)
        if (isAlike(a, b, likeness)) alike += 1
      }),
      { numRuns: 20_000 }
    )
    assert.isAbove(alike, 200)
  })

  it("F26: a pattern never refuses a pair that reaches the floor", () => {
    let reached = 0
    fc.assert(
      fc.property(oddWord, oddWord, likenesses, (a, b, likeness) => {
        const [mine, theirs] = [a.toUpperCase().slice(0, 300), b.toUpperCase().slice(0, 255)]
        if (mine === "" || theirs === "" || jaroWinkler(mine, theirs) < likeness) return
        reached += 1
        assert.deepStrictEqual(foundIn([theirs], mine, likeness), [0])
      }),
      { numRuns: 20_000 }
    )
    assert.isAbove(reached, 200)
  })

  it("F26: finds in a sheet of any width exactly the names whose patterns meet the demand, and no removed ones", () => {
    let found = 0
    fc.assert(
      fc.property(
        fc.array(oddText, { minLength: 1, maxLength: 700, size: "max" }),
        // Longer texts may lack more letters than are counted.
        oddText.map((text) => text.slice(0, 32)),
        likenesses,
        fc.nat(),
        (texts, query, likeness, gone) => {
          const left = texts.map((_text, name) => name).filter((name) => name % 5 !== gone % 5)
          const demand = new Floor(likeness).demand(query.length)
          const expected = left.filter((name) => {
            const [mine, theirs] = [patternOf(query), patternOf(texts[name]!)]
            const lacking = mine.bits.filter((bit) => !theirs.bits.includes(bit)).length
            return lacking <= demand.mayLackAnywhere(maxPrefix) && isMet(demand, mine, theirs.head, lacking)
          })
          found += expected.length
          assert.deepStrictEqual(foundIn(texts, query, likeness, left), expected)
        }
      ),
      { numRuns: 200 }
    )
    assert.isAbove(found, 500)
  })

  it("F26: finds exactly what the plain scan finds in lists long enough for a sheet of each length", () => {
    let found = 0
    fc.assert(
      fc.property(
        fc.array(oddEntry, { minLength: 100, maxLength: 4_000, size: "max" }).map(numbered),
        fc.array(oddPerson, { minLength: 4, maxLength: 4 }),
        (list, clients) => {
          const screener = makeScreener(list)
          for (const client of clients) {
            const result = screen(screener, client, none)
            assert.deepStrictEqual(result, scan(list, client))
            found += result.candidates.length
          }
        }
      ),
      // Shrinking thousands of entries would take too long.
      { numRuns: 20, endOnFailure: true }
    )
    assert.isAbove(found, 100)
  })

  it("F26: also after half of a long list was removed and replaced", () => {
    fc.assert(
      fc.property(
        fc.array(oddEntry, { minLength: 200, maxLength: 300, size: "max" }).map(numbered),
        fc.array(oddEntry, { minLength: 100, maxLength: 150, size: "max" }),
        fc.array(oddPerson, { minLength: 4, maxLength: 4 }),
        (list, later, clients) => {
          const screener = makeScreener(list)
          const kept = list.filter((entry) => entry.entryId % 2 === 0)
          for (const entry of list) if (entry.entryId % 2 === 1) screener.remove(entry.entryId)
          const fresh = later.map((entry, i) => ({ ...entry, entryId: 1_000 + i }))
          for (const entry of fresh) screener.add(entry)
          assert.strictEqual(screener.size, kept.length + fresh.length)
          for (const client of clients)
            assert.deepStrictEqual(screen(screener, client, none), scan([...kept, ...fresh], client))
        }
      ),
      { numRuns: 20, endOnFailure: true }
    )
  })

  it("F26: one name listed forty thousand times is found as often, without the removed ones", () => {
    const entry = { list: "PEP", name: "Li Wu", dob: "1970-01-01", country: "BY", source: "TEST" } as const
    const screener = makeScreener(Array.from({ length: 40_000 }, (_, i) => ({ ...entry, entryId: i + 1 })))
    const client = { firstName: "Li", middleName: null, lastName: "Wu", dob: "1970-01-01", nationalities: ["BY"] }
    let met = 0
    const counting = {
      size: screener.size,
      add: () => {},
      remove: () => {},
      visitCandidates: (...[question, visit]: Parameters<typeof screener.visitCandidates>) =>
        screener.visitCandidates(question, (listed) => {
          met += 1
          visit(listed)
        })
    }
    assert.strictEqual(screen(counting, client, none).outcome, "POSSIBLE")
    assert.strictEqual(met, 40_000)
    for (let id = 1; id <= 100; id += 1) screener.remove(id)
    assert.deepStrictEqual(
      screen(screener, client, none).candidates.map(({ entryId }) => entryId),
      Array.from({ length: 20 }, (_, i) => 101 + i)
    )
  })

  it("F26: of a long list few names are compared letter by letter", () => {
    const syllables =
      "AL BER CO DAN EL FER GU HAN IS JO KAR LEN MIR NO OST PET QUI RO SA TOR UL VIC WAL XE YU ZI".split(" ")
    const part = fc.array(fc.constantFrom(...syllables), { minLength: 2, maxLength: 4 }).map((all) => all.join(""))
    const named = fc.tuple(part, part).map((parts) => parts.toSorted().join(" "))
    const texts = fc.sample(named, { numRuns: 30_000, seed: 7 })
    const query = fc.sample(named, { numRuns: 50, seed: 8 })
    const sheets = new NameSheets((name) => texts[name]!)
    const index = new NameIndex(sheets)
    for (const [name, text] of texts.entries()) index.add(name, patternOf(text))
    const floor = new Floor(screeningFloors.anyone)
    const found = query.reduce((sum, text) => {
      const search = {
        query: sheets.query(text),
        demand: floor.demand(text.length),
        found: [] as Array<number>,
        seen: 0
      }
      index.search(search)
      for (const [name, other] of texts.entries())
        if (isAlike(text, other, floor.likeness)) assert.include(search.found, name)
      return sum + search.found.length
    }, 0)
    assert.isBelow(found / (query.length * texts.length), 0.002)
  })
})
