/** The margin part of the report. */
import type { PacedLatency } from "../contracts/protocol.ts"
import { millis, table, whole } from "../markdown.ts"
import type { CloseOutFindings } from "./closeOutRounds.ts"
import { marginGoals } from "./goals.ts"
import type { MarginFindings } from "./marginRounds.ts"

export const marginSection = (findings: MarginFindings): string =>
  [
    table(
      ["goal", "found", ""],
      marginGoals(findings).map(({ sentence, figure, reached }) => [sentence, figure, reached ? "reached" : "MISSED"])
    ),
    ...(findings.closeOuts === null ? [] : closeOutSection(findings.closeOuts))
  ].join("\n\n")

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
