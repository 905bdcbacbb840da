/**
 * Published lists in their original formats. The reader finds each person with all names, birth dates and countries. It counts
 * entries that are no persons. It reports an unreadable entry as unknown, with its line. It refuses unknown elements by name
 * (F26; operator surface, screening import).
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { CliFailure } from "../../cli/CliIo.ts"
import { type ListOptions, readListFile } from "../../cli/listFile.ts"
import { readCountry } from "../../cli/listFormats/readCountry.ts"
import { readDates } from "../../cli/listFormats/readDates.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-formats-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
const file = (content: string | Uint8Array, extension = "csv"): string => {
  const path = join(folder, `list${++files}.${extension}`)
  writeFileSync(path, content)
  return path
}

const read = async (path: string, options: ListOptions = {}) => {
  const { count, report, pieces } = await readListFile(path, { source: "X", version: "1", ...options })
  const lines: Array<string> = []
  for await (const piece of pieces(1_000)) {
    for (const { list, name, dob, country } of piece) lines.push([list, name, dob ?? "", country ?? ""].join("|"))
  }
  assert.strictEqual(lines.length, count)
  return { lines, report }
}

/** The faults of a file, by place. */
const refused = async (path: string, options: ListOptions = {}): Promise<string> => {
  try {
    await readListFile(path, { source: "X", version: "1", ...options })
  } catch (error) {
    const { msg, data } = (error as CliFailure).envelope
    const errors = (data as { readonly errors?: Record<string, string> } | undefined)?.errors ?? {}
    return [msg, ...Object.entries(errors).map(([place, sentence]) => `${place}: ${sentence}`)].join("\n")
  }
  return assert.fail("the file was taken")
}

const openSanctions =
  '"id","schema","name","aliases","birth_date","countries","addresses","identifiers","sanctions","phones","emails","program_ids","dataset","first_seen","last_seen","last_change"\n'
const row = (schema: string, name: string, aliases: string, dobs: string, countries: string): string =>
  `"NK-1","${schema}","${name}","${aliases.replaceAll('"', '""')}","${dobs}","${countries}","Street 1; Town","P 1","EU - 1","","","EU-X","Test","2023-04-20T00:00:00","2026-11-20T00:00:00","2026-11-01T00:00:00"\n`

describe("OpenSanctions, simple table", () => {
  it("reads every name, date and country of persons, and counts the rest", async () => {
    const path = file(
      openSanctions +
        row("Person", "Ivo Zebrow", 'Иво Зебров;"Zebrow; the Elder"', "1961-02-03;1962", "ru;gb-sct") +
        row("Company", "Zebrow Trading", "ZT", "", "ru") +
        row("LegalEntity", "Ada Maybe", "", "", "suhh") +
        row("Vessel", "Zebra", "", "", "")
    )
    const { lines, report } = await read(path, { list: "SANCTIONS" })
    assert.deepStrictEqual(lines, [
      ...["Ivo Zebrow", "Иво Зебров", "Zebrow; the Elder"].flatMap((name) =>
        ["1961-02-03|RU", "1961-02-03|GB", "1962|RU", "1962|GB"].map((rest) => `SANCTIONS|${name}|${rest}`)
      ),
      "SANCTIONS|Ada Maybe||"
    ])
    assert.deepStrictEqual(report, { notPersons: 2, badLines: [], unread: 1, unreadAt: ["line 4, country"] })
  })

  it("requires the option that names the list", async () => {
    const path = file(openSanctions + row("Person", "Ivo Zebrow", "", "", ""))
    assert.include(await refused(path), "The list must be one of: SANCTIONS, PEP.")
  })

  it("refuses a kind of entry that is not known", async () => {
    const path = file(openSanctions + row("Spaceship", "Ivo Zebrow", "", "", ""))
    assert.include(await refused(path, { list: "PEP" }), 'line 2: The schema "Spaceship" is not known.')
  })
})

