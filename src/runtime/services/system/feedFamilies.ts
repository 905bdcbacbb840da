/** The market feed's own figures (operator surface, metrics): whether it hears the venue, and what it had to give up. */
import type { FeedFigures } from "../market/MarketFeed.ts"
import { counter, type Family, gauge } from "./prometheus.ts"

export const feedFamilies = ({
  connected,
  connections,
  listings,
  kept,
  counts
}: FeedFigures): ReadonlyArray<Family> => [
  gauge("brokerage_feed_connected", "1 while the market feed receives the venue's messages, else 0.", [
    { value: connected ? 1 : 0 }
  ]),
  counter("brokerage_feed_connections_total", "Connections of the market feed that were begun.", [
    { value: connections }
  ]),
  counter("brokerage_feed_listings_total", "Listings of the venue's markets that were read.", [{ value: listings }]),
  gauge(
    "brokerage_feed_markets_kept",
    "Markets that are as they were listed before, because the venue's last listing is impossible for them.",
    [{ value: kept }]
  ),
  counter("brokerage_feed_messages_total", "Messages of the market feed, by what became of them.", [
    { labels: { end: "applied" }, value: counts.applied },
    { labels: { end: "old" }, value: counts.old },
    { labels: { end: "absurd" }, value: counts.absurd }
  ]),
  counter("brokerage_feed_gaps_total", "Times that messages of a channel were missing.", [{ value: counts.gaps }]),
  counter("brokerage_feed_wrong_checksums_total", "Books that did not fit the venue's checksum.", [
    { value: counts.wrongChecksums }
  ])
]
