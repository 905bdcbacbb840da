/**
 * Names written to evade a list: those that are found anyway, and those that are held because no rule compares them
 * (F26).
 */
import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import * as fc from "fast-check"
import { doubtOf, nameTokens } from "../../src/machines/screening/foldName.ts"
import { listedForms, personForms } from "../../src/machines/screening/nameForms.ts"
import {
  makeScreener,
  scorePair,
  screen,
  type ScreenedPerson,
  screeningRulesVersion,
  unreadable
} from "../../src/machines/screening/screen.ts"
import { givenNames, screenedPerson, surnames, watchEntry } from "../fixtures/screening.ts"

const none: ReadonlySet<number> = new Set()
const listed = watchEntry({ name: "Balduin Ostermann-Kielholz", dob: "1961-02-03", country: null })
const itself = { firstName: "Balduin", middleName: null, lastName: "Ostermann-Kielholz", dob: "1961-02-03" } as const
const client = (over: Partial<ScreenedPerson>): ScreenedPerson => screenedPerson({ ...itself, ...over })
const outcome = (over: Partial<ScreenedPerson>, entry = listed) =>
  screen(makeScreener([entry]), client(over), none).outcome

/** Inserts a text between all characters of both names. */
const between = (mark: string): Partial<ScreenedPerson> => ({
  firstName: [...itself.firstName].join(mark),
  lastName: [...itself.lastName].join(mark)
})

/** A printable name of a character. */
const codeOf = (text: string): string =>
  [...text].map((each) => `U+${(each.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`).join(" ")

describe("characters that show nothing", () => {
  const marks = [
    ..."\u00ad\u034f\u061c\u115f\u1160\u17b4\u180b\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e",
    ..."\u2060\u2061\u2064\u2066\u2067\u2068\u2069\u206a\u2800\u3164\ufe00\ufe0f\ufeff\uffa0\ufff9\u0600\u0640\u02b9",
    ..."\u{1bca0}\u{1d173}\u{e0001}\u{e0041}\u{e007f}\u{e0100}\u{e01ef}"
  ]
  it.each(marks.map((mark) => [codeOf(mark), mark] as const))(
    "F26: %s between the letters does not hide a name",
    (_, mark) => {
      assert.strictEqual(scorePair(client(between(mark)), listed).nameScore, 1)
      assert.strictEqual(outcome(between(mark)), "HIT")
      // The same text between the characters of the name on the list.
      const written = { ...listed, name: [...listed.name].join(mark) }
      assert.strictEqual(outcome({}, written), "HIT")
    }
  )

  it("F26: no default-ignorable character does", () => {
    const ignorable = fc
      .integer({ min: 0, max: 0x10_ffff })
      .filter((code) => code < 0xd800 || code > 0xdfff)
      .map((code) => String.fromCodePoint(code))
      .filter((text) => /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{M}]/u.test(text))
    fc.assert(
      fc.property(fc.array(ignorable, { minLength: 1, maxLength: 3 }), (all) => {
        assert.strictEqual(scorePair(client(between(all.join(""))), listed).nameScore, 1)
      }),
      // The upper case of this mark is a letter.
      { examples: [[["\u0345"]]] }
    )
  })
})

describe("letters apart", () => {
  const separators = [" ", ".", ". ", "  ", "-", "_", "\u00a0", "\u2009", "\u3000", "/", " - ", "\u00b7", "|"]
  it.each(separators)("F26: %j between all letters of both names does not hide them", (separator) => {
    assert.include(["HIT", "POSSIBLE"], outcome(between(separator)))
    assert.include(["HIT", "POSSIBLE"], outcome({ ...between(separator), dob: "1990-07-08" }))
  })

  const parted: ReadonlyArray<readonly [string, string]> = [
    ["Bal duin", "Oster mann Kiel holz"],
    ["Ba.ld.ui.n", "Os.te.rm.an.n Ki.el.ho.lz"],
    ["Bald uin Os", "termannKielholz"],
    ["BalduinOstermann", "Kielholz"],
    ["B.A.L.D.U.I.N", "O S T E R M A N N-Kielholz"],
    ["B alduin", "Ostermann K ielholz"]
  ]
  it.each(parted)("F26: %s / %s is found beside the very birth date", (firstName, lastName) => {
    assert.strictEqual(outcome({ firstName, lastName }), "HIT")
  })

  it("F26: consecutive single letters are one word on either side, however they are separated; other words stay apart", () => {
    const rows: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
      ["B. a. l. d. u. i. n", ["BALDUIN"]],
      ["B a l d u i n", ["BALDUIN"]],
      ["Б а л д у и н", ["BALDUIN"]],
      ["Ж у к о в", ["ZHUKOV"]],
      ["J. R. R. Tolkien", ["JRR", "TOLKIEN"]],
      ["John R. Smith", ["JOHN", "R", "SMITH"]],
      ["Maria e Silva", ["MARIA", "E", "SILVA"]],
      // In such a script a single character is a whole name, so the order of the characters would matter.
      ["\u738b \u4f1f", ["WANG", "WEI"]]
    ]
    for (const [name, words] of rows) assert.deepStrictEqual(nameTokens(name), words, name)
  })
})

