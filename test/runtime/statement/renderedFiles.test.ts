/**
 * PDF and CSV of every kind, read back by common readers: every figure, the tags, the fonts, the structure, the
 * attachment (STS-30, STS-31). Empty, with one row, over several pages, with the widest figures and hostile texts.
 */
import { assert, describe, it } from "@effect/vitest"
import canonicalize from "canonicalize"
import { type PdfTable, pdfTable } from "../../../src/machines/statement/pdfColumns.ts"
import { figureText, sectionFacts, titleOf } from "../../../src/machines/statement/pdfTexts.ts"
import { type StatementKind, statementKinds } from "../../../src/machines/statement/statementTokens.ts"
import { csvColumns } from "../../../src/machines/statement/statementCsv.ts"
import { renderCsv } from "../../../src/runtime/adapters/statements/renderCsv.ts"
import { renderPdf } from "../../../src/runtime/adapters/statements/renderPdf.ts"
import { isDeep, played } from "../../support/every.ts"
import { parseCsv } from "../../support/parseCsv.ts"
import { attachedModel, pdfTools, withPdf } from "../../support/pdfTools.ts"
import { hasTool, skipNote } from "../../support/tools.ts"
import { hostileTexts, renderedBy, type SampleStatement, sampleStatement } from "../../support/sampleStatements.ts"

const cases = statementKinds.flatMap((kind) => [0, 1, 60].map((rows) => ({ kind, rows })))
/** `npm test` plays each kind over several pages, and one kind at each size. */
const pdfCases = played({
  usual: cases.filter(({ kind, rows }) => kind === "ACCOUNT" || rows === 60),
  deep: cases
})
/** Cases of a few rows, because each row has many tags. */
const fewCases = statementKinds.flatMap((kind) => [0, 1, 12].map((rows) => ({ kind, rows })))
const tagCases = played({
  usual: fewCases.filter(({ kind, rows }) => kind === "ACCOUNT" || rows === 1),
  deep: fewCases
})
const reading = `read back${skipNote(...pdfTools)}`

/** Figures with decimal places: no time, id, hash or page number has this form. */
const figuresIn = (text: string): ReadonlyArray<string> =>
  text.split(/\s+/).filter((word) => /^-?[0-9]{1,3}(,[0-9]{3})*\.[0-9]+$/.test(word))

const shownBy = ({ columns }: PdfTable, rows: SampleStatement["sections"][number]["rows"]): ReadonlyArray<string> =>
  rows.flatMap((row) => columns.flatMap(({ lines }) => lines.map((say) => say(row))))

const figuresOf = ({ sections }: SampleStatement): ReadonlyArray<string> =>
  sections.flatMap(({ facts, rows }) => {
    const { before, after } = sectionFacts(facts)
    const shown = [...before, ...after].map(({ text }) => text)
    return figuresIn([...shown, ...shownBy(pdfTable(facts.name), rows)].join(" "))
  })

/** Every figure of the model's rows, as written in the PDF: none may be missing. */
const figuresOfModel = ({ sections }: SampleStatement): ReadonlyArray<string> =>
  sections.flatMap(({ rows }) => figuresIn(rows.flatMap((row) => Object.values(row).map(figureText)).join(" ")))

const counted = (words: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const found = new Map<string, number>()
  for (const word of words) found.set(word, (found.get(word) ?? 0) + 1)
  return found
}