describe("CSV with a header row", () => {
  it("understands aliases, birth_date and countries", async () => {
    const path = file("Name,Aliases,birth_date,countries,list\nIvo Zebrow,I. Zebrow;Zebra,1961,PL;DE,PEP\n")
    const { lines } = await read(path)
    assert.strictEqual(lines.length, 6)
    assert.include(lines, "PEP|Zebra|1961|DE")
  })

  it.each(["passport", "surname", "addresses", "", "__proto__", "constructor"])(
    "refuses the column %j by its name",
    async (column) => {
      const sentence = await refused(file(`name,${column}\nIvo Zebrow,x\n`), { list: "PEP" })
      assert.include(sentence, `line 1: The column ${JSON.stringify(column)} is not known`)
    }
  )

  it("refuses two columns with one meaning", async () => {
    const path = file("name,dob,birth_date\nIvo Zebrow,1961,1962\n")
    assert.include(await refused(path, { list: "PEP" }), "Two columns are the dob")
  })

  it("leaves out lines without a readable name, up to the given number, each with its line", async () => {
    const lines = [
      "name,dob,list",
      "Good Name,1960,PEP",
      ",1960,PEP",
      "-0-,,PEP",
      "Too,many,fields,PEP",
      `${"x".repeat(201)},,PEP`
    ]
    const path = file(lines.join("\n"))
    const { lines: taken, report } = await read(path, { badLines: 4 })
    assert.deepStrictEqual(taken, ["PEP|Good Name|1960|"])
    assert.deepStrictEqual(report.badLines, ["line 3", "line 4", "line 5", "line 6"])
    const sentence = await refused(path, { badLines: 3 })
    assert.include(
      sentence,
      "More lines than --bad-lines 3 allows have no name that can be read: nothing was imported."
    )
    assert.include(sentence, "line 6: The name must be at most 200 characters.")
    assert.include(await refused(path), "line 3: The name is required.")
  })

  it("counts an unreadable field as unknown, beside the readable ones", async () => {
    const path = file("name,aliases,dob,country,list\nIvo Zebrow,\u0001;Zebra,1961;circa 1970,Atlantis,PEP\n")
    const { lines, report } = await read(path)
    assert.deepStrictEqual(lines, ["PEP|Ivo Zebrow|1961|", "PEP|Ivo Zebrow||", "PEP|Zebra|1961|", "PEP|Zebra||"])
    assert.deepStrictEqual([report.unread, report.unreadAt], [3, ["line 2, name", "line 2, dob", "line 2, country"]])
  })

  it("names the first hundred unreadable fields, and counts all", async () => {
    const path = file(`name,dob\n${"Ivo Zebrow,soon\n".repeat(130)}`)
    const { report } = await read(path, { list: "PEP" })
    assert.deepStrictEqual([report.unread, report.unreadAt.length, report.unreadAt.at(-1)], [130, 100, "line 101, dob"])
  })

  it("limits the size of a record and of an entry", async () => {
    assert.include(await refused(file(`name\n"${"x".repeat(1_100_000)}`)), "line 2: A record is too long.")
    const many = Array.from({ length: 200 }, (_, n) => `A${n}`).join(";")
    const dates = Array.from({ length: 100 }, (_, n) => String(1900 + n)).join(";")
    const wide = file(
      `name,aliases,dob\nIvo Zebrow,${many.replace(/[0-9]+/g, (n) => "ABCDEFGHIJ"[Number(n) % 10] + n)},${dates}\n`
    )
    assert.include(await refused(wide, { list: "PEP" }), "line 2: An entry may have at most 10000 names")
  })

  it("reads UTF-16 with its mark, and refuses a file that is not text in a sentence", async () => {
    const text = "\ufeffname,list\nIvo Žebrow,PEP\n"
    for (const bytes of [Buffer.from(text, "utf16le"), Buffer.from(text, "utf16le").swap16(), Buffer.from(text)])
      assert.deepStrictEqual((await read(file(bytes))).lines, ["PEP|Ivo Žebrow||"])
    assert.include(await refused(file(Buffer.from("name\nIvo \u00e9brow\n", "latin1"))), "The file is not UTF-8 text.")
    const half = Buffer.concat([Buffer.from(text, "utf16le"), Buffer.from([0x41])])
    assert.include(await refused(file(half)), "The file is not UTF-16LE text.")
  })
})