describe("other letters for the same", () => {
  const same: ReadonlyArray<readonly [string, string]> = [
    ["\uff22\uff41\uff4c\uff44\uff55\uff49\uff4e", "Ostermann-Kielholz"],
    ["\u{1d401}\u{1d41a}\u{1d425}\u{1d41d}\u{1d42e}\u{1d422}\u{1d427}", "Ostermann\u2010Kielholz"],
    ["\u24b7\u24d0\u24db\u24d3\u24e4\u24d8\u24dd", "OSTERMANN\u2014KIELHOLZ"],
    ["B\u0336a\u0336l\u0336d\u0336u\u0336i\u0336n\u0336", "O\u0308stermann-Kielholz"],
    ["\u1d2e\u1d43\u02e1\u1d48\u1d58\u2071\u207f", "Ostermann Kielholz"],
    ["Dr. Balduin", "Sir Ostermann-Kielholz, Ph.D."],
    ["Ostermann-Kielholz", "Balduin"]
  ]
  it.each(same)("F26: %s %s is the same name", (firstName, lastName) => {
    assert.strictEqual(scorePair(client({ firstName, lastName }), listed).nameScore, 1)
  })
})

describe("additional or missing given names, the same birth date", () => {
  const many = watchEntry({ ...listed, name: "Anton Balduin Clemens Dietrich Ostermann-Kielholz" })
  const surnameFirst = watchEntry({ ...listed, name: "OSTERMANN-KIELHOLZ, Balduin Clemens" })
  const rows: ReadonlyArray<readonly [string, string | null, string, typeof listed]> = [
    ["Anton Balduin Clemens Dietrich", null, "Ostermann-Kielholz", listed],
    ["Anton", "Balduin", "Ostermann-Kielholz", listed],
    ["Zacharias Yorick", "Wenzel Balduin", "Ostermann-Kielholz", listed],
    ["Balduin", "Zacharias Yorick Xaver Wenzel Volkmar", "Ostermann-Kielholz", listed],
    ["Balduin", null, "Ostermann-Kielholz", many],
    ["Dietrich", null, "Ostermann-Kielholz", many],
    ["Zacharias", "Clemens", "Ostermann-Kielholz", many],
    ["Zacharias Balduin", null, "Ostermann-Kielholz", surnameFirst],
    ["Clemens", "Zacharias Yorick", "Ostermann-Kielholz", surnameFirst],
    // Surname and given names in each other's field, half of a double surname, one wrong letter in each word.
    ["Ostermann-Kielholz", null, "Anton Balduin Clemens Dietrich", listed],
    ["Anton Balduin Clemens", null, "Kielholz", listed],
    ["Anton Baldiun Clemens Dietrich", null, "Ostermann-Kielhols", listed],
    ["Б а л д у и н", "Захариас Йорик", "О с т е р м а н н-Киелхолз", listed]
  ]
  it.each(rows)("F26: %s, %s, %s is found", (firstName, middleName, lastName, entry) => {
    const found = screen(makeScreener([entry]), client({ firstName, middleName, lastName }), none)
    assert.strictEqual(found.outcome, "HIT")
    const pep = screen(makeScreener([{ ...entry, list: "PEP" }]), client({ firstName, middleName, lastName }), none)
    assert.strictEqual(pep.outcome, "POSSIBLE")
  })

  const others: ReadonlyArray<readonly [string, string, string]> = [
    ["Mohammed", "Al Rashid", "Mohammed Al Harbi"],
    ["Juan Carlos", "Izquierdo", "Juan Carlos Zubizarreta"],
    ["Anna", "Van der Berg", "Anna Van Hagenau"],
    ["Balduin", "Wackernagel", "Balduin Ostermann-Kielholz"],
    ["Anton", "Ostermann-Kielholz", "Friedrich Ostermann-Kielholz"],
    ["Anna", "Garcia Lopez", "Pedro Garcia Lopez"]
  ]
  it.each(others)("F26: %s %s is no namesake of %s", (firstName, lastName, name) => {
    assert.isBelow(scorePair(client({ firstName, lastName }), { ...listed, name }).nameScore, 0.95)
  })

  it("F26: nothing of it counts beside another birth date", () => {
    const short = { ...listed, name: "Balduin Kuhn" }
    const person = client({ firstName: "Anton Zacharias Yorick Balduin", lastName: "Kuhn" })
    assert.strictEqual(outcome(person, short), "HIT")
    assert.strictEqual(outcome({ ...person, dob: "1990-07-08" }, short), "CLEAR")
  })

  it("F26: of words drawn at random, two names with a surname and a given name in common are found", () => {
    const word = fc.string({ unit: fc.constantFrom(..."BCDGKLMNPRSTUVWXZ"), minLength: 4, maxLength: 9 })
    fc.assert(
      fc.property(
        fc.uniqueArray(word, { minLength: 2, maxLength: 2 }),
        fc.array(word, { maxLength: 4 }),
        fc.array(word, { maxLength: 4 }),
        fc.nat(),
        ([surname = "", given = ""], mine, theirs, place) => {
          const names = [...mine.slice(0, place % 5), given, ...mine.slice(place % 5)]
          const name = [...theirs.slice(0, place % 3), given, ...theirs.slice(place % 3), surname].join(" ")
          const person = client({ firstName: names.join(" "), lastName: surname })
          assert.strictEqual(outcome(person, { ...listed, name }), "HIT")
        }
      )
    )
  })
})

