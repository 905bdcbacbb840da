/** The money part of the report. */
import { millis, spread, table, whole } from "../markdown.ts"
import type { MoneyFindings, MoneyRow, MoneySide } from "./moneyRounds.ts"
import type { SummaryFindings } from "./summary.ts"

const names = {
  deposits: "deposits filed and confirmed",
  withdrawals: "withdrawals requested and cancelled",
  bulk: "items in reports of 500"
} as const

const line = (name: string, { rate, p50, p99 }: MoneySide, ratio: string): ReadonlyArray<string> => [
  name,
  spread(rate, whole),
  ratio,
  spread(p50, millis),
  spread(p99, millis)
]

const lines = ({
  what,
  connections,
  service,
  plain,
  plainConcurrency
}: MoneyRow): ReadonlyArray<ReadonlyArray<string>> => [
  line(`${names[what]}, service, ${connections} connections`, service, ""),
  line(
    `the same by plain SQL, ${plainConcurrency} connections`,
    plain,
    `${(service.rate.median / Math.max(1e-9, plain.rate.median)).toFixed(2)} x`
  )
]

const growth = ({ summary }: MoneyFindings): string => {
  const [few, many] = [summary[0], summary.at(-1)]
  if (few === undefined || many === undefined) return ""
  const times = (of: (found: SummaryFindings) => number) => (of(many) / Math.max(1e-9, of(few))).toFixed(1)
  return `${whole(many.items / few.items)} times as many items take the summary ${times(({ p50 }) => p50.median)} times as long, the plain sum ${times(({ plain }) => plain.median)} times.`
}

export const moneySection = (findings: MoneyFindings): string => {
  const { done, rows, summary } = findings
  const written = table(["what", "per second", "service is", "p50 ms", "p99 ms"], rows.flatMap(lines))
  const read = table(
    ["items", "summary p50 ms", "p99 ms", "plain sum ms", "plain sum is"],
    summary.map(({ items, p50, p99, plain }) => [
      whole(items),
      spread(p50, millis),
      spread(p99, millis),
      spread(plain, millis),
      `${(plain.median / Math.max(1e-9, p50.median)).toFixed(1)} x`
    ])
  )
  return `${written}\n\nA deposit is two requests and two transactions (the partner's and finance's), so is a withdrawal; the service's times are of one request, those of plain SQL of the pair. After every slice ${whole(done.deposits)}, ${whole(done.withdrawals)} and ${whole(done.bulk)} in all were found stored as answered, and the books balanced.\n\n### Settlement summary\n\n${read}\n\n${growth(findings)} The window begins and ends inside of days; both count the same.`
}
