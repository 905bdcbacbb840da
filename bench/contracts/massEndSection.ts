/** The contracts section of the report, with its goals. */
import { millis, spread, table, whole } from "../markdown.ts"
import type { MassEndFindings } from "./massEnd.ts"
import type { PacedLatency } from "./protocol.ts"

/** Goals for the rows with 100,000 contracts. */
const goals = {
  timesReports: 1.2,
  seconds: 10,
  p99Millis: 250,
  looked: 4,
  bytes: { idle: 300, resident: 3_072, venue: 1_024 },
  startMillis: 3_000
} as const

const verdict = (reached: boolean): string => (reached ? "reached" : "MISSED")
const latency = ({ p50Millis, p99Millis, maxMillis, sent }: PacedLatency): string =>
  `${millis(p50Millis)}, ${millis(p99Millis)}, ${millis(maxMillis)} (${whole(sent)} sent)`

const endRows = ({ end, reports }: MassEndFindings) => {
  const { reads, reports: beside, errors } = end.beside
  const times = end.rate / Math.max(1, reports.median)
  return [
    ["durable collateral reports a second, 64 connections", spread(reports, whole), "", ""],
    [
      "contracts ended a second by one price move",
      whole(end.rate),
      `${goals.timesReports} x the reports`,
      `${times.toFixed(2)} x, ${verdict(times >= goals.timesReports)}`
    ],
    [
      "seconds until all of them are committed",
      end.seconds.toFixed(1),
      `${goals.seconds}`,
      verdict(end.seconds <= goals.seconds)
    ],
    [
      "meanwhile another partner's 100 reads a second: p50, p99, longest, ms",
      latency(reads),
      `p99 ${goals.p99Millis}`,
      verdict(reads.p99Millis <= goals.p99Millis)
    ],
    [
      "and its 50 reports a second",
      latency(beside),
      `p99 ${goals.p99Millis}`,
      verdict(beside.p99Millis <= goals.p99Millis && errors === 0)
    ]
  ]
}

const tickRows = ({ ticks }: MassEndFindings) => [
  [
    `commits in ${whole(ticks.millis / 1_000)} s of ten ticks a second on every market, no level crossed`,
    whole(ticks.commits),
    "0",
    verdict(ticks.commits === 0)
  ],
  ["clients that a turn brought into memory meanwhile", whole(ticks.turns), "0", verdict(ticks.turns === 0)],
  [
    `levels that one tick looked at, the most of ${whole(ticks.marks)}`,
    whole(ticks.looked),
    `${goals.looked}`,
    verdict(ticks.looked <= goals.looked)
  ]
]

const costRows = ({ memory, starts }: MassEndFindings) => {
  const delay = starts.with.median - starts.without.median
  const bytes = (name: keyof typeof memory, title: string) => [
    title,
    whole(memory[name]),
    whole(goals.bytes[name]),
    verdict(memory[name] <= goals.bytes[name])
  ]
  return [
    bytes("idle", "bytes of an open contract whose client is not in memory"),
    bytes("resident", "bytes of one whose client is in memory"),
    bytes("venue", "bytes of one at the venue"),
    ["start without the contracts, ms", spread(starts.without, whole), "", ""],
    [
      "start with them, ms",
      spread(starts.with, whole),
      `${whole(goals.startMillis)} more`,
      `${whole(delay)} more, ${verdict(delay <= goals.startMillis)}`
    ]
  ]
}

export const massEndSection = (findings: MassEndFindings): string => {
  const { contracts, clients, openedRate } = findings
  const rows = table(
    ["figure", "found", "goal", ""],
    [...endRows(findings), ...tickRows(findings), ...costRows(findings)]
  )
  return `${rows}\n\n${whole(contracts)} contracts of ${whole(clients)} clients of a PARTNER-custody partner with a webhook endpoint that takes everything, taken over from the venue at ${whole(openedRate)} a second. Bytes are of heaps after a garbage collection. The books, \`ledger verify\` and \`sim verify\` were checked when all were open and when all had ended.`
}