describe("a name that can't be compared", () => {
  const rows: ReadonlyArray<readonly [string, string | null, string, ReturnType<typeof doubtOf>]> = [
    ["Balduin", null, "Ostermann", null],
    ["Jean-Paul", "M. (Max)", "d’Arc / O'Brian", null],
    ["Виктор", "Петрович", "Орленко", null],
    ["Θεμιστοκλής", null, "Ψαρράς", null],
    ["Łukasz", null, "Þórðarson-Żółć", null],
    ["Виктор", null, "Orlenko", null],
    ["Вера", null, "Иванова", null],
    ["მიხეილ", null, "სააკაშვილი", null],
    ["ᲛᲘᲮᲔᲘᲚ", null, "Ostermann", null],
    ["Balduin", "-", "Ostermann", null],
    ["Louis", null, "User1", null],
    ["-", null, "Ostermann", "NO_NAME"],
    ["007", null, "12345", "NO_NAME"],
    ["Balduin", null, "\u0661\u0662", "NO_NAME"],
    ["Balduin", null, "\u00ad\u200b", "NO_NAME"],
    ["Dr", null, "Ostermann", "TITLE_ALONE"],
    ["Dr.", null, "Prof. Ph.D.", "TITLE_ALONE"],
    ["Dr. Prof.", "Balduin", "Ostermann", "TITLE_ALONE"],
    ["محمد", null, "الاسد", "UNKNOWN_LETTERS"],
    ["Balduin", null, "王", "UNKNOWN_LETTERS"],
    ["Balduin", "Արմեն", "Ostermann", "UNKNOWN_LETTERS"],
    ["\u10c0\u10c1\u10c2", null, "ოსტერმანი", "UNKNOWN_LETTERS"],
    ["\u0299\u1d00\u029f\u1d05\u1d1c\u026a\u0274", null, "Ostermann", "UNKNOWN_LETTERS"],
    ["B\u0251lduin", null, "Ostermann", "UNKNOWN_LETTERS"],
    ["Ұлан", null, "Ұлы", "UNKNOWN_LETTERS"],
    ["B\u0430lduin", null, "Ostermann", "MIXED_WORD"],
    ["Balduin", null, "Osterm\u0430nn-Kielholz", "MIXED_WORD"],
    ["Balduin", "M\u0430x", "Ostermann", "MIXED_WORD"],
    ["Balduin", null, "Osterm\u10d0nn", "MIXED_WORD"],
    ["B\u03b1lduin", null, "\u039fstermann", "MIXED_WORD"],
    ["B \u0430 l d u i n", null, "Ostermann", "MIXED_WORD"],
    ["Baldu1n", null, "0stermann", "MIXED_WORD"],
    ["Сосо", null, "Асаре", "LOOK_ALIKE_LETTERS"],
    ["Ann", null, "Соре", "LOOK_ALIKE_LETTERS"],
    ["Ann", null, "ΚΑΤΟ", "LOOK_ALIKE_LETTERS"],
    ["B@lduin", null, "O$termann", "STRANGE_CHARACTERS"],
    ["Balduin", null, "Oster_mann", "STRANGE_CHARACTERS"],
    ["\u{1f171}alduin", null, "Ostermann", "STRANGE_CHARACTERS"],
    ["Balduin", null, "Oster\ue000mann", "STRANGE_CHARACTERS"],
    ["Balduin", null, "\u{1f600}", "NO_NAME"]
  ]
  it.each(rows)("F26: %j, %j, %j: %s", (firstName, middleName, lastName, doubt) => {
    const person = client({ firstName, middleName, lastName })
    assert.strictEqual(doubtOf(person), doubt)
    const { outcome: found, candidates } = screen(makeScreener([]), person, none)
    assert.strictEqual(found, doubt === null ? "CLEAR" : "POSSIBLE")
    assert.deepStrictEqual(
      candidates,
      doubt === null ? [] : [{ entryId: 0, list: "UNREADABLE", score: 1, nameScore: 1, why: doubt }]
    )
  })

  it("F26: it is compared nevertheless, and a hit is listed before it", () => {
    const person = client({ firstName: "B\u0430lduin" })
    const { outcome: found, candidates } = screen(makeScreener([listed]), person, none)
    assert.strictEqual(found, "HIT")
    assert.deepStrictEqual(
      candidates.map(({ entryId, list }) => [entryId, list]),
      [
        [1, "SANCTIONS"],
        [0, "UNREADABLE"]
      ]
    )
    assert.strictEqual(screen(makeScreener([listed]), person, new Set([1])).outcome, "POSSIBLE")
    assert.strictEqual(screen(makeScreener([listed]), person, new Set([0, 1])).outcome, "CLEAR")
  })

  it("F26: any submitted name can be folded, and a CLEAR one has no letter beyond A to Z", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 20 }),
      fc.string({ unit: fc.constantFrom(..."Aa1-. '\u0430\u00e9\u200b"), maxLength: 6 })
    )
    fc.assert(
      fc.property(text, fc.option(text, { nil: null }), text, (firstName, middleName, lastName) => {
        const person = client({ firstName, middleName, lastName })
        const forms = personForms(person)
        if (unreadable(person).length === 0) assert.match(forms.full, /^[A-Z0-9 ]*[A-Z][A-Z0-9 ]*$/)
        // Repeated folding changes nothing.
        assert.strictEqual(listedForms(forms.full.toLowerCase()).full, nameTokens(forms.full).toSorted().join(" "))
      }),
      { numRuns: 2_000 }
    )
  })
})