describe("JSON", () => {
  const document = (entry: object, others: object = {}) =>
    file(
      JSON.stringify({
        source: "X",
        version: "1",
        entries: [{ list: "PEP", name: "Ivo Zebrow", ...entry }],
        ...others
      }),
      "json"
    )

  it("reads the fields of CSV, with lists for several values", async () => {
    const { lines } = await read(document({ aliases: ["Zebra"], birth_date: ["1961", "1962"], countries: ["PL"] }))
    assert.deepStrictEqual(lines, [
      "PEP|Ivo Zebrow|1961|PL",
      "PEP|Ivo Zebrow|1962|PL",
      "PEP|Zebra|1961|PL",
      "PEP|Zebra|1962|PL"
    ])
    const company = document(
      { schema: "Company" },
      {
        entries: [
          { name: "A B", list: "PEP" },
          { name: "C", schema: "Company" }
        ]
      }
    )
    const { report } = await read(company)
    assert.strictEqual(report.notPersons, 1)
  })

  it.each(["passport", "id", "__proto__", "toString"])("refuses the member %j by its name", async (member) => {
    const path = document(JSON.parse(`{"${member}": "x"}`) as object)
    assert.include(await refused(path), `entries.0: The member ${JSON.stringify(member)} is not known`)
  })

  it("refuses a member of the document by its name", async () => {
    assert.include(await refused(document({}, { persons: [] })), 'The member "persons" is not known')
  })

  it("reads UTF-16 with its mark", async () => {
    const text = JSON.stringify({ entries: [{ name: "Ivo Zebrow", list: "PEP" }] })
    assert.deepStrictEqual((await read(file(Buffer.from(`\ufeff${text}`, "utf16le"), "json"))).lines, [
      "PEP|Ivo Zebrow||"
    ])
    assert.deepStrictEqual((await read(file(`\ufeff${text}`, "json"))).lines, ["PEP|Ivo Zebrow||"])
    assert.include(
      await refused(file(Buffer.from([0xff, 0xfe, 0x00]), "json")),
      "The file is not UTF-8 or UTF-16 text."
    )
  })
})

const sdn = (...records: ReadonlyArray<string>): string => file(`${records.join("\r\n")}\r\n\u001a`)
const record = (entry: number, name: string, type: string, remarks: string): string =>
  `${entry},"${name}",${type},"CUBA",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,${remarks === "" ? "-0- " : `"${remarks}"`}`
const alternates = (...records: ReadonlyArray<string>): string => file(`${records.join("\r\n")}\r\n\u001a`)

describe("OFAC", () => {
  const remarks =
    "DOB 31 Aug 1960; alt. DOB Sep 1958; alt. DOB circa 1955; POB Beirut, Lebanon; nationality Lebanon; alt. citizen Korea, North; Gender Male; Passport 042833 (Lebanon); a.k.a. 'ABU ZEBRA'; Linked To: ZEBRA FRONT."

  it("reads alternate names, and from the remarks birth dates, nationalities and further names", async () => {
    const path = sdn(
      record(36, "ZEBRA AIRLINES", "-0- ", ""),
      record(2674, "ZEBROW, Ivo", '"individual"', remarks),
      record(2675, "QUAST, Ida", '"individual"', ""),
      record(4234, "ZEBRA", '"vessel"', "")
    )
    const alternateNames = alternates(
      '36,12,"aka","AERO-ZEBRA",-0- ',
      '2674,1795,"fka","ZEBROV, Iwo",-0- ',
      '2674,1796,"aka","-0-",-0- '
    )
    const { lines, report } = await read(path, { alternateNames })
    assert.deepStrictEqual(lines, [
      ...["ZEBROW, Ivo", "ZEBROV, Iwo", "ABU ZEBRA"].flatMap((name) =>
        ["1960-08-31", "1958-09", ""].flatMap((dob) =>
          ["LB", "KP"].map((country) => `SANCTIONS|${name}|${dob}|${country}`)
        )
      ),
      "SANCTIONS|QUAST, Ida||"
    ])
    assert.deepStrictEqual(report, { notPersons: 2, badLines: [], unread: 1, unreadAt: ["line 2, dob"] })
  })

  it("needs the file of alternate names, of the same day", async () => {
    const path = sdn(record(2674, "ZEBROW, Ivo", '"individual"', ""))
    assert.include(await refused(path), "name it with --alternate-names")
    const later = alternates('2690,1795,"aka","ZEBROV, Iwo",-0- ')
    assert.include(await refused(path, { alternateNames: later }), "have entry 2690, which this file has not")
    assert.include(await refused(path, { alternateNames: path }), "The file of --alternate-names can't be read")
  })

  it("continues in the file of comments if a remark is too long, and names the lines where it can't", async () => {
    const whole = `${"Linked To: ZEBRA FRONT; ".repeat(41)}nationality Lebanon; a.k.a. 'THE ZEBRA'.`
    const path = sdn(record(2674, "ZEBROW, Ivo", '"individual"', whole.slice(0, 1_000)))
    const alternateNames = alternates('2674,1795,"aka","ZEBROV, Iwo",-0- ')
    const without = await read(path, { alternateNames })
    assert.deepStrictEqual(without.report.unreadAt, ["line 1, country", "line 1, remarks"])
    const comments = file(`2674,"${whole.slice(1_000)}"\r\n\u001a`)
    const { lines, report } = await read(path, { alternateNames, comments })
    assert.include(lines, "SANCTIONS|THE ZEBRA||LB")
    assert.strictEqual(report.unread, 0)
  })

  it("refuses a type of entry that is not known", async () => {
    const path = sdn(record(2674, "ZEBROW, Ivo", '"robot"', ""))
    assert.include(await refused(path, { alternateNames: alternates() }), 'line 1: The type "robot" is not known.')
  })
})

