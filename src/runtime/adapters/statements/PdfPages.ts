/** Draws the pages of a statement's PDF: title block, notes, tables and footers, with tags up to a size limit (STS-31). */
// oxlint-disable-next-line import/no-named-as-default
import PDFDocument from "pdfkit"
import { type PdfColumn, pdfTable, tableWidth } from "../../../machines/statement/pdfColumns.ts"
import {
  headLines,
  periodText,
  noteLines,
  type PdfEntry,
  type PdfHeadLine,
  sectionFacts,
  sectionTitle,
  titleOf
} from "../../../machines/statement/pdfTexts.ts"
import type { ModelRow, SectionFacts } from "../../../machines/statement/StatementModel.ts"
import { margin, PageFlow, pageSize, pagesOf, sizes } from "./pageFlow.ts"
import type { JobHead } from "./protocol.ts"
import { type Face, TextPen } from "./TextPen.ts"

type Document = InstanceType<typeof PDFDocument>
type Element = ReturnType<Document["struct"]>

/** Font sizes in points. */
const text = { body: 8, heading: 11, title: 16, firm: 9 } as const
/** The space left and right of a column's content, points. */
const padding = 4
/** Separates two texts of one element for screen readers and copies. */
const apart = " "
/** The text between two references in a cell. */
const separator = ", "
/** Positions in the title block, points: the value after its label, the second entry of a line, and its value. */
const block = { label: 92, second: 440, secondLabel: 62 } as const
/** Positions in a section's facts, points: the width of a label with its figure, and the start of the second fact. */
const fact = { width: 290, second: 440 } as const

export class PdfPages {
  readonly document: Document
  private readonly head: JobHead
  private readonly lines: ReadonlyArray<PdfHeadLine>
  private readonly notes: ReadonlyArray<string>
  private readonly pages: number
  private readonly isTagged: boolean
  private readonly flow: PageFlow
  private readonly root: Element
  private readonly pen: TextPen
  private table: Element | null = null
  /** The heights of the thin lines to draw under the rows of this page. */
  private rules: Array<number> = []

  constructor(head: JobHead, isTagged: boolean) {
    const { skeleton, version, sha256 } = head
    this.head = head
    this.lines = headLines(skeleton, head.renderer, version, sha256)
    this.notes = noteLines(skeleton.notes)
    this.pages = pagesOf(skeleton, head.counts, this.lines.length, this.notes.length)
    this.isTagged = isTagged
    this.document = documentOf(head)
    this.pen = new TextPen(this.document, pageSize.height, head.renderer > 2)
    this.root = this.document.struct("Document")
    this.document.addStructure(this.root)
    this.flow = new PageFlow(skeleton, {
      newPage: (number, section) => this.newPage(number, section),
      title: (y) => this.title(y),
      headLine: (y, index) => this.headLine(y, index),
      noteLine: (y, index) => this.paragraph("P", this.notes[index] ?? "", y, text.body, "body"),
      heading: (y, section) => this.paragraph("H2", sectionTitle(this.facts(section)), y + 9, text.heading, "bold"),
      factLine: (y, section, index, behind) => this.factLine(y, section, index, behind),
      tableHead: (y, section) => this.tableHead(y, section),
      noRows: (y) => this.paragraph("P", "No entries.", y, text.body, "body")
    })
  }

  begin(): void {
    this.flow.begin(this.lines.length, this.notes.length)
  }

  section(section: number): void {
    this.flow.section(section, (this.head.counts[section] ?? 0) === 0)
  }

  endSection(section: number): void {
    this.endTable()
    this.flow.endSection(section)
  }

  row(section: number, row: ModelRow): void {
    const y = this.flow.row(section)
    this.rules.push(y + this.flow.rowHeight(section))
    const { columns } = pdfTable(this.facts(section).name)
    const draw = (column: PdfColumn, at: number) => this.cell(column, row, at + padding, y + sizes.rowPadding / 2)
    if (this.isTagged) {
      const cells: Array<Element> = []
      eachColumn(columns, (column, x) => void cells.push(this.tagged("TD", () => draw(column, x))))
      this.table?.add(this.document.struct("TR", {}, cells))
    } else this.pen.asOne(() => eachColumn(columns, draw))
  }

  /** Ends the document. `model`: the canonical text of the statement's model to attach; null attaches none. */
  end(model: string | null): void {
    this.endTable()
    if (model !== null) {
      const at = new Date(this.head.skeleton.periodTo)
      this.document.file(Buffer.from(model), {
        name: "model.json",
        type: "application/json",
        description: "What the statement says, in canonical form",
        relationship: "Data",
        creationDate: at,
        modifiedDate: at
      } as never)
    }
    this.root.end()
    this.document.end()
  }