describe("the version of the rules", () => {
  it("F26: changes as soon as any of these answers changes: then all clients are screened again", () => {
    const names = givenNames.flatMap((given, i) => surnames.slice(i % 7, (i % 7) + 3).map((family) => [given, family]))
    const odd = [
      ["Дмитрий", "Щербаков"],
      ["Θεμιστοκλής", "Ψαρράς"],
      ["B. a. l. d. u. i. n", "Oster\u00admann"],
      ["Dr.", "Maria"],
      ["王", "伟"],
      ["მიხეილ", "სააკაშვილი"],
      ["B\u0430lduin", "Сосо"],
      ["Juan Carlos Maria", "de la Vega"]
    ]
    const people = [...names, ...odd].map(([firstName = "", lastName = ""]) => client({ firstName, lastName }))
    const entries = people.map(({ firstName, lastName }, i) =>
      watchEntry({
        entryId: i + 1,
        list: i % 2 === 0 ? "PEP" : "SANCTIONS",
        name: i % 3 === 0 ? `${lastName}, ${firstName}` : `${firstName} Anton ${lastName}`,
        dob: i % 5 === 0 ? null : i % 4 === 0 ? "1961" : "1961-02-03"
      })
    )
    const answers = people.map((each) => [unreadable(each), entries.map((entry) => scorePair(each, entry))])
    const digest = createHash("sha256").update(JSON.stringify(answers)).digest("hex").slice(0, 16)
    assert.deepStrictEqual([screeningRulesVersion, digest], [4, "4dc641f3f8c62873"])
  })
})
