/** A format of the ledger export. Its functions give the text of each part, in this order (operator surface, ledger export). */
import { currencyPlaces } from "../../src/http/api/operator/operatorTokens.ts"
import type { LedgerExportAccount, LedgerExportTransaction } from "../../src/http/api/operator/LedgerExport.ts"

export type { LedgerExportAccount, LedgerExportTransaction }

export interface LedgerFormat {
  /** The text before the first account. */
  readonly head: () => string
  /** An account in one currency: its declaration, and its opening balance when the export has a start. */
  readonly opened: (row: LedgerExportAccount) => string
  /** Text between the last account's declaration and the first transaction. */
  readonly allOpened: () => string
  readonly transaction: (transaction: LedgerExportTransaction) => string
  /** The account's closing balance; `at` is the last moment of the export. */
  readonly closed: (row: LedgerExportAccount, at: number) => string
}

export interface FormatOptions {
  /** The start of the export, Unix ms. Null exports from the first posting on, so every account begins at zero. */
  readonly from: number | null
}

/** Percent-encodes all bytes outside a safe set, so that no format interprets the text. */
export const wordOf = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[^A-Za-z0-9._:/@+-]/gu, (character) =>
      [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("")
    )

/** The UTC date of a time, plus `later` days. */
export const dayOf = (at: number, later = 0): string => new Date(at + later * 86_400_000).toISOString().slice(0, 10)

export const zero = (currency: LedgerExportAccount["currency"]): string => `0.${"0".repeat(currencyPlaces[currency])}`

/** The same amount with the opposite sign; zero stays without a sign. */
export const negated = (amount: string): string => {
  if (/^[0.]*$/.test(amount)) return amount
  return amount.startsWith("-") ? amount.slice(1) : `-${amount}`
}

/** The parts of an account's name. A client's cash and its reserve are two accounts. */
export const accountParts = ({
  account,
  clientId,
  kind
}: Pick<LedgerExportAccount, "account" | "clientId" | "kind">): ReadonlyArray<string> => [
  ...account.split(":"),
  ...(clientId === null && kind === "cash" ? [] : [kind])
]
