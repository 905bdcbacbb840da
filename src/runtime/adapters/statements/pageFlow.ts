/**
 * How a statement flows over pages (STS-31): all heights are fixed, so the number of pages is known before the first row is drawn,
 * and drawing walks the same way as counting.
 */
import { factLines, pdfTable } from "../../../machines/statement/pdfColumns.ts"
import type { Skeleton } from "../../../machines/statement/StatementModel.ts"

/** Points. */
export const pageSize = { width: 841.89, height: 595.28 }
export const margin = 36
export const sizes = {
  title: 24,
  heading: 20,
  line: 11,
  tableHead: 14,
  rowLine: 11,
  rowGap: 3,
  footer: 30
} as const

const top = margin
const bottom = pageSize.height - margin - sizes.footer

/** What is told of each place as it is reached; a page is begun before anything is put on it. */
export interface Painter {
  readonly newPage: (number: number) => void
  readonly title: (y: number) => void
  readonly headLine: (y: number, index: number) => void
  readonly heading: (y: number, section: number) => void
  readonly factLine: (y: number, section: number, index: number) => void
  readonly tableHead: (y: number, section: number) => void
}

/** Nothing is drawn: the pages are counted. */
export const counting: Painter = {
  newPage: () => {},
  title: () => {},
  headLine: () => {},
  heading: () => {},
  factLine: () => {},
  tableHead: () => {}
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

  begin(headLines: number): void {
    this.turn()
    this.painter.title(this.y)
    this.y += sizes.title
    for (let index = 0; index < headLines; index++) {
      this.room(sizes.line)
      this.painter.headLine(this.y, index)
      this.y += sizes.line
    }
  }

  section(section: number): void {
    const facts = this.skeleton.sections[section]
    if (facts === undefined) return
    this.room(sizes.heading + sizes.line + sizes.tableHead + this.rowHeight(section))
    this.painter.heading(this.y, section)
    this.y += sizes.heading
    for (let index = 0; index < factLines(facts).length; index++) {
      this.room(sizes.line)
      this.painter.factLine(this.y, section, index)
      this.y += sizes.line
    }
    this.room(sizes.tableHead + this.rowHeight(section))
    this.head(section)
  }

  /** Where the next row of a section goes; a new page where none is left for it. */
  row(section: number): number {
    const height = this.rowHeight(section)
    if (this.y + height > bottom) {
      this.turn()
      this.head(section)
    }
    const at = this.y
    this.y += height
    return at
  }

  rowHeight(section: number): number {
    const name = this.skeleton.sections[section]?.name ?? ""
    return pdfTable(name).lines * sizes.rowLine + sizes.rowGap
  }

  private head(section: number): void {
    this.painter.tableHead(this.y, section)
    this.y += sizes.tableHead
  }

  private room(height: number): void {
    if (this.y + height > bottom) this.turn()
  }

  private turn(): void {
    this.pages++
    this.painter.newPage(this.pages)
    this.y = top
  }
}

/** Pages that a statement takes. */
export const pagesOf = (skeleton: Skeleton, counts: ReadonlyArray<number>, headLines: number): number => {
  const flow = new PageFlow(skeleton, counting)
  flow.begin(headLines)
  for (const [section] of skeleton.sections.entries()) {
    flow.section(section)
    for (let row = 0; row < (counts[section] ?? 0); row++) flow.row(section)
  }
  return flow.pages
}
