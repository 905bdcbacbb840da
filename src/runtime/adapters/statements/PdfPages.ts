/** Draws the pages of a statement's PDF: titles, facts, tables and footers, tagged where that is affordable (STS-31). */
// oxlint-disable-next-line import/no-named-as-default
import PDFDocument from "pdfkit"
import {
  factLines,
  inWords,
  momentText,
  type PdfColumn,
  pdfTable,
  tableWidth
} from "../../../machines/statement/pdfColumns.ts"
import type { ModelRow } from "../../../machines/statement/StatementModel.ts"
import { margin, PageFlow, pageSize, sizes } from "./pageFlow.ts"
import type { JobHead } from "./protocol.ts"
import { type Face, TextPen } from "./TextPen.ts"

type Document = InstanceType<typeof PDFDocument>
type Element = ReturnType<Document["struct"]>

const text = { body: 8, heading: 11, title: 15, footer: 8 } as const
const gap = 4

/** Characters of a line of a note. */
const noteLength = 150

/** What stands under the title: whose statement it is, over which period, and what holds for all of it. */
export const headLines = ({ skeleton, version, sha256 }: JobHead): ReadonlyArray<string> => [
  `Firm: ${skeleton.firm.name} (${skeleton.firm.legalEntity})`,
  `Partner: ${skeleton.partner}; client: ${skeleton.clientUid}; custody: ${skeleton.custodyModel}`,
  `Period: ${momentText(skeleton.periodFrom)} up to ${momentText(skeleton.periodTo)}, ${skeleton.timeZone}; currency: ${skeleton.currency}`,
  `Statement ${version.statementId}, version ${version.version}; SHA-256 of its model: ${sha256}`,
  ...(version.supersedes === null
    ? []
    : [
        `In place of statement ${version.supersedes.statementId}, version ${version.supersedes.version}, ${version.supersedes.sha256}`
      ]),
  ...(skeleton.ledgerSeal === null
    ? ["Ledger: no posting"]
    : [`Ledger: posting ${skeleton.cut.postingId} in seal ${skeleton.ledgerSeal.number}, ${skeleton.ledgerSeal.hash}`]),
  ...skeleton.notes.flatMap(wrapped)
]

const wrapped = (note: string): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  for (const word of note.split(" ")) {
    if (line !== "" && line.length + word.length >= noteLength) {
      lines.push(line)
      line = ""
    }
    line += line === "" ? word : ` ${word}`
  }
  return [...lines, line]
}

export class PdfPages {
  readonly document: Document
  private readonly head: JobHead
  private readonly lines: ReadonlyArray<string>
  private readonly pages: number
  private readonly isTagged: boolean
  private readonly flow: PageFlow
  private readonly root: Element
  private readonly pen: TextPen
  private table: Element | null = null

