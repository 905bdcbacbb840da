/** The screening part of the report. */
import { millis, spread, table, whole } from "../markdown.ts"
import type { ListFindings, ScreeningFindings } from "./screeningRounds.ts"

const line = (list: ListFindings): ReadonlyArray<string> => [
  whole(list.entries),
  spread(list.p50, whole),
  spread(list.p99, whole),
  spread(list.cpu, whole),
  spread(list.scan, whole),
  `${whole(list.scan.median / Math.max(1e-9, list.p50.median))} x`,
  whole(list.buildMillis),
  whole(list.pieceMillis),
  millis(list.indexMegabytes),
  whole(list.seen),
  whole(list.comparedNames),
  list.matched.toFixed(1),
  `${((100 * list.found) / Math.max(1, list.screened)).toFixed(0)} %`
]

const growthSentence = (findings: ScreeningFindings): string => {
  const [shorter, longer] = findings
  if (shorter === undefined || longer === undefined) return ""
  const times = (of: (list: ListFindings) => number) => (of(longer) / Math.max(1e-9, of(shorter))).toFixed(1)
  return `A list ${whole(longer.entries / shorter.entries)} times as long takes ${times((list) => list.p50.median)} times as long at p50, ${times((list) => list.p99.median)} times at p99, ${times((list) => list.cpu.median)} times the processor time, ${times((list) => list.scan.median)} times by the plain scan.`
}

export const screeningSection = (findings: ScreeningFindings): string => {
  const compared = findings.reduce((sum, list) => sum + list.compared, 0)
  return `${table(
    [
      "entries",
      "p50 us",
      "p99 us",
      "processor us",
      "plain scan us",
      "scan is",
      "built in ms",
      "longest piece ms",
      "memory MB",
      "names seen",
      "compared",
      "candidates",
      "not CLEAR"
    ],
    findings.map(line)
  )}\n\n${growthSentence(findings)} Microseconds for one client (processor: on average), all in one process. Memory is that of the entries with their index. Names seen by their patterns, names compared letter by letter and candidates (entries at or over a threshold) are for one client on average; candidates grow as the list does. ${whole(compared)} answers were compared with those of the plain scan: all the same.`
}
