/** The market feed's rows of the report. */
import { millis, spread, table, whole } from "../markdown.ts"
import type { FeedFindings, ReadSide } from "./feedRounds.ts"

export const feedSection = (findings: FeedFindings): string => {
  const { market, clients, prepared, subscriptions, ticking, still, commits } = findings
  const times = (own: number, other: number) => `${(own / Math.max(1e-9, other)).toFixed(2)} x`
  const beside = (name: string, side: ReadSide) => [
    name,
    spread(side.rate, whole),
    spread(side.p99, millis),
    side === market ? "" : times(market.rate.median, side.rate.median)
  ]
  const reads = table(
    ["reads at 256 connections", "per second", "p99 ms", "tickers and books are"],
    [
      beside("tickers and books of the service", market),
      beside("GET /clients/{id} of the service", clients),
      beside("Fastify serving a prepared buffer", prepared)
    ]
  )
  const rest = table(
    ["figure", "value"],
    [
      ["subscriptions at the venue with one reader, with 256", `${subscriptions.one}, ${subscriptions.many}`],
      ["p99 of reports at 64 connections without ticks, ms", spread(still, millis)],
      [
        "the same with 20 ticks a second on every market, ms",
        `${spread(ticking, millis)} (${times(ticking.median, still.median)})`
      ],
      ["commits in two seconds of such ticks without requests", whole(commits)]
    ]
  )
  return `${reads}\n\n${rest}`
}
