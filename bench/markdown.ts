/** Figures and tables of the report as Markdown. */
import type { PacedResult } from "./contracts/protocol.ts"
import type { Row, Rows, Spread } from "./rounds.ts"

export const whole = (value: number): string => value.toFixed(0).replaceAll(/\B(?=(\d{3})+$)/g, ",")
export const spread = ({ median, min, max }: Spread, format: (value: number) => string): string =>
  `${format(median)} (${format(min)}-${format(max)})`
export const millis = (value: number): string => (value < 100 ? value.toFixed(1) : whole(value))
const micros = (value: Spread | null): string => (value === null ? "" : whole(value.median))

export const table = (head: ReadonlyArray<string>, lines: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = head.map((title, column) => Math.max(title.length, ...lines.map((line) => line[column]?.length ?? 0)))
  const show = (cells: ReadonlyArray<string>) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`
  return [show(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...lines.map(show)].join("\n")
}

/** The service's row, then those of the references beside it. */
export const rowsTable = ({ service, typical, tuned }: Partial<Rows> & Pick<Rows, "service">): string => {
  const line = (row: Row): ReadonlyArray<string> => [
    row.system,
    spread(row.rate, whole),
    row === service ? "" : `${(service.rate.median / row.rate.median).toFixed(1)} x`,
    spread(row.p50, millis),
    spread(row.p99, millis),
    micros(row.app),
    micros(row.database),
    micros(row.generator)
  ]
  return table(
    ["system", "per second", "service is", "p50 ms", "p99 ms", "program us", "database us", "generator us"],
    [service, typical, tuned].filter((row) => row !== null && row !== undefined).map(line)
  )
}

/** Limit on the cores that other programs keep busy. Above it, a run measures them more than the systems under test. */
const quietCores = 0.2

/** A paragraph that reports a disturbed run; empty after an undisturbed one. */
export const disturbed = ({ median }: Spread): string =>
  median > quietCores
    ? "\n\n**This run was disturbed: other programs took much of the machine. Repeat it when the machine is quiet.**"
    : ""

/**
 * A table row of paced callers' latencies: the name; median, 99th percentile and maximum of the reads; then the same three of
 * the reports.
 */
export const latencyRow = (name: string, { reads, reports }: PacedResult): ReadonlyArray<string> => [
  name,
  ...[reads, reports].map(
    ({ p50Millis, p99Millis, maxMillis }) => `${millis(p50Millis)}, ${millis(p99Millis)}, ${millis(maxMillis)}`
  )
]