  constructor(head: JobHead, lines: ReadonlyArray<string>, pages: number, isTagged: boolean) {
    this.head = head
    this.lines = lines
    this.pages = pages
    this.isTagged = isTagged
    const at = new Date(head.skeleton.periodTo)
    this.document = new PDFDocument({
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
        Title: `${head.skeleton.kind} statement of ${head.skeleton.clientUid}`,
        Author: "Statement service",
        Subject: `statement ${head.version.statementId} version ${head.version.version}`,
        Keywords: `sha256 ${head.sha256}`,
        Creator: `renderer ${head.renderer}`,
        Producer: "Statement service",
        CreationDate: at,
        ModDate: at
      }
    })
    this.pen = new TextPen(this.document, pageSize.height)
    this.root = this.document.struct("Document")
    this.document.addStructure(this.root)
    this.flow = new PageFlow(head.skeleton, {
      newPage: (number) => this.newPage(number),
      title: (y) => this.paragraph("H1", this.title, y, text.title, "bold"),
      headLine: (y, index) => this.paragraph("P", this.lines[index] ?? "", y, text.body, "body"),
      heading: (y, section) => this.heading(y, section),
      factLine: (y, section, index) =>
        this.paragraph("P", factLines(this.facts(section))[index] ?? "", y, text.body, "body"),
      tableHead: (y, section) => this.tableHead(y, section)
    })
  }

  begin(): void {
    this.flow.begin(this.lines.length)
  }

  section(section: number): void {
    this.flow.section(section)
  }

  row(section: number, row: ModelRow): void {
    const y = this.flow.row(section)
    const cells: Array<Element> = []
    let x = margin
    for (const column of pdfTable(this.facts(section).name).columns) {
      const draw = () => {
        for (const [line, of] of column.lines.entries()) this.cell(of(row), "body", column, x, y + line * sizes.rowLine)
      }
      if (this.isTagged) cells.push(this.tagged("TD", draw))
      else draw()
      x += column.width
    }
    if (this.isTagged) this.table?.add(this.document.struct("TR", {}, cells))
  }

  /** Ends the document, with the model's text attached. */
  end(model: string | null): void {
    this.endTable()
    this.endPage()
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

  private get title(): string {
    return `${inWords(this.head.skeleton.kind.replace("_", " ").toLowerCase())} statement`
  }

  private facts(section: number) {
    const found = this.head.skeleton.sections[section]
    if (found === undefined) throw new Error("a row of no section")
    return found
  }

  private newPage(number: number): void {
    if (number > 1) this.endPage()
    this.document.addPage()
    this.footer(number)
  }

  private endPage(): void {
    if (!this.isTagged) this.endTable()
  }

  private footer(number: number): void {
    const { version, sha256 } = this.head
    const { document } = this
    document.markContent("Artifact", { type: "Pagination" })
    const { pen } = this
    const y = pageSize.height - margin - sizes.line
    const mark = `statement ${version.statementId}, version ${version.version}, sha256 ${sha256}`
    pen.write(mark, "body", text.footer, margin, y)
    const place = `page ${number} of ${this.pages}`
    pen.write(place, "body", text.footer, margin + tableWidth - pen.widthOf(place, "body", text.footer), y)
    document.endMarkedContent()
  }

  private heading(y: number, section: number): void {
    this.endTable()
    const { name, currency } = this.facts(section) as { readonly name: string; readonly currency?: string }
    const words = inWords(name.replace("_", " ").toLowerCase())
    this.paragraph("H2", currency === undefined ? words : `${words} ${currency}`, y + 4, text.heading, "bold")
  }

  private tableHead(y: number, section: number): void {
    const isFirst = this.table === null
    if (this.table === null) {
      this.table = this.document.struct("Table")
      this.root.add(this.table)
    }
    const cells: Array<Element> = []
    const { document } = this
    if (!this.isTagged || !isFirst) document.markContent("Artifact", { type: "Layout" })
    let x = margin
    for (const column of pdfTable(this.facts(section).name).columns) {
      const draw = () => this.cell(column.title, "bold", column, x, y)
      if (this.isTagged && isFirst) cells.push(this.tagged("TH", draw, { scope: "Column" }))
      else draw()
      x += column.width
    }
    if (!this.isTagged || !isFirst) document.endMarkedContent()
    if (this.isTagged && isFirst) this.table.add(document.struct("TR", {}, cells))
    document.markContent("Artifact", { type: "Layout" })
    document
      .moveTo(margin, y + sizes.tableHead - 3)
      .lineTo(margin + tableWidth, y + sizes.tableHead - 3)
      .lineWidth(0.5)
      .stroke()
    document.endMarkedContent()
    if (!this.isTagged) this.openUntagged()
  }

  /** A large statement's table is one piece of content a page. */
  private openUntagged(): void {
    const content = this.document.markStructureContent("Table")
    this.table?.add(content)
  }

  private endTable(): void {
    if (this.table === null) return
    if (!this.isTagged) this.document.endMarkedContent()
    this.table.end()
    this.table = null
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

  /** A text in a column, cut with an ellipsis where it is too long: in full it stands in the model and the CSV. */
  private cell(words: string, face: Face, { width, align }: PdfColumn, x: number, y: number): void {
    if (words === "") return
    const room = width - gap
    const shown = this.pen.fitted(words, face, text.body, room)
    this.pen.write(shown.text, face, text.body, align === "right" ? x + room - shown.width : x, y)
  }
}