describe.skipIf(!pdfTools.every(hasTool))(`PDF, ${reading}`, () => {
  it.each(pdfCases)(
    "STS-31: $kind of $rows rows: figures, pages, hash, tags, fonts, structure, model",
    async (each) => {
      const statement = sampleStatement(each.kind, each.rows, { second: each.rows === 60 })
      const { head, model } = statement
      const bytes = await renderedBy(renderPdf, statement)
      assert.isTrue(bytes.equals(await renderedBy(renderPdf, statement)), "the same bytes again")
      withPdf(bytes, (run) => {
        run("qpdf", "--check", "{}")
        const pages = run("pdftotext", "-layout", "{}", "-").split("\f").slice(0, -1)
        assert.include(run("pdfinfo", "{}"), `Pages:           ${pages.length}\n`)
        for (const [at, page] of pages.entries()) {
          assert.include(page, `page ${at + 1} of ${pages.length}`)
          assert.match(page, new RegExp(`statement ${head.version.statementId}, version [12], sha256 ${head.sha256}`))
          if (at > 0) assert.include(page, `${titleOf(each.kind)}, DEMO-00000001, 2026-01-01`)
        }
        const text = pages.join("\n")
        assert.deepStrictEqual(counted(figuresIn(text)), counted(figuresOf(statement)), "every figure, and no other")
        const shown = counted(figuresIn(text))
        for (const [figure, times] of counted(figuresOfModel(statement)))
          assert.isAtLeast(shown.get(figure) ?? 0, times, figure)
        for (const line of [
          "Partner Brokerage (Partner Brokerage Ltd)",
          "DEMO-00000001",
          "2026-04-01 00:00:00.000 UTC"
        ])
          assert.include(text, line)
        const fonts = run("pdffonts", "{}").trim().split("\n").slice(2)
        assert.lengthOf(fonts, 2)
        for (const font of fonts) assert.match(font, /DejaVuSansCondensed\S* +CID TrueType +Identity-H +yes yes yes/)
      })
      assert.strictEqual(attachedModel(bytes), model)
    }
  )

  it.each(tagCases)(
    "STS-31: $kind of $rows rows: tags name titles, tables, heads with their scope, and cells",
    async (each) => {
      const statement = sampleStatement(each.kind, each.rows)
      // With the texts of the tags the tool takes hundreds of times as long as with their names. The title is the same
      // for any number of rows.
      const what = each.rows === 0 ? "-struct-text" : "-struct"
      const tags = withPdf(await renderedBy(renderPdf, statement), (run) => run("pdfinfo", what, "{}"))
      const count = (tag: RegExp) => [...tags.matchAll(tag)].length
      const tables = statement.sections.filter(({ rows }) => rows.length > 0)
      const cells = tables.reduce((sum, { facts, rows }) => sum + rows.length * pdfTable(facts.name).columns.length, 0)
      const heads = tables.reduce((sum, { facts }) => sum + pdfTable(facts.name).columns.length, 0)
      const rows = tables.reduce((sum, section) => sum + section.rows.length + 1, 0)
      assert.deepStrictEqual(
        [/^Document/gm, /^ +H1/gm, /^ +H2/gm, /^ +Table/gm, /^ +TR/gm, /^ +TH/gm, /\/Scope \/Column/gm, /^ +TD/gm].map(
          count
        ),
        [1, 1, statement.sections.length, tables.length, rows, heads, heads, cells]
      )
      if (each.rows === 0) assert.match(tags, new RegExp(`H1 \\(block\\)\\s+"${titleOf(each.kind)}"`))
    }
  )

  it("STS-31: hostile texts are drawn, and reach neither structure nor metadata", async () => {
    const statement = sampleStatement("ACCOUNT", hostileTexts.length, { firm: `${hostileTexts.join("")}\\)<<>>` })
    const bytes = await renderedBy(renderPdf, statement)
    withPdf(bytes, (run) => {
      run("qpdf", "--check", "{}")
      const text = run("pdftotext", "-layout", "{}", "-")
      for (const drawn of [
        "=cmd|' /C calc'!A0",
        '"quoted", and, commas',
        "</rdf:li><x>&amp;",
        "(unbalanced \\ parenthesis"
      ])
        assert.include(text, drawn)
      // Characters that turn the direction of writing, break a line or are missing in the fonts are visibly replaced.
      assert.include(text, "\uFFFDgnp.exe")
      assert.include(text, "line\uFFFDbreak\uFFFDtab")
      const meta = run("pdfinfo", "-meta", "{}")
      assert.notInclude(meta, "calc")
      assert.strictEqual([...meta.matchAll(/<rdf:li/g)].length, [...meta.matchAll(/<\/rdf:li>/g)].length)
    })
    assert.strictEqual(attachedModel(bytes), statement.model, "and are exact in the model")
  })

  /**
   * The text that a PDF reader extracts from the page, without the direction marks that the tool puts around right-to-left text.
   */
  const readFrom = (bytes: Buffer): string =>
    withPdf(bytes, (run) => run("pdftotext", "-raw", "{}", "-")).replaceAll(/\p{Bidi_Control}/gu, "")

  it("STS-31: text that is written from right to left is drawn in reading order", async () => {
    const references = ["שלום עולם 123", "Invoice رقم of May"]
    const statement = sampleStatement("ACCOUNT", references.length, { references })
    const text = readFrom(await renderedBy(renderPdf, statement))
    // The tool extracts the words of a line from left to right, and each word in reading order.
    for (const words of ["123 עולם שלום", "Invoice رقم of May"]) assert.include(text, words)
  })

  it("STS-31: references are complete, however long, and no line break divides one", async () => {
    const references = [
      `FIRST-${"0123456789".repeat(5)}`,
      `WIDE-${"W".repeat(59)}`,
      Array.from({ length: 12 }, (_, at) => `word${at}`).join(" ")
    ]
    const statement = sampleStatement("ACCOUNT", references.length, { references })
    const text = readFrom(await renderedBy(renderPdf, statement))
    for (const reference of references) assert.include(text, reference)
    assert.notInclude(text, "…")
  })

  it(
    "STS-31: above 20,000 rows nothing is attached, a page is one element, and every figure is present",
    { timeout: 120_000 },
    async () => {
      const statement = sampleStatement("COSTS", 20_001)
      const bytes = await renderedBy(renderPdf, statement)
      withPdf(bytes, (run) => {
        run("qpdf", "--check", "{}")
        assert.include(run("pdfdetach", "-list", "{}"), "0 embedded files")
        const pages = Number(/^Pages: +(\d+)$/m.exec(run("pdfinfo", "{}"))?.[1])
        const textOf = (from: number, to: number) =>
          run("pdftotext", "-layout", "-f", String(from), "-l", String(to), "{}", "-")
        const inRows = statement.sections.flatMap(({ facts, rows }) =>
          figuresIn(shownBy(pdfTable(facts.name), rows).join(" "))
        )
        const others = figuresOf(statement).length - inRows.length
        const assertShown = (text: string, rows: (count: number) => ReadonlyArray<string>) => {
          const shown = figuresIn(text)
          assert.isAbove(shown.length, others)
          const found = counted(shown)
          for (const [figure, times] of counted(rows(shown.length - others)))
            assert.isAtLeast(found.get(figure) ?? 0, times, figure)
        }
        const end = textOf(pages - 9, pages)
        assert.include(end, `page ${pages} of ${pages}`)
        assertShown(textOf(1, 10), (count) => inRows.slice(0, count))
        assertShown(end, (count) => inRows.slice(-count))
        // The tool needs many seconds of a processor for all pages.
        if (isDeep) assert.deepStrictEqual(counted(figuresIn(textOf(1, pages))), counted(figuresOf(statement)))
      })
    }
  )
})