const eu = (...entities: ReadonlyArray<string>): string =>
  file(
    `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<export xmlns="http://eu.europa.ec/fpi/fsd/export" generationDate="2026-11-20T10:05:36.338+02:00" globalFileId="1">\n${entities.join("\n")}\n</export>\n`,
    "xml"
  )
const regulation =
  '<regulation regulationType="amendment" programme="IRQ" logicalId="348"><publicationUrl>http://x</publicationUrl></regulation>'

describe("European Union", () => {
  it("reads names, birth dates and citizenships of persons", async () => {
    const path = eu(
      `<sanctionEntity designationDetails="" unitedNationId="" euReferenceNumber="EU.1.1" logicalId="13">${regulation}<subjectType code="person" classificationCode="P"/>
       <nameAlias firstName="Ivo" middleName="" lastName="Zebrow" wholeName="Ivo Zebrow &amp; Son" function="" gender="M" title="" nameLanguage="" strong="true" regulationLanguage="en" logicalId="17"><regulationSummary regulationType="amendment"/></nameAlias>
       <nameAlias firstName="Ивo" middleName="П." lastName="Зебров" wholeName="" strong="false" logicalId="18"/>
       <citizenship region="" countryIso2Code="PL" countryDescription="POLAND" regulationLanguage="en" logicalId="1"/>
       <citizenship countryIso2Code="00" countryDescription="UNKNOWN" logicalId="2"/>
       <birthdate circa="false" calendarType="GREGORIAN" city="x" birthdate="1961-02-03" dayOfMonth="3" monthOfYear="2" year="1961" countryIso2Code="PL" logicalId="3"/>
       <birthdate circa="false" calendarType="GREGORIAN" year="1962" monthOfYear="7" logicalId="4"/>
       <birthdate circa="true" calendarType="GREGORIAN" year="1963" logicalId="5"/>
       <birthdate circa="true" calendarType="GREGORIAN" yearRangeFrom="1964" yearRangeTo="1965" logicalId="6"/>
       <birthdate calendarType="ISLAMIC" year="1341" logicalId="7"/>
       </sanctionEntity>`,
      '<sanctionEntity logicalId="14"><subjectType code="enterprise" classificationCode="E"/><nameAlias wholeName="Zebrow Trading"/></sanctionEntity>'
    )
    const { lines, report } = await read(path)
    assert.deepStrictEqual(
      lines,
      ["Ivo Zebrow & Son", "Ивo П. Зебров"].flatMap((name) =>
        ["1961-02-03", "1962-07", "", "1964", "1965"].map((dob) => `SANCTIONS|${name}|${dob}|PL`)
      )
    )
    assert.deepStrictEqual(report, { notPersons: 1, badLines: [], unread: 1, unreadAt: ["line 3, dob"] })
  })

  it("is read in the encoding that it declares or that its mark shows; any other encoding is refused in a sentence", async () => {
    const text = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?>\n<export>${person}</export>`
    const person =
      '<sanctionEntity><subjectType code="person"/><nameAlias wholeName="Ivo \u00e9brow"/></sanctionEntity>'
    const utf16 = Buffer.from(text("UTF-16"), "utf16le")
    for (const bytes of [
      Buffer.from(text("ISO-8859-1"), "latin1"),
      Buffer.from(text("windows-1252"), "latin1"),
      utf16,
      Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]),
      Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]).swap16(),
      // The file was saved as UTF-8 by a program that kept the old declaration.
      Buffer.from(text("UTF-16"))
    ]) {
      assert.deepStrictEqual((await read(file(bytes, "xml"))).lines, ["SANCTIONS|Ivo \u00e9brow||"])
    }
    assert.include(
      await refused(file(Buffer.from(text("EBCDIC-CP-BE")), "xml")),
      'The file declares the encoding "EBCDIC-CP-BE", which is not known: convert it to UTF-8.'
    )
    assert.include(await refused(file(Buffer.from(text("UTF-8"), "latin1"), "xml")), "The file is not UTF-8 text.")
  })

  it.each([
    [
      '<sanctionEntity><subjectType code="person"/><nameAlias wholeName="A B"/><height/></sanctionEntity>',
      "height of sanctionEntity"
    ],
    [
      '<sanctionEntity><subjectType code="person"/><nameAlias wholeName="A B" nickName="C"/></sanctionEntity>',
      "nickName of nameAlias"
    ],
    ["<note>x</note>", "note"]
  ])("refuses a member that is not known: %s", async (entity, member) => {
    assert.include(await refused(eu(entity)), `line 3: The member ${member} is not known.`)
  })

  it("refuses a kind of subject that is not known", async () => {
    const path = eu('<sanctionEntity><subjectType code="ship"/></sanctionEntity>')
    assert.include(await refused(path), 'line 3: The type "ship" is not known.')
  })
})

const un = (individuals: string): string =>
  file(
    `<?xml version="1.0" encoding="UTF-8"?>\n<CONSOLIDATED_LIST dateGenerated="2026-11-20T00:00:09.554Z">\n<INDIVIDUALS>${individuals}</INDIVIDUALS>\n<ENTITIES><ENTITY><FIRST_NAME>ZEBRA FRONT</FIRST_NAME></ENTITY></ENTITIES></CONSOLIDATED_LIST>`,
    "xml"
  )

describe("United Nations", () => {
  it("reads the four names, the original script, aliases in their lists and brackets, dates of each kind", async () => {
    const { lines, report } = await read(
      un(`<INDIVIDUAL><DATAID>1</DATAID><FIRST_NAME>IVO</FIRST_NAME><SECOND_NAME>PETER</SECOND_NAME><THIRD_NAME/><FOURTH_NAME>ZEBROW</FOURTH_NAME>
        <NAME_ORIGINAL_SCRIPT>إيفو (Ivo; Iwo)</NAME_ORIGINAL_SCRIPT><NATIONALITY><VALUE>Iran (Islamic Republic of)</VALUE></NATIONALITY>
        <INDIVIDUAL_ALIAS><QUALITY>Low</QUALITY><ALIAS_NAME>Zebra; Zebrov</ALIAS_NAME><DATE_OF_BIRTH>1964-01-02</DATE_OF_BIRTH></INDIVIDUAL_ALIAS>
        <INDIVIDUAL_ALIAS><QUALITY/><ALIAS_NAME/></INDIVIDUAL_ALIAS>
        <INDIVIDUAL_DATE_OF_BIRTH><TYPE_OF_DATE>EXACT</TYPE_OF_DATE><DATE>1961-02-03</DATE></INDIVIDUAL_DATE_OF_BIRTH>
        <INDIVIDUAL_DATE_OF_BIRTH><TYPE_OF_DATE>BETWEEN</TYPE_OF_DATE><FROM_YEAR>1962</FROM_YEAR><TO_YEAR>1963</TO_YEAR></INDIVIDUAL_DATE_OF_BIRTH>
        <INDIVIDUAL_DATE_OF_BIRTH><TYPE_OF_DATE>EXACT</TYPE_OF_DATE><NOTE>Nov. 1965 </NOTE></INDIVIDUAL_DATE_OF_BIRTH>
        <INDIVIDUAL_DATE_OF_BIRTH><TYPE_OF_DATE></TYPE_OF_DATE></INDIVIDUAL_DATE_OF_BIRTH></INDIVIDUAL>`)
    )
    const names = ["IVO PETER ZEBROW", "إيفو", "Ivo", "Iwo", "Zebra", "Zebrov"]
    const dobs = ["1961-02-03", "1962", "1963", "1965-11", "1964-01-02"]
    assert.deepStrictEqual(
      lines,
      names.flatMap((name) => dobs.map((dob) => `SANCTIONS|${name}|${dob}|IR`))
    )
    assert.deepStrictEqual(report, { notPersons: 1, badLines: [], unread: 0, unreadAt: [] })
  })

  it("reads an approximate date as unknown", async () => {
    const { lines, report } = await read(
      un(
        "<INDIVIDUAL><FIRST_NAME>IVO</FIRST_NAME><INDIVIDUAL_DATE_OF_BIRTH><TYPE_OF_DATE>APPROXIMATELY</TYPE_OF_DATE><YEAR>1961</YEAR></INDIVIDUAL_DATE_OF_BIRTH></INDIVIDUAL>"
      )
    )
    assert.deepStrictEqual([lines, report.unreadAt], [["SANCTIONS|IVO||"], ["line 3, dob"]])
  })

  it("leaves out a person without a name if that is allowed", async () => {
    const path = un("<INDIVIDUAL><DATAID>1</DATAID></INDIVIDUAL><INDIVIDUAL><FIRST_NAME>IVO</FIRST_NAME></INDIVIDUAL>")
    assert.include(await refused(path), "line 3: The name is required.")
    assert.deepStrictEqual((await read(path, { badLines: 1 })).report.badLines, ["line 3"])
  })
})

describe("XML", () => {
  const bomb = `<!DOCTYPE export [<!ENTITY a "Ivo"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/hostname">]>`
  const inExport = (body: string) => `<export>${body}</export>`

  it.each([
    ["a document type with entities", `${bomb}${inExport("")}`, "A document type is not taken."],
    [
      "an entity that is not one of XML",
      inExport("<sanctionEntity>&copy;</sanctionEntity>"),
      "Invalid character entity"
    ],
    ["a document that is cut off", '<export><sanctionEntity logicalId="1">', "Unclosed root tag"],
    ["tags that cross", "<export><sanctionEntity></export>", "Unexpected close tag"],
    ["another root", "<html/>", "The root element html is not known: it must be export or CONSOLIDATED_LIST."],
    ["no element", "<!-- -->", "The XML has no element."],
    ["text between the entries", inExport("Ivo"), "There must be no text between the entries."],
    [
      "an entry that is too large",
      inExport(`<sanctionEntity><remark>${"x ".repeat(600_000)}`),
      "An entry may have at most 1048576 characters."
    ],
    [
      "one tag that is too large",
      inExport(`<sanctionEntity a="${"x".repeat(3_000_000)}"/>`),
      "Max buffer length exceeded"
    ],
    [
      "elements too deep",
      inExport(`<sanctionEntity><remark>${"<r>".repeat(50)}`),
      "Elements may be nested 32 deep at most."
    ]
  ])("refuses %s", async (_, text, sentence) => {
    assert.include(await refused(file(text, "xml")), sentence)
  })

  it("is recognised by its first character, whatever the file's name", async () => {
    assert.include(await refused(file("\ufeff \n<html/>", "")), "The root element html is not known")
  })
})

describe("dates and countries", () => {
  it.each([
    ["1961", ["1961"]],
    ["1961-02", ["1961-02"]],
    ["1961-02-03", ["1961-02-03"]],
    ["1961-02-03+01:00", ["1961-02-03"]],
    ["03 Feb 1961", ["1961-02-03"]],
    ["3 February 1961.", ["1961-02-03"]],
    ["Sept. 1961", ["1961-09"]],
    ["1961-1963", ["1961", "1962", "1963"]],
    ["01 Jan 1961 to 31 Dec 1962", ["1961", "1962"]],
    ["between 1961 and 1961", ["1961"]],
    ["1950 to 1960", null],
    ["1963 to 1961", null],
    ["circa 1961", null],
    ["03/04/1961", null],
    ["30 Feb 1961", null],
    ["1961-13", null],
    ["0000", null],
    ["Juneau 1961", null],
    ["Apr 31 1961", null]
  ])("reads the date %j", (text, dates) => assert.deepStrictEqual(readDates(text), dates))

  it.each([
    ["ru", "RU"],
    ["GB-SCT", "GB"],
    ["xk", null],
    ["suhh", null],
    ["Syria", "SY"],
    ["Democratic People's Republic of Korea", "KP"],
    ["Korea, South", "KR"],
    ["The Gambia", "GM"],
    ["Bosnia and Herzegovina", "BA"],
    ["Türkiye", "TR"],
    ["Congo", "CG"],
    ["Congo, Democratic Republic of the", "CD"],
    ["United States", "US"],
    ["former Soviet Union", null],
    ["", null]
  ])("reads the country %j", (text, country) => assert.strictEqual(readCountry(text), country))
})
