/** The CSV of a statement, piece by piece (A2-74, STS-30). */
import canonicalize from "canonicalize"
import { csvColumns, csvCommon, csvEdges, csvHead, csvLine } from "../../../machines/statement/statementCsv.ts"
import type { StatementKind } from "../../../machines/statement/Statement.ts"
import type { ModelRow } from "../../../machines/statement/StatementModel.ts"
import { rowsOfPiece } from "./pieceRows.ts"
import type { Rendering } from "./protocol.ts"

/** Characters written at once. */
const enough = 64 * 1024

export const renderCsv = async ({ head, next, write }: Rendering): Promise<void> => {
  const { skeleton } = head
  const columns = csvColumns[skeleton.kind as StatementKind]
  let text = csvHead(columns)
  const line = (section: number, row: ModelRow): string => {
    const facts = skeleton.sections[section]
    if (facts === undefined) throw new Error("a piece of no section")
    const refs = row["refs"] === undefined ? null : (canonicalize(row["refs"]) ?? null)
    return csvLine(columns, { ...csvCommon(skeleton, facts), ...row }, refs)
  }
  const edges = (section: number, edge: "OPENING" | "CLOSING"): string => {
    const facts = skeleton.sections[section]
    return facts === undefined
      ? ""
      : csvEdges(skeleton, facts, edge)
          .map((row) => line(section, row))
          .join("")
  }
  let section = -1
  for (let piece = await next(); piece !== null; piece = await next()) {
    if (piece.section < 0) {
      // What stands between two sections: the one before has ended, the next one begins.
      if (section >= 0) text += edges(section, "CLOSING")
      section++
      text += edges(section, "OPENING")
    } else for (const row of rowsOfPiece(piece.content)) text += line(piece.section, row)
    if (text.length < enough) continue
    await write(Buffer.from(text))
    text = ""
  }
  if (text !== "") await write(Buffer.from(text))
}
