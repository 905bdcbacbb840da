/** Cells and lines of statements as CSV (A2-74, STS-30; CSV golden cases), read back by a strict parser. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { csvCell, csvColumns, csvEdges, csvHead, csvLine } from "../../../src/machines/statement/statementCsv.ts"
import { parseCsv } from "../../support/parseCsv.ts"

describe("cells", () => {
  it("CSV-001: quotes where RFC 4180 demands them", () =>
    assert.strictEqual(
      ["aaa", "b\r\nbb", "ccc", 'a"b', "x,y"].map((cell) => csvCell(cell, "text")).join(","),
      'aaa,"b\r\nbb",ccc,"a""b","x,y"'
    ))

  it.each(["=1+1", "+1", "-1", "@x", "\tx", "\rx"])("STS-30: the text %j gets an apostrophe", (text) =>
    assert.include(csvCell(text, "text"), `'${text}`)
  )

  it("STS-30: numbers, times and ids never get one: a negative amount stays a number", () => {
    assert.strictEqual(csvCell("-12.500000", "number"), "-12.500000")
    for (const ts of [
      0, 5, -1, 86_399_999, 86_400_000, 1_772_323_199_999, 1_772_323_200_000, 3_661_007, 253_402_300_800_000
    ])
      assert.strictEqual(csvCell(ts, "time"), new Date(ts).toISOString())
    assert.strictEqual(csvCell(-7, "id"), "-7")
    assert.strictEqual(csvCell(-7, "text"), "'-7")
    assert.strictEqual(csvCell(null, "number"), "")
  })
})

describe("lines", () => {
  const text = fc.string({ unit: "binary" }).filter((each) => each.isWellFormed())
  it("STS-30: a strict parser reads back any texts", () =>
    fc.assert(
      fc.property(text, text, (type, refs) => {
        const columns = csvColumns.ACCOUNT
        const lines = parseCsv(csvHead(columns) + csvLine(columns, {}, { type, amount: "-1.000000", ts: 5 }, refs))
        assert.deepStrictEqual(
          lines[0],
          columns.map(({ name }) => name)
        )
        const shown = (given: string) => (/^[=+\-@\t\r]/.test(given) ? `'${given}` : given)
        assert.deepStrictEqual(lines[1], [
          "1970-01-01T00:00:00.005Z",
          "",
          "",
          shown(type),
          "-1.000000",
          "",
          "",
          "",
          "",
          shown(refs)
        ])
      })
    ))

  it("STS-30: holdings at the beginning and at the end, by kind, without amount", () => {
    const head = { periodFrom: 1000, periodTo: 2000 } as never
    const section = { name: "ACCOUNT", opening: { cash: "1", reserved: "2" }, closing: { cash: "3", reserved: "4" } }
    assert.deepStrictEqual(csvEdges(head, section, "OPENING"), [
      { ts: 1000, type: "OPENING", kind: "cash", balance: "1" },
      { ts: 1000, type: "OPENING", kind: "reserved", balance: "2" }
    ])
    assert.deepStrictEqual(csvEdges(head, section, "CLOSING")[1], {
      ts: 1999,
      type: "CLOSING",
      kind: "reserved",
      balance: "4"
    })
    assert.deepStrictEqual(csvEdges(head, { name: "COSTS" }, "CLOSING"), [])
  })
})
