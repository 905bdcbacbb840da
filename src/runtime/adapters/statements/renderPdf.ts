/**
 * The PDF of a statement, by renderers 1 to 3. The same record always gives the same bytes. A PDF of up to 20,000 rows is tagged
 * and has the model attached (PDF/A-3a). A longer one has one table element for each page, because tags cost more than the text.
 * A change of any byte requires a new renderer (STS-17, STS-18, STS-31).
 */
import { once } from "node:events"
import { renderers } from "../../../machines/statement/Statement.ts"
import type { Rendering } from "./protocol.ts"
import { PdfPages } from "./PdfPages.ts"
import { rowsOfPiece } from "./pieceRows.ts"

/** Up to this many rows every cell is tagged and the model attached. */
const taggedRows = 20_000
/** The number of bytes that are collected before they are sent. */
const enough = 64 * 1024

export const renderPdf = async ({ head, next, write }: Rendering): Promise<void> => {
  if (!(renderers as ReadonlyArray<number>).includes(head.renderer))
    throw new Error(`there is no renderer ${head.renderer}`)
  const rows = head.counts.reduce((sum, count) => sum + count, 0)
  const isTagged = rows <= taggedRows
  const pages = new PdfPages(head, isTagged)
  const { document } = pages
  const gathered: Array<Buffer> = []
  let size = 0
  document.on("data", (chunk: Buffer) => {
    gathered.push(chunk)
    size += chunk.length
  })
  const send = async (least: number): Promise<void> => {
    if (size < least || size === 0) return
    const bytes = Buffer.concat(gathered.splice(0))
    size = 0
    await write(bytes)
  }
  const model: Array<string> = []
  let section = -1
  pages.begin()
  for (let piece = await next(); piece !== null; piece = await next()) {
    if (isTagged) model.push(piece.content)
    if (piece.section < 0) {
      // This piece of the model separates two sections: in the PDF the earlier section ends, and the next begins.
      if (section >= 0) pages.endSection(section)
      section++
      if (section < head.skeleton.sections.length) pages.section(section)
      continue
    }
    for (const row of rowsOfPiece(piece.content)) {
      pages.row(piece.section, row)
      if (size >= enough) await send(enough)
    }
    await send(enough)
  }
  const ended = once(document, "end")
  pages.end(isTagged ? model.join("") : null)
  await ended
  await send(1)
}
