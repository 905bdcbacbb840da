/**
 * A strict reader of the part of Beancount's language that `ledger export` writes. It refuses the inputs that Beancount
 * refuses: an account that is not open or has a wrong name, a transaction that does not balance, a balance that does
 * not hold at the beginning of its day.
 */
const number = "-?(?:0|[1-9][0-9]*)\\.[0-9]+"
const commodityShape = "[A-Z][A-Z0-9'._-]{0,22}[A-Z0-9]"
const accountShape = "(?:Assets|Liabilities|Equity|Income|Expenses)(?::[A-Z0-9][A-Za-z0-9-]*)+"
const patterns = {
  open: new RegExp(`^(\\d{4}-\\d\\d-\\d\\d) open (${accountShape})$`),
  commodity: new RegExp(`^\\d{4}-\\d\\d-\\d\\d commodity (${commodityShape})$`),
  balance: new RegExp(`^(\\d{4}-\\d\\d-\\d\\d) balance (${accountShape}) {2}(${number}) ~ 0 (${commodityShape})$`),
  transaction: /^(\d{4}-\d\d-\d\d) \* "[^"\\]*" "[^"\\]*"$/,
  posting: new RegExp(`^ {2}(${accountShape}) {2}(${number}) (${commodityShape})$`),
  meta: /^ {2,4}[a-z][A-Za-z0-9_-]+: "[^"\\]*"$/,
  other: /^(;.*|option "[a-z_]+" "[^"]*"|)$/
}

interface Posting {
  readonly day: string
  readonly name: string
  readonly minor: bigint
}

export interface Beancount {
  /** By account and commodity, in minor units. */
  readonly balances: ReadonlyMap<string, bigint>
  /** The number of balance directives that hold. */
  readonly checked: number
}

const minorOf = (text: string): bigint => BigInt(text.replace(".", ""))

export const readBeancount = (text: string): Beancount => {
  const opened = new Set<string>()
  const postings: Array<Posting> = []
  const checks: Array<Posting> = []
  let current: { readonly day: string; readonly sums: Map<string, bigint> } | null = null
  const close = () => {
    for (const [commodity, sum] of current?.sums ?? []) {
      if (sum !== 0n) throw new Error(`a transaction sums to ${sum} ${commodity}`)
    }
    current = null
  }
  for (const line of text.split("\n")) {
    const posting = patterns.posting.exec(line)
    if (posting !== null) {
      if (current === null) throw new Error(`a posting of no transaction: ${line}`)
      const [, account = "", amount = "", commodity = ""] = posting
      const { day, sums }: { readonly day: string; readonly sums: Map<string, bigint> } = current
      postings.push({ day, name: `${account} ${commodity}`, minor: minorOf(amount) })
      sums.set(commodity, (sums.get(commodity) ?? 0n) + minorOf(amount))
      continue
    }
    if (patterns.meta.test(line)) continue
    close()
    const open = patterns.open.exec(line)
    const balance = patterns.balance.exec(line)
    const transaction = patterns.transaction.exec(line)
    if (open !== null) {
      if (opened.has(open[2] ?? "")) throw new Error(`opened twice: ${line}`)
      opened.add(open[2] ?? "")
    } else if (balance !== null) {
      const [, day = "", account = "", amount = "", commodity = ""] = balance
      checks.push({ day, name: `${account} ${commodity}`, minor: minorOf(amount) })
    } else if (transaction !== null) current = { day: transaction[1] ?? "", sums: new Map() }
    else if (!patterns.commodity.test(line) && !patterns.other.test(line)) throw new Error(`not Beancount: ${line}`)
  }
  close()
  for (const { name } of [...postings, ...checks]) {
    if (!opened.has(name.split(" ")[0] ?? "")) throw new Error(`not open: ${name}`)
  }
  const upTo = (day: string, account: string) =>
    postings.filter((row) => row.name === account && row.day < day).reduce((sum, row) => sum + row.minor, 0n)
  for (const { day, name, minor } of checks) {
    const found = upTo(day, name)
    if (found !== minor) throw new Error(`balance of ${name} on ${day} is ${found}, not ${minor}`)
  }
  const balances = new Map<string, bigint>()
  for (const { name, minor } of postings) balances.set(name, (balances.get(name) ?? 0n) + minor)
  return { balances, checked: checks.length }
}
