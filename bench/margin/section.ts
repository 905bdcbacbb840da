/** The margin part of the report. */
import type { PacedLatency } from "../contracts/protocol.ts"
import { millis, spread, table, whole } from "../markdown.ts"
import type { CloseOutFindings } from "./closeOutRounds.ts"
import type { FundingFindings } from "./fundingRounds.ts"
import { marginGoals } from "./goals.ts"
import type { MarginFindings } from "./marginRounds.ts"
import type { MarkFindings } from "./markRounds.ts"
import type { StartFindings } from "./startRounds.ts"
import type { ReplayFindings } from "./replay.ts"

export const marginSection = (findings: MarginFindings): string =>
  [
    table(
      ["goal", "found", ""],
      marginGoals(findings).map(({ sentence, figure, reached }) => [sentence, figure, reached ? "reached" : "MISSED"])
    ),
    ...(findings.marks === null ? [] : markSection(findings.marks)),
    ...(findings.replay === null ? [] : replaySection(findings.replay)),
    ...(findings.closeOuts === null ? [] : closeOutSection(findings.closeOuts)),
    ...(findings.funding === null ? [] : fundingSection(findings.funding)),
    ...(findings.starts === null ? [] : startSection(findings.starts)),
    ...(findings.growth === null ? [] : fundingSection(findings.growth))
  ].join("\n\n")

const markSection = (found: MarkFindings): ReadonlyArray<string> => {
  const micros = (value: number): string => (value < 100 ? value.toFixed(2) : whole(value))
  const line = (name: string, of: MarkFindings["index"]): ReadonlyArray<string> => [
    name,
    spread(of, micros),
    of === found.index ? "" : `${whole(of.median / found.index.median)} x`
  ]
  return [
    `### A mark, ${whole(found.positions)} positions of ${whole(found.clients)} clients in 30 markets`,
    table(
      ["way", "processor us per mark", "index is"],
      [line("index", found.index), line("full scan in memory", found.scan)]
    ),
    `The index's time is that of drawing the mark, too, of ${found.shares.toFixed(2)} accounts divided again and of ${found.notified.toFixed(2)} put back after a loss notice; the scan searches for uncovered margins alone. When one market fell in the end, the index named all of the ${whole(found.crossed)} accounts that the scan found.`
  ]
}

const replaySection = (found: ReplayFindings): ReadonlyArray<string> => {
  const { accounts, positions, ticks, looks, shares, changes, notified, inVain } = found
  const ofAccounts = (n: number): string => `${((100 * n) / (accounts * ticks)).toFixed(3)} %`
  const changed = Math.max(1, changes + notified)
  return [
    "### Checks on a replayed path",
    table(
      ["", "number", "of the accounts, each tick", "for each change"],
      [
        ["turns of accounts", whole(looks), ofAccounts(looks), (looks / changed).toFixed(2)],
        ["divided again in the index alone", whole(shares), ofAccounts(shares), (shares / changed).toFixed(2)],
        ["risk states recorded", whole(changes), ofAccounts(changes), ""],
        ["loss notices", whole(notified), ofAccounts(notified), ""],
        ["turns without a consequence", whole(inVain), ofAccounts(inVain), ""]
      ]
    ),
    `A walk of ${whole(ticks)} ticks in 30 markets that share a third of their variance, ${whole(accounts)} accounts with ${whole(positions)} positions; each account that was named was judged on exact figures.`
  ]
}

const latency = ({ p50Millis, p99Millis, maxMillis, sent }: PacedLatency): ReadonlyArray<string> => [
  whole(sent),
  millis(p50Millis),
  millis(p99Millis),
  millis(maxMillis)
]

const closeOutSection = ({ singles, crowd }: CloseOutFindings): ReadonlyArray<string> => {
  const lines = [
    ...(singles === null
      ? []
      : [
          [
            "mark to close-out order, one account at a time",
            whole(singles.clients),
            millis(singles.p50Millis),
            millis(singles.p99Millis),
            millis(singles.maxMillis)
          ]
        ]),
    ...(crowd === null
      ? []
      : [
          ["reads of another partner while the crowd is closed out", ...latency(crowd.beside.reads)],
          ["its reports", ...latency(crowd.beside.reports)]
        ])
  ]
  return [
    "### From a mark to the orders that it makes",
    table(["ms", "of", "p50", "p99", "longest"], lines),
    ...(singles === null
      ? []
      : [
          `Times are the venue's own: of the mark, and of the trade that the order made as it came. ${whole(singles.loaded)} accounts came into memory while ${whole(singles.clients)} were closed out.`
        ]),
    ...(crowd === null
      ? []
      : [
          `${whole(crowd.clients)} accounts below half of their margin at one mark: first order after ${crowd.firstSeconds.toFixed(2)} s, last after ${crowd.lastSeconds.toFixed(1)} s, every position closed and every episode ended after ${crowd.settledSeconds.toFixed(1)} s; processor time of each ${whole(crowd.program)} us in the service, ${whole(crowd.database)} us in the database, ${whole(crowd.venue)} us at the venue. \`ledger verify\` and \`sim verify\` found nothing afterwards, nobody owed anything, and each of these orders reduced.`
        ])
  ]
}

const fundingSection = ({ holders, stamps, rate, plain }: FundingFindings): ReadonlyArray<string> => [
  `### Funding of ${whole(holders)} holders`,
  table(
    [
      "stamp",
      "seconds",
      "first tenth",
      "last tenth",
      "program us",
      "database us",
      "venue us",
      "reads p50, p99, longest ms",
      "reports p50, p99, longest ms"
    ],
    stamps.map((stamp, at) => [
      String(at + 1),
      stamp.seconds.toFixed(1),
      stamp.firstTenth.toFixed(1),
      stamp.lastTenth.toFixed(1),
      whole(stamp.program),
      whole(stamp.database),
      whole(stamp.venue),
      latency(stamp.beside.reads).slice(1).join(", "),
      latency(stamp.beside.reports).slice(1).join(", ")
    ])
  ),
  ...(plain === null
    ? []
    : [
        table(
          ["holders a second", "", "service is"],
          [
            ["service, its callers beside it", spread(rate, whole), ""],
            [
              `plain SQL, one statement a holder, ${plain.concurrency} connections`,
              spread(plain.rate, whole),
              `${(rate.median / plain.rate.median).toFixed(2)} x`
            ]
          ]
        )
      ]),
  `From the stamp at the venue to the last posting stored; half of the holders pay and half are paid. After the stamps \`ledger verify\` found nothing, and the position of each holder and the sum of its payments were the venue's.`
]

const startSection = ({ clients, positions, bytes, ...starts }: StartFindings): ReadonlyArray<string> => [
  `### ${whole(positions)} positions of ${whole(clients)} clients, at rest`,
  table(
    ["figure", "found"],
    [
      ["bytes of a position, its account included", whole(bytes)],
      ["start without them, ms to ready", spread(starts.without, whole)],
      ["start with them", spread(starts.with, whole)]
    ]
  ),
  "Bytes are of heap and buffers after a garbage collection. The positions are in the database alone."
]
