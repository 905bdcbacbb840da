/** The openings section of the report, with its goals. */
import { millis, spread, table, whole } from "../markdown.ts"
import type { OpeningFindings } from "./openingRounds.ts"

const goals = { timesTypical: 2, shareOfReads: 0.5 } as const

const verdict = (reached: boolean): string => (reached ? "reached" : "MISSED")

export const openingSection = ({ service, typical, previews, reads }: OpeningFindings): string => {
  const times = service.rate.median / typical.rate.median
  const share = previews.rate.median / reads.rate.median
  const rows = table(
    ["a second", "", "p99 ms", "goal", ""],
    [
      [
        "contracts opened by the service, 16 connections",
        spread(service.rate, whole),
        spread(service.p99, millis),
        `${goals.timesTypical} x, lower p99`,
        `${times.toFixed(2)} x, ${verdict(times >= goals.timesTypical && service.p99.median < typical.p99.median)}`
      ],
      [
        "by a typical Fastify + pg handler at the same venue",
        spread(typical.rate, whole),
        spread(typical.p99, millis),
        "",
        ""
      ],
      [
        "previews, 64 connections",
        spread(previews.rate, whole),
        spread(previews.p99, millis),
        `${goals.shareOfReads} x the reads`,
        `${share.toFixed(2)} x, ${verdict(share >= goals.shareOfReads)}`
      ],
      ["reads of one client, 64 connections", spread(reads.rate, whole), spread(reads.p99, millis), "", ""]
    ]
  )
  return `${rows}\n\nAn opening is a request for quotes, reads of it until it has one, and an accept, each answered before the next; the dealer quotes at once. The venue stores its books before it answers, for both sides alike.`
}