describe("CSV, read back by a strict parser", () => {
  const textOf = (value: unknown, kind: string): string => {
    if (value === null || value === undefined) return ""
    if (kind === "time") return new Date(value as number).toISOString()
    const plain = typeof value === "object" ? (canonicalize(value) ?? "") : String(value)
    return kind === "text" && /^[=+\-@\t\r]/.test(plain) ? `'${plain}` : plain
  }
  /** The expected lines, by the model's own fields. */
  const expected = (kind: StatementKind, { head, sections }: SampleStatement) =>
    sections.flatMap(({ facts, rows }) => {
      const common = {
        section: facts.name,
        firm: head.skeleton.firm.name,
        clientUid: head.skeleton.clientUid,
        ...(facts["currency"] === undefined ? {} : { currency: facts["currency"] }),
        ...(facts["counterparty"] === undefined ? {} : { counterparty: facts["counterparty"] })
      }
      const edge = (name: "opening" | "closing", ts: number) =>
        Object.entries((facts[name] as object | undefined) ?? {}).map(([of, balance]) => ({
          ts,
          type: name.toUpperCase(),
          kind: of,
          balance
        }))
      const all: ReadonlyArray<object> = [
        ...edge("opening", head.skeleton.periodFrom),
        ...rows,
        ...edge("closing", head.skeleton.periodTo - 1)
      ]
      return all.map((row) =>
        csvColumns[kind].map((column) =>
          textOf(({ ...common, ...row } as Record<string, unknown>)[column.name], column.kind)
        )
      )
    })

  it.each(cases)("STS-30: $kind of $rows rows equals the model", async ({ kind, rows }) => {
    const statement = sampleStatement(kind, rows, { firm: '=Firm, "the" one' })
    const [titles, ...lines] = parseCsv((await renderedBy(renderCsv, statement)).toString("utf8"))
    assert.deepStrictEqual(
      titles,
      csvColumns[kind].map(({ name }) => name)
    )
    assert.deepStrictEqual(lines, expected(kind, statement))
  })
})
