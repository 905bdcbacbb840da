/**
 * The layout of a statement on pages: all heights are fixed, so the number of pages is known before the first row is drawn, and
 * drawing follows the same steps as counting (STS-31).
 */
import { pdfTable } from "../../../machines/statement/pdfColumns.ts"
import { sectionFacts } from "../../../machines/statement/pdfTexts.ts"
import type { SectionFacts, Skeleton } from "../../../machines/statement/StatementModel.ts"

/** Sizes of an A4 page in landscape and of the elements on it, points. */
export const pageSize = { width: 841.89, height: 595.28 }
export const margin = 36
export const sizes = {
  firm: 14,
  title: 28,
  heading: 24,
  line: 11,
  gap: 5,
  headPadding: 5,
  rowLine: 10.5,
  rowPadding: 3.5,
  running: 18,
  footer: 26
} as const

/** The most lines of facts that are kept together on one page. */
const keptLines = 12

const bottom = pageSize.height - margin - sizes.footer

/** Draws the elements of a statement at their places. A page is begun before any element on it is drawn. */
export interface Painter {
  /** `section`: the section whose table continues on the page. */
  readonly newPage: (number: number, section: number | null) => void
  readonly title: (y: number) => void
  readonly headLine: (y: number, index: number) => void
  readonly noteLine: (y: number, index: number) => void
  readonly heading: (y: number, section: number) => void
  /** Draws two facts side by side, the first of them the one at `index`. `behind`: they follow the section's rows. */
  readonly factLine: (y: number, section: number, index: number, behind: boolean) => void
  readonly tableHead: (y: number, section: number) => void
  readonly noRows: (y: number, section: number) => void
}

/** A painter that draws nothing, so that the pages can be counted before the document is made. */
export const counting: Painter = {
  newPage: () => {},
  title: () => {},
  headLine: () => {},
  noteLine: () => {},
  heading: () => {},
  factLine: () => {},
  tableHead: () => {},
  noRows: () => {}
}

export class PageFlow {
  pages = 0
  private y = 0
  private readonly skeleton: Skeleton
  private readonly painter: Painter

  constructor(skeleton: Skeleton, painter: Painter) {
    this.skeleton = skeleton
    this.painter = painter
  }

  begin(headLines: number, noteLines: number): void {
    this.turn(null)
    this.painter.title(this.y)
    this.y += sizes.firm + sizes.title
    for (let index = 0; index < headLines; index++) this.line((y) => this.painter.headLine(y, index))
    this.y += sizes.gap
    for (let index = 0; index < noteLines; index++) this.line((y) => this.painter.noteLine(y, index))
  }

  /** Begins a section: its heading, its facts before the rows, and the head of its table. */
  section(section: number, isEmpty: boolean): void {
    const facts = this.factsOf(section)
    const first = isEmpty ? sizes.line : this.headHeight(section) + this.rowHeight(section)
    const lines = Math.ceil(sectionFacts(facts).before.length / 2)
    this.room(sizes.heading + lines * sizes.line + first)
    this.painter.heading(this.y, section)
    this.y += sizes.heading
    this.facts(section, false)
    if (isEmpty) this.line((y) => this.painter.noRows(y, section))
    else this.head(section)
  }

  /** The y at which the next row of a section is drawn, points. Begins a new page first if the row does not fit. */
  row(section: number): number {
    const height = this.rowHeight(section)
    if (this.y + height > bottom) {
      this.turn(section)
      this.head(section)
    }
    const at = this.y
    this.y += height
    return at
  }

  /** Ends a section with the totals of its rows. */
  endSection(section: number): void {
    this.y += sizes.gap
    const lines = Math.ceil(sectionFacts(this.factsOf(section)).after.length / 2)
    // A few lines of facts stay together on one page; a longer list may continue on the next page.
    if (lines <= keptLines) this.room(lines * sizes.line)
    this.facts(section, true)
  }

  rowHeight(section: number): number {
    return pdfTable(this.factsOf(section).name).lines * sizes.rowLine + sizes.rowPadding
  }

  headHeight(section: number): number {
    return pdfTable(this.factsOf(section).name).lines * sizes.rowLine + sizes.headPadding
  }

  private facts(section: number, behind: boolean): void {
    const facts = sectionFacts(this.factsOf(section))
    const { length } = behind ? facts.after : facts.before
    for (let index = 0; index < length; index += 2) this.line((y) => this.painter.factLine(y, section, index, behind))
  }

  private factsOf(section: number): SectionFacts {
    const found = this.skeleton.sections[section]
    if (found === undefined) throw new Error("a row of no section")
    return found
  }

  private head(section: number): void {
    this.painter.tableHead(this.y, section)
    this.y += this.headHeight(section)
  }

  private line(draw: (y: number) => void): void {
    this.room(sizes.line)
    draw(this.y)
    this.y += sizes.line
  }

  private room(height: number): void {
    if (this.y + height > bottom) this.turn(null)
  }

  private turn(section: number | null): void {
    this.pages++
    this.painter.newPage(this.pages, section)
    this.y = this.pages === 1 ? margin : margin + sizes.running
  }
}

/** The number of pages of a statement, counted by laying out all rows without drawing them. */
export const pagesOf = (
  skeleton: Skeleton,
  counts: ReadonlyArray<number>,
  headLines: number,
  noteLines: number
): number => {
  const flow = new PageFlow(skeleton, counting)
  flow.begin(headLines, noteLines)
  for (const [section] of skeleton.sections.entries()) {
    const rows = counts[section] ?? 0
    flow.section(section, rows === 0)
    for (let row = 0; row < rows; row++) flow.row(section)
    flow.endSection(section)
  }
  return flow.pages
}
