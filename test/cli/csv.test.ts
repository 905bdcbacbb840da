/** Comma-separated values after RFC 4180, strict, however the text is cut (operator surface, screening import). */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { CsvError, CsvReader, writeCsv } from "../../cli/csv.ts"

/** The records of a text that is passed in pieces of one length. */
const read = (text: string, size = 3) => {
  const reader = new CsvReader()
  const records = []
  for (let at = 0; at < text.length; at += size) records.push(...reader.read(text.slice(at, at + size)))
  return [...records, ...reader.end()]
}

const fieldsOf = (text: string, size?: number) => read(text, size).map(({ fields }) => fields)

describe("csv", () => {
  const texts: ReadonlyArray<readonly [title: string, text: string, records: ReadonlyArray<ReadonlyArray<string>>]> = [
    ["nothing", "", []],
    ["a record without line end", "a,b", [["a", "b"]]],
    [
      "CRLF and LF",
      "a,b\r\nc,d\ne,f\n",
      [
        ["a", "b"],
        ["c", "d"],
        ["e", "f"]
      ]
    ],
    [
      "empty fields",
      ",\n,",
      [
        ["", ""],
        ["", ""]
      ]
    ],
    ["an empty line", "a\n\nb\n", [["a"], [""], ["b"]]],
    ["quotes around commas and line ends", '"a,b","c\r\nd"\n', [["a,b", "c\r\nd"]]],
    ["doubled quotes", '"say ""no""",x\n', [['say "no"', "x"]]],
    ["an empty quoted field at the end", 'a,""', [["a", ""]]],
    ["spaces are part of the field", " a , b ", [[" a ", " b "]]],
    ["a byte order mark", "\ufeffa\n", [["a"]]]
  ]
  it.each(texts)("RFC 4180: %s", (_title, text, records) => {
    for (const size of [1, 2, 100]) assert.deepStrictEqual(fieldsOf(text, size), records)
  })

  it("RFC 4180: a record has the number of its first line", () => {
    assert.deepStrictEqual(
      read('h\n"a\nb"\n\nc\n').map(({ line }) => line),
      [1, 2, 4, 5]
    )
  })

  const wrong: ReadonlyArray<readonly [title: string, text: string, line: number]> = [
    ["a quote inside a plain field", 'a\nb"c\n', 2],
    ["text after a closing quote", '"a"b\n', 1],
    ["a quoted field without end", 'a\n"b\nc', 2],
    ["a carriage return alone", "a\rb\n", 1],
    ["a carriage return at the end", "a\r", 1]
  ]
  it.each(wrong)("RFC 4180: %s is an error with its line", (_title, text, line) => {
    for (const size of [1, 100]) {
      try {
        read(text, size)
        assert.fail("it was read")
      } catch (error) {
        assert.instanceOf(error, CsvError)
        assert.strictEqual((error as CsvError).line, line)
      }
    }
  })

  it("RFC 4180: written records read back the same, in pieces of any length", () => {
    const field = fc.string({ unit: fc.constantFrom(...'ab,"\r\n é'), maxLength: 6 })
    fc.assert(
      fc.property(
        fc.array(fc.array(field, { minLength: 1, maxLength: 4 }), { maxLength: 8 }),
        fc.integer({ min: 1, max: 9 }),
        (records, size) => {
          assert.deepStrictEqual(fieldsOf(writeCsv(records), size), records)
        }
      )
    )
  })
})
