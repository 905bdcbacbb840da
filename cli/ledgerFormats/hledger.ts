/**
 * The journal format of hledger. It declares every account and commodity and asserts every balance, so that `hledger check
 * --strict` verifies the file without other data. Signs are the service's: client money is positive.
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

/** The name of a commodity in the journal. hledger requires quotes around a name with a digit. */
const commodity = (currency: Currency): string => (/^[A-Z]+$/.test(currency) ? currency : `"${currency}"`)
const money = (amount: string, currency: Currency): string => `${amount} ${commodity(currency)}`
const nameOf = (row: Parameters<typeof accountParts>[0]): string => accountParts(row).map(wordOf).join(":")
const opening = "equity:opening"

export const hledgerFormat = ({ from }: FormatOptions): LedgerFormat => {
  let declared = ""
  const currencies = new Set<Currency>()
  const asserting = (day: string, what: string, name: string, currency: Currency, balance: string): string =>
    `${day} * ${what}\n    ${name}  ${money(zero(currency), currency)} = ${money(balance, currency)}\n\n`
  return {
    head: () =>
      [
        "; The brokerage's ledger: amounts are signed from the client's view, days are UTC.",
        "decimal-mark .",
        ...currencyCodes.map((currency) => `commodity ${money(`1${zero(currency).slice(1)}`, currency)}`),
        ...(from === null ? [] : [`account ${opening}`]),
        "",
        ""
      ].join("\n"),
    opened: (row) => {
      const name = nameOf(row)
      const declaration = name === declared ? "" : `account ${name}\n\n`
      declared = name
      if (from === null) return declaration
      currencies.add(row.currency)
      const amount = money(row.opening, row.currency)
      return [
        `${declaration}${dayOf(from)} * opening balance`,
        `    ${name}  ${amount} = ${amount}`,
        `    ${opening}  ${money(negated(row.opening), row.currency)}`,
        "",
        ""
      ].join("\n")
    },
    // The opening balances of all accounts sum to zero, so one transaction opens them.
    allOpened: () =>
      from === null
        ? ""
        : [...currencies]
            .map((currency) => asserting(dayOf(from), "opening balances", opening, currency, zero(currency)))
            .join(""),
    transaction: ({ txId, type, key, ts, postings }) =>
      [
        `${dayOf(ts)} * (${txId}) ${wordOf(type)}`,
        `    ; txId:${txId}, type:${wordOf(type)}, key:${wordOf(key)}, time:${new Date(ts).toISOString()}`,
        ...postings.map(
          (row) => `    ${nameOf(row)}  ${money(row.amount, row.currency)}  ; postingId:${row.postingId}`
        ),
        "",
        ""
      ].join("\n"),
    closed: (row, at) => asserting(dayOf(at), "closing balance", nameOf(row), row.currency, row.closing)
  }
}
