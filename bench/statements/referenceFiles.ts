/** A statement's files as they are usually made: a text joined in memory, and pdfkit with a text for each cell. */
import Document from "pdfkit"

export interface ReferenceRow {
  readonly postingId: number
  readonly txId: number
  readonly ts: number
  readonly venueTs: number
  readonly type: string
  readonly refs: object
  readonly amount: string
  readonly balance: string
  readonly kind: string
}

export interface ReferenceModel {
  readonly kind: string
  readonly clientId: number
  readonly periodFrom: number
  readonly periodTo: number
  readonly opening: string
  readonly rows: ReadonlyArray<ReferenceRow>
  readonly closing: string
}

const time = (ts: number): string => new Date(ts).toISOString()

const cell = (value: string): string => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)

export const csvOf = ({ rows }: ReferenceModel): string =>
  ["postingId,txId,ts,venueTs,type,refs,amount,balance,kind"]
    .concat(
      rows.map((row) =>
        [
          row.postingId,
          row.txId,
          time(row.ts),
          time(row.venueTs),
          row.type,
          cell(JSON.stringify(row.refs)),
          row.amount,
          row.balance,
          row.kind
        ].join(",")
      )
    )
    .join("\r\n")

/** As the service's: title, width, text of a row. */
const columns: ReadonlyArray<readonly [string, number, "left" | "right", (row: ReferenceRow) => string]> = [
  ["Booked (UTC)", 124, "left", ({ ts }) => time(ts)],
  ["Venue time (UTC)", 124, "left", ({ venueTs }) => time(venueTs)],
  ["Type", 148, "left", ({ type }) => type],
  ["Kind", 50, "left", ({ kind }) => kind],
  ["Amount", 112, "right", ({ amount }) => amount],
  ["Balance", 112, "right", ({ balance }) => balance],
  ["Posting", 50, "right", ({ postingId }) => String(postingId)],
  ["Transaction", 50, "right", ({ txId }) => String(txId)]
]
const margin = 36
const rowHeight = 12

/** Pages are kept until all are there, so that each can say how many they are: pdfkit's own way. */
export const pdfOf = ({ clientId, opening, closing, rows }: ReferenceModel): PDFKit.PDFDocument => {
  const document = new Document({ size: "A4", layout: "landscape", margin, bufferPages: true })
  const bottom = document.page.height - margin - rowHeight
  document.fontSize(14).text(`Account statement of client ${clientId}`, margin, margin)
  document.fontSize(8).text(`Opening ${opening}, closing ${closing}`)
  let y = document.y + rowHeight
  const line = (textOf: (column: (typeof columns)[number]) => string): void => {
    let x = margin
    for (const column of columns) {
      document.text(textOf(column), x, y, { width: column[1], align: column[2], lineBreak: false })
      x += column[1]
    }
    y += rowHeight
  }
  line(([title]) => title)
  for (const row of rows) {
    if (y > bottom - rowHeight) {
      document.addPage()
      y = margin
      line(([title]) => title)
    }
    line(([, , , of]) => of(row))
  }
  const { count } = document.bufferedPageRange()
  for (let page = 0; page < count; page++) {
    document.switchToPage(page)
    document.text(`Page ${page + 1} of ${count}`, margin, bottom, { lineBreak: false })
  }
  document.end()
  return document
}
