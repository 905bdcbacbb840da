/** Headers of a statement's file, an attachment whose bytes never change (STS-32; RFC 6266, RFC 9110). */
import type { StatementRow } from "../runtime/tables/statement.ts"

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** The file name `<clientUid>-<KIND>-<from>-<to>-v<n>`, dates in UTC. */
export const fileName = ({ context }: Pick<StatementRow, "context">, form: "pdf" | "csv"): string =>
  `${context.clientUid}-${context.kind}-${dayOf(context.periodFrom)}-${dayOf(context.periodTo)}-v${context.version}.${form}`

export interface FileHeaders extends Record<string, string> {
  readonly etag: string
}

export const fileHeaders = (row: Pick<StatementRow, "context">, form: "pdf" | "csv"): FileHeaders => ({
  "content-disposition": `attachment; filename="${fileName(row, form)}"`,
  "cache-control": "private",
  etag: `"${row.context.sha256}-${row.context.renderer}"`
})

/** An entity tag. Its quoted text may contain commas and asterisks (RFC 9110, 8.8.3). */
const entityTag = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g

/** Whether If-None-Match matches the ETag, by weak comparison (RFC 9110, 13.1.2). Malformed entries match no ETag. */
export const has = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  (header.trim() === "*" || [...header.matchAll(entityTag)].some(([, opaque]) => opaque === etag))