  private facts(section: number): SectionFacts {
    const found = this.head.skeleton.sections[section]
    if (found === undefined) throw new Error("a row of no section")
    return found
  }

  private newPage(number: number, section: number | null): void {
    // A tagged table is one element over all its pages; an untagged one is a new element on each page.
    if (this.isTagged) this.drawRules()
    else this.endTable()
    this.document.addPage()
    this.artifact("Pagination", () => {
      this.footer(number)
      if (number > 1) this.running(section)
    })
  }

  private footer(number: number): void {
    const { version, sha256 } = this.head
    const y = pageSize.height - margin - sizes.line
    this.rule(y - 4, 0.5)
    this.pen.write(
      `statement ${version.statementId}, version ${version.version}, sha256 ${sha256}`,
      "body",
      text.body,
      margin,
      y
    )
    this.rightText(`page ${number} of ${this.pages}`, "body", margin + tableWidth, y)
  }

  /** Draws the running header of the pages after the first. */
  private running(section: number | null): void {
    const { skeleton, renderer } = this.head
    const period = periodText(skeleton, renderer)
    this.pen.write(`${titleOf(skeleton.kind)}, ${skeleton.clientUid}, ${period}`, "body", text.body, margin, margin)
    if (section !== null)
      this.rightText(`${sectionTitle(this.facts(section))} (continued)`, "body", margin + tableWidth, margin)
  }

  private title(y: number): void {
    const { name, legalEntity } = this.head.skeleton.firm
    const firm = name === legalEntity ? name : `${name} (${legalEntity})`
    this.paragraph("P", this.pen.fitted(firm, "bold", text.firm, tableWidth), y, text.firm, "bold")
    this.paragraph("H1", titleOf(this.head.skeleton.kind), y + sizes.firm, text.title, "bold")
  }

  private headLine(y: number, index: number): void {
    const [first, second] = this.lines[index] ?? []
    const room = second === undefined ? tableWidth : block.second
    if (first !== undefined) this.entry(first, margin, block.label, room - block.label - padding, y)
    if (second === undefined) return
    this.entry(second, margin + block.second, block.secondLabel, tableWidth - block.second - block.secondLabel, y)
  }

  private entry({ label, text: value }: PdfEntry, x: number, labelWidth: number, room: number, y: number): void {
    this.root.add(
      this.tagged("P", () => {
        this.pen.write(`${label}${apart}`, "bold", text.body, x, y)
        this.pen.writeWithin(value, "body", text.body, x + labelWidth, y, room)
      })
    )
  }

  private factLine(y: number, section: number, index: number, behind: boolean): void {
    const { before, after } = sectionFacts(this.facts(section))
    for (const [at, { label, text: figure }] of (behind ? after : before).slice(index, index + 2).entries()) {
      const x = margin + at * fact.second
      this.root.add(
        this.tagged("P", () => {
          this.pen.write(`${label}${apart}`, "bold", text.body, x, y)
          this.rightText(figure, "body", x + fact.width, y)
        })
      )
    }
  }

  private tableHead(y: number, section: number): void {
    const isFirst = this.table === null
    if (this.table === null) {
      this.table = this.document.struct("Table")
      this.root.add(this.table)
    }
    const height = this.flow.headHeight(section)
    this.artifact("Layout", () => {
      this.pen.shade(margin, y, tableWidth, height)
      this.rule(y + height, 0.5)
    })
    const { columns } = pdfTable(this.facts(section).name)
    if (this.isTagged && isFirst) {
      const cells: Array<Element> = []
      eachColumn(
        columns,
        (column, x) => void cells.push(this.tagged("TH", () => this.titles(column, x, y), { scope: "Column" }))
      )
      this.table.add(this.document.struct("TR", {}, cells))
    } else this.artifact("Layout", () => eachColumn(columns, (column, x) => this.titles(column, x, y)))
    // An untagged table gets one mark for each page, and none for each row.
    if (!this.isTagged) this.table.add(this.document.markStructureContent("Table"))
  }

  private titles({ titles, width, align }: PdfColumn, x: number, y: number): void {
    for (const [line, words] of titles.entries()) {
      const title = line + 1 < titles.length ? `${words}${apart}` : words
      const at = y + sizes.headPadding / 2 + line * sizes.rowLine
      if (align === "right") this.rightText(title, "bold", x + width - padding, at)
      else this.pen.write(title, "bold", text.body, x + padding, at)
    }
  }

