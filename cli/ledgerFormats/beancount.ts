/**
 * Beancount: opens every account and asserts every balance. A `balance` directive applies to the start of its day and by
 * default tolerates a difference in the last digit. So each one is dated one day later and has a tolerance of zero.
 */
import { currencyCodes } from "../../src/http/api/operator/operatorTokens.ts"
import {
  accountParts,
  dayOf,
  type FormatOptions,
  type LedgerExportAccount,
  type LedgerFormat,
  negated,
  wordOf,
  zero
} from "./LedgerFormat.ts"

type Currency = LedgerExportAccount["currency"]

/** A date before every posting, in a century that Beancount supports. */
const beginning = "1900-01-01"
const opening = "Equity:Opening"

/** One level of an account name: letters and digits, beginning with a capital or a digit. */
const levelOf = (part: string): string =>
  part
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "")
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join("")

/** The account name. Client money is an asset, because signs are the client's view; house accounts are equity. */
const nameOf = (row: Parameters<typeof accountParts>[0]): string =>
  [row.clientId === null ? "Equity" : "Assets", ...accountParts(row).map(levelOf)].join(":")

const check = (day: string, name: string, amount: string, currency: Currency): string =>
  `${day} balance ${name}  ${amount} ~ 0 ${currency}\n`

export const beancountFormat = ({ from }: FormatOptions): LedgerFormat => {
  let declared = ""
  const currencies = new Set<Currency>()
  return {
    head: () =>
      [
        "; The brokerage's ledger: amounts are signed from the client's view, days are UTC.",
        'option "title" "Brokerage ledger"',
        'option "operating_currency" "USDC"',
        ...currencyCodes.map((currency) => `${beginning} commodity ${currency}`),
        ...(from === null ? [] : [`${beginning} open ${opening}`]),
        "",
        ""
      ].join("\n"),
    opened: (row) => {
      const name = nameOf(row)
      const declaration = name === declared ? "" : `${beginning} open ${name}\n`
      declared = name
      if (from === null) return declaration
      currencies.add(row.currency)
      return [
        `${declaration}${dayOf(from, -1)} * "opening balance" ""`,
        `  ${name}  ${row.opening} ${row.currency}`,
        `  ${opening}  ${negated(row.opening)} ${row.currency}`,
        check(dayOf(from), name, row.opening, row.currency)
      ].join("\n")
    },
    // The opening balances of all accounts sum to zero, so one transaction opens them.
    allOpened: () =>
      from === null
        ? ""
        : [...currencies].map((currency) => check(dayOf(from), opening, zero(currency), currency)).join(""),
    transaction: ({ txId, type, key, ts, postings }) =>
      [
        `${dayOf(ts)} * "${wordOf(type)}" "${wordOf(key)}"`,
        `  txId: "${txId}"`,
        `  time: "${new Date(ts).toISOString()}"`,
        ...postings.flatMap((row) => [
          `  ${nameOf(row)}  ${row.amount} ${row.currency}`,
          `    postingId: "${row.postingId}"`
        ]),
        "",
        ""
      ].join("\n"),
    closed: (row, at) => check(dayOf(at, 1), nameOf(row), row.closing, row.currency)
  }
}
