/** The orders part of the report. */
import { disturbed, millis, rowsTable, spread, table, whole } from "../markdown.ts"
import type { Spread } from "../rounds.ts"
import type { FillFindings, FillRow } from "./fillRounds.ts"
import { orderGoals } from "./goals.ts"
import type { OrderFindings } from "./orderRounds.ts"
import type { OrderSystemRow, PlacingRows } from "./placingRounds.ts"

const ratio = (own: Spread, other: Spread): string => `${(own.median / Math.max(1e-9, other.median)).toFixed(2)} x`
const micros = (value: Spread | null): string => (value === null ? "" : whole(value.median))

const placingTable = ({ service, typical, tuned }: PlacingRows): string =>
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
    [service, typical, tuned].map((row: OrderSystemRow) => [
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
  )

const fillTable = ({ service, plain, custody }: FillFindings): string => {
  const line = (name: string, row: FillRow, beside: string): ReadonlyArray<string> => [
    name,
    spread(row.rate, whole),
    beside,
    micros(row.program),
    micros(row.database),
    micros(row.venue),
    micros(row.tableBytes),
    micros(row.logBytes)
  ]
  return table(
    [custody, "trades a second", "service is", "program us", "database us", "venue us", "table bytes", "log bytes"],
    [
      line("service", service, ""),
      line(`plain SQL, one statement a trade, ${plain.concurrency} connections`, plain, ratio(service.rate, plain.rate))
    ]
  )
}

export const ordersSection = (findings: OrderFindings): string => {
  const { placing, fills, figures } = findings
  const goals = table(
    ["goal", "found", ""],
    orderGoals(findings).map(({ sentence, figure, reached }) => [sentence, figure, reached ? "reached" : "MISSED"])
  )
  return [
    goals,
    "### Orders accepted, 64 connections",
    placingTable(placing.placed),
    "### Cancels, 64 connections",
    placingTable(placing.cancelled),
    `${whole(placing.orders)} orders were acknowledged by the service, and each of them was found stored, at work at the venue, and cancelled. Other programs kept ${spread(placing.otherCores, (value) => value.toFixed(2))} cores busy during these slices.${disturbed(placing.otherCores)}`,
    "### Trades booked",
    ...fills.map(fillTable),
    `A wave is ${whole(fills[0]?.trades ?? 0)} trades of resting orders that one move of the price fills; the service's time begins with the move, the venue's own work included, and ends with the last trade stored. After every wave trades, positions, orders and money were the venue's.`,
    "### Margin of five positions and ten orders, 64 connections",
    rowsTable({ service: figures.reads }),
    "### Previews of the same accounts, 64 connections",
    rowsTable({ service: figures.previews })
  ].join("\n\n")
}