  /** Draws one cell: the text of a row in a column, aligned and cut into lines as the column requires. */
  private cell(column: PdfColumn, row: ModelRow, x: number, y: number): void {
    const { lines, width, align, wide, parts } = column
    const room = width - 2 * padding
    if (parts !== undefined && this.head.renderer > 2) return this.inTwoLines(parts(row), x, y, room)
    if (wide === "flow") {
      const whole = lines[0]?.(row) ?? ""
      const first = this.pen.split(whole, "body", text.body, room)
      this.pen.write(`${first}${apart}`, "body", text.body, x, y)
      const rest = this.pen.fitted(whole.slice(first.length).trimStart(), "body", text.body, room)
      return this.pen.write(rest, "body", text.body, x, y + sizes.rowLine)
    }
    for (const [line, textOf] of lines.entries()) {
      const value = textOf(row)
      const at = y + line * sizes.rowLine
      if (value === "") continue
      const shown = wide === "cut" ? this.pen.fitted(value, "body", text.body, room) : value
      const words = line + 1 < lines.length ? `${shown}${apart}` : shown
      if (wide === "cut") this.pen.write(words, "body", text.body, x, at)
      else if (align === "left") this.pen.writeWithin(words, "body", text.body, x, at, room)
      else this.rightText(words, "body", x + room, at, room)
    }
  }

  /**
   * Never breaks a text. Uses two lines of similar length if one line is too short, and narrows a line that is still too wide.
   */
  private inTwoLines(parts: ReadonlyArray<string>, x: number, y: number, room: number): void {
    const widest = (lines: ReadonlyArray<string>) =>
      Math.max(...lines.map((line) => this.pen.widthOf(line, "body", text.body)))
    const whole = [parts.join(separator)]
    const broken = parts
      .slice(1)
      .map((_, at) => [`${parts.slice(0, at + 1).join(separator)},${apart}`, parts.slice(at + 1).join(separator)])
    const lines = widest(whole) <= room ? whole : (broken.toSorted((a, b) => widest(a) - widest(b))[0] ?? whole)
    for (const [line, words] of lines.entries())
      this.pen.writeWithin(words, "body", text.body, x, y + line * sizes.rowLine, room)
  }

  private rightText(words: string, face: Face, right: number, y: number, room = tableWidth): void {
    this.pen.writeUpTo(words, face, text.body, right, y, room)
  }

  private endTable(): void {
    if (this.table !== null) {
      if (!this.isTagged) this.document.endMarkedContent()
      this.table.end()
      this.table = null
    }
    this.drawRules()
  }

  /** Draws a thin rule under each row of the page, all of them at once. */
  private drawRules(): void {
    if (this.rules.length === 0) return
    const rules = this.rules.splice(0)
    this.artifact("Layout", () => {
      for (const y of rules) this.rule(y, 0.25)
    })
  }

  private rule(y: number, width: number): void {
    this.pen.line(margin, margin + tableWidth, y, width)
  }

  private artifact(type: "Pagination" | "Layout", draw: () => void): void {
    this.document.markContent("Artifact", { type })
    draw()
    this.document.endMarkedContent()
  }

  private paragraph(type: string, words: string, y: number, size: number, name: Face): void {
    this.root.add(this.tagged(type, () => this.pen.write(words, name, size, margin, y)))
  }

  private tagged(type: string, draw: () => void, options: object = {}): Element {
    const { document } = this
    const content = document.markStructureContent(type)
    draw()
    document.endMarkedContent()
    return document.struct(type as never, options, [content] as never)
  }
}

/** Calls `work` for each column with the x at which the column starts, points. */
const eachColumn = (columns: ReadonlyArray<PdfColumn>, work: (column: PdfColumn, x: number) => void): void => {
  let x = margin
  for (const column of columns) {
    work(column, x)
    x += column.width
  }
}

/** The empty document. Its metadata holds only constants, ids and the hash: pdfkit writes it into XML without escapes. */
const documentOf = ({ skeleton, version, sha256, renderer }: JobHead): Document => {
  const at = new Date(skeleton.periodTo)
  return new PDFDocument({
    size: [pageSize.width, pageSize.height],
    margin: 0,
    autoFirstPage: false,
    pdfVersion: "1.7",
    subset: "PDF/A-3a",
    tagged: true,
    lang: "en",
    displayTitle: true,
    font: null as never,
    info: {
      Title: `${skeleton.kind} statement of ${skeleton.clientUid}`,
      Author: "Statement service",
      Subject: `statement ${version.statementId} version ${version.version}`,
      Keywords: `sha256 ${sha256}`,
      Creator: `renderer ${renderer}`,
      Producer: "Statement service",
      CreationDate: at,
      ModDate: at
    }
  })
}
