/** The staking part of the report. */
import { disturbed, latencyRow, millis, rowsTable, spread, table, whole } from "../markdown.ts"
import type { Spread } from "../rounds.ts"
import { stakingGoals } from "./goals.ts"
import type { MaturityFindings } from "./maturityRounds.ts"
import type { ReadFindings } from "./readRounds.ts"
import type { StakingFindings } from "./stakingRounds.ts"
import type { TakeFindings, TakeRow } from "./takeRounds.ts"

export const stakingSection = (findings: StakingFindings): string =>
  [
    table(
      ["goal", "found", ""],
      stakingGoals(findings).map(({ sentence, figure, reached }) => [sentence, figure, reached ? "reached" : "MISSED"])
    ),
    ...(findings.reads === null ? [] : readSection(findings.reads)),
    ...(findings.takes === null ? [] : takeSection(findings.takes)),
    ...(findings.maturities === null ? [] : maturitySection(findings.maturities))
  ].join("\n\n")

const readSection = ({ reads }: ReadFindings): ReadonlyArray<string> => [
  ...reads.flatMap(({ kind, behind, row }) => [
    `### ${kind === "balances" ? "Balances" : "Overview"} of eight currencies and fifty swaps, ${whole(behind)} trades behind them, 64 connections`,
    rowsTable({ service: row })
  ]),
  "Balances and trades were put into the database by statements, the swaps were taken of one offer; the marks moved while the accounts were read."
]

const ratio = (own: Spread, other: Spread): string => `${(own.median / Math.max(1e-9, other.median)).toFixed(2)} x`
const micros = (value: Spread | null): string => (value === null ? "" : whole(value.median))

const takeSection = ({ rows: { service, typical, tuned }, takes, otherCores }: TakeFindings): ReadonlyArray<string> => [
  "### Takes, 64 connections",
  table(
    [
      "system",
      "per second",
      "service is",
      "p50 ms",
      "p99 ms",
      "program us",
      "database us",
      "venue us",
      "table bytes",
      "log bytes"
    ],
    [service, typical, tuned].map((row: TakeRow) => [
      row.system,
      spread(row.rate, whole),
      row === service ? "" : ratio(service.rate, row.rate),
      spread(row.p50, millis),
      spread(row.p99, millis),
      micros(row.app),
      micros(row.database),
      micros(row.venue),
      micros(row.tableBytes),
      micros(row.logBytes)
    ])
  ),
  `${whole(takes)} takes were acknowledged by the service, and each of them was found open, paid for once and known at the venue. Other programs kept ${spread(otherCores, (value) => value.toFixed(2))} cores busy during these slices.${disturbed(otherCores)}`
]

const maturitySection = (found: MaturityFindings): ReadonlyArray<string> => {
  const { swaps, seconds, rate, program, database, venue, plain, beside, without } = found
  return [
    `### ${whole(swaps)} maturities at one instant`,
    table(
      ["swaps a second", "", "service is", "program us", "database us", "venue us"],
      [
        ["service, its callers beside it", whole(rate), "", whole(program), whole(database), whole(venue)],
        [
          `plain SQL, one statement a swap, ${plain.concurrency} connections`,
          spread(plain.rate, whole),
          `${(rate / Math.max(1e-9, plain.rate.median)).toFixed(2)} x`,
          "",
          "",
          ""
        ]
      ]
    ),
    table(
      ["another partner's callers", "reads p50, p99, longest ms", "reports p50, p99, longest ms"],
      [latencyRow("while they mature", beside), latencyRow("before", without)]
    ),
    `From the instant at the venue until the last swap was stored as matured: ${seconds.toFixed(1)} s. Every swap was paid with its reward, charged its commission, has two settlement items and one notification. Afterwards \`ledger verify\` and \`sim verify\` found nothing.`
  ]
}
