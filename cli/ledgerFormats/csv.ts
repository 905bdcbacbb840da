/**
 * RFC 4180 with a header: a POSTING record for every posting, OPENING and CLOSING records for balances. Text that a
 * spreadsheet would run as a formula gets a leading apostrophe; amounts never do (A2-74).
 */
import { writeCsv } from "../csv.ts"
import type { FormatOptions, LedgerExportAccount, LedgerFormat } from "./LedgerFormat.ts"

export const csvColumns = ["record", "ts", "account", "kind", "currency", "amount", "txId", "postingId", "type", "key"]

export const guarded = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text)

export const csvFormat = ({ from }: FormatOptions): LedgerFormat => {
  const balance = (record: string, { account, kind, currency }: LedgerExportAccount, amount: string, at: number) =>
    writeCsv([[record, new Date(at).toISOString(), guarded(account), kind, currency, amount, "", "", "", ""]])
  return {
    head: () => writeCsv([csvColumns]),
    opened: (row) => (from === null ? "" : balance("OPENING", row, row.opening, from)),
    allOpened: () => "",
    transaction: ({ txId, type, key, ts, postings }) =>
      writeCsv(
        postings.map((row) => [
          "POSTING",
          new Date(ts).toISOString(),
          guarded(row.account),
          row.kind,
          row.currency,
          row.amount,
          String(txId),
          String(row.postingId),
          guarded(type),
          guarded(key)
        ])
      ),
    closed: (row, at) => balance("CLOSING", row, row.closing, at)
  }
}
