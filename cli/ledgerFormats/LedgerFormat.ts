/** What a format makes of an export: text for each piece of it, in this order (operator surface, ledger export). */
import { currencyPlaces } from "../../src/http/api/operator/operatorTokens.ts"
import type { LedgerExportAccount, LedgerExportTransaction } from "../../src/http/api/operator/LedgerExport.ts"

export type { LedgerExportAccount, LedgerExportTransaction }

export interface LedgerFormat {
  /** Before everything else. */
  readonly head: () => string
  /** Each account in one currency: its declaration, and what it held right before `from` when there is one. */
  readonly opened: (row: LedgerExportAccount) => string
  /** After the last account. */
  readonly allOpened: () => string
  readonly transaction: (transaction: LedgerExportTransaction) => string
  /** Each account again with the balance it must have at the end; `at` is the last moment of the export. */
  readonly closed: (row: LedgerExportAccount, at: number) => string
}

export interface FormatOptions {
  /** Unix ms; null: from the first posting on, so that every account begins with nothing. */
  readonly from: number | null
}

/** A key as one word that no format reads anything into: bytes outside a safe set are percent-encoded. */
export const wordOf = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[^A-Za-z0-9._:/@+-]/gu, (character) =>
      [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("")
    )

/** The UTC day of a moment; `later` days after it. */
export const dayOf = (at: number, later = 0): string => new Date(at + later * 86_400_000).toISOString().slice(0, 10)

export const zero = (currency: LedgerExportAccount["currency"]): string => `0.${"0".repeat(currencyPlaces[currency])}`

/** The same amount with the other sign; zero has none. */
export const negated = (amount: string): string => {
  if (/^[0.]*$/.test(amount)) return amount
  return amount.startsWith("-") ? amount.slice(1) : `-${amount}`
}

/** The parts of an account's name: a client's cash and reserve are two accounts. */
export const accountParts = ({
  account,
  clientId,
  kind
}: Pick<LedgerExportAccount, "account" | "clientId" | "kind">): ReadonlyArray<string> => [
  ...account.split(":"),
  ...(clientId === null && kind === "cash" ? [] : [kind])
]
