/** The CSV of a statement, piece by piece (A2-74, STS-30). */
import canonicalize from "canonicalize"
import { csvColumns, csvCommon, csvEdges, csvHead, csvLine } from "../../../machines/statement/statementCsv.ts"
import type { StatementKind } from "../../../machines/statement/statementTokens.ts"
import type { ModelRow } from "../../../machines/statement/StatementModel.ts"
import { rowsOfPiece } from "./pieceRows.ts"
import type { Rendering } from "./protocol.ts"

/**
 * The text of references as in the model. JSON.stringify gives the canonical text of a parsed value, except where it would
 * order names differently (a name that begins with a digit) or where values are nested.
 */
const refsText = (refs: unknown): string | null => {
  for (const [name, value] of Object.entries(refs ?? {}))
    if (/^[0-9]/.test(name) || (typeof value === "object" && value !== null)) return canonicalize(refs) ?? null
  return JSON.stringify(refs)
}

/** The number of characters that are written at once. */
const enough = 64 * 1024

export const renderCsv = async ({ head, next, write }: Rendering): Promise<void> => {
  const { skeleton } = head
  const columns = csvColumns[skeleton.kind as StatementKind]
  let text = csvHead(columns)
  const common = skeleton.sections.map((facts) => csvCommon(skeleton, facts))
  const line = (section: number, row: ModelRow): string => {
    const ofSection = common[section]
    if (ofSection === undefined) throw new Error("a piece of no section")
    return csvLine(columns, ofSection, row, row["refs"] === undefined ? null : refsText(row["refs"]))
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
      // Between two sections: the closing line of the previous one, and the opening line of the next.
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
