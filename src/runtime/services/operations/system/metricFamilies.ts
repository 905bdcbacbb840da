/** The metrics by name, with their help texts. */
import { batchBuckets } from "../../../engine/journal/BatchSizes.ts"
import type { Journal } from "../../../engine/journal/Journal.ts"
import { countLimit } from "../../../store/reads/metricReads.ts"
import type { CallFigures } from "../../venue/VenueCalls.ts"
import type { FollowedBooks, BooksRead } from "./followedBooks.ts"
import type { LagFigures } from "./loopLag.ts"
import { counter, type Family, gauge } from "./prometheus.ts"
import type { RiskIndex } from "../../margin/RiskIndex.ts"
import type { FeedFigures } from "../../market/MarketFeed.ts"

/** Metrics of the books and the queues, which need a read of the database. */
export const databaseFamilies = (
  { sums, differences, gaps, unfollowed }: FollowedBooks,
  { unsealed, deliveries, pool }: BooksRead
): ReadonlyArray<Family> => [
  gauge(
    "brokerage_postings_sum",
    "Sum of the postings seen since the first read, minor units; anything but 0 is a break.",
    [...sums].map(([currency, value]) => ({ labels: { currency }, value }))
  ),
  gauge(
    "brokerage_custody_difference",
    "Client cash less collateral held less settlement items since the first read or the partner's last change of custody model, minor units; anything but 0 is a break.",
    [...differences].map(([partner, { amount }]) => ({ labels: { partner: String(partner) }, value: amount }))
  ),
  counter("brokerage_postings_unfollowed_total", "Posting ids that the sums leave out: the reads were too far apart.", [
    { value: unfollowed }
  ]),
  gauge("brokerage_event_gaps", "Event numbers missing since the first read; anything but 0 is a break.", [
    { value: gaps }
  ]),
  gauge("brokerage_unsealed_rows", "Rows of the sealed tables behind no seal; anything but 0 is a break.", [
    { value: unsealed }
  ]),
  gauge("brokerage_webhook_deliveries", `Deliveries that are due or have failed, at most ${countLimit} of each.`, [
    { labels: { state: "due" }, value: deliveries.due },
    { labels: { state: "failed" }, value: deliveries.failed }
  ]),
  gauge(
    "brokerage_pool_connections",
    "Database connections for reads, by what they do.",
    pool.map(({ state, n }) => ({ labels: { state }, value: n }))
  )
]

export interface ProcessFigures {
  /** True if this reply contains the figures of the database. */
  readonly databaseUp: boolean
  readonly mailboxes: { readonly resident: number; readonly waiting: number }
  readonly batches: ReturnType<Journal["Service"]["batches"]>
  readonly held: ReturnType<Journal["Service"]["held"]>
  readonly texts: { readonly kept: number; readonly made: number }
  readonly webhooks: { readonly inFlight: number; readonly held: number }
  readonly venue: CallFigures & {
    readonly setAside: number
    readonly misfits: number
    readonly legs: number
    readonly differences: number
  }
  readonly answers: Readonly<Record<string, number>>
  readonly memory: Pick<NodeJS.MemoryUsage, "rss" | "heapUsed" | "external">
  readonly lag: LagFigures
  readonly droppedLines: Readonly<Record<string, number>>
}

/** Figures of the process itself: they do not depend on the database. */
export const processFamilies = (figures: ProcessFigures): ReadonlyArray<Family> => {
  const { databaseUp, mailboxes, batches, held, texts, webhooks, venue, answers, memory, lag, droppedLines } = figures
  return [
    gauge("brokerage_database_up", "1 when the database answered in time and its figures are here, else 0.", [
      { value: databaseUp ? 1 : 0 }
    ]),
    gauge("brokerage_mailboxes", "Mailboxes in memory.", [{ value: mailboxes.resident }]),
    gauge("brokerage_commands_waiting", "Commands that wait or run.", [{ value: mailboxes.waiting }]),
    counter("brokerage_commits_total", "Commits handed to the database in batches.", [{ value: batches.commits }]),
    {
      name: "brokerage_batch_size",
      help: "Commits in one batch.",
      type: "histogram",
      samples: [
        ...batchBuckets.map((bound, place) => ({
          suffix: "_bucket",
          labels: { le: String(bound) },
          value: batches.buckets.slice(0, place + 1).reduce((sum, n) => sum + n, 0)
        })),
        { suffix: "_bucket", labels: { le: "+Inf" }, value: batches.batches },
        { suffix: "_sum", value: batches.commits },
        { suffix: "_count", value: batches.batches }
      ]
    },
    gauge("brokerage_journal_held", "What other database sessions hold locked and commits are refused for.", [
      { labels: { what: "rows" }, value: held.rows },
      { labels: { what: "tables" }, value: held.tables }
    ]),
    gauge("brokerage_journal_statement_texts", "Texts of the batch statement that are kept prepared.", [
      { value: texts.kept }
    ]),
    counter("brokerage_journal_statement_texts_made_total", "Texts of the batch statement that had to be planned.", [
      { value: texts.made }
    ]),
    counter(
      "brokerage_answers_total",
      "Answers of the partner surface by status; 4xx are refusals.",
      Object.entries(answers).map(([status, value]) => ({ labels: { status }, value }))
    ),
    gauge("brokerage_webhook_attempts", "Deliveries claimed by this process, and those of them on their way.", [
      { labels: { state: "held" }, value: webhooks.held },
      { labels: { state: "in_flight" }, value: webhooks.inFlight }
    ]),
    gauge("brokerage_venue_calls", "Calls to the venue without a known outcome, and those of them that are queried.", [
      { labels: { state: "in_flight" }, value: venue.inFlight },
      { labels: { state: "lost" }, value: venue.inDoubt }
    ]),
    counter("brokerage_venue_calls_made_total", "Calls of the venue that this process has made.", [
      { value: venue.made }
    ]),
    counter("brokerage_venue_calls_late_total", "Calls of the venue that were not made, because their time was over.", [
      { value: venue.tooLate }
    ]),
    counter("brokerage_venue_lookups_total", "Status queries to the venue about in-doubt calls.", [
      { value: venue.lookups }
    ]),
    counter(
      "brokerage_venue_alarms_total",
      "Calls that the venue had not answered for a minute, or not shown what it executed.",
      [{ value: venue.alarms }]
    ),
    counter(
      "brokerage_venue_set_aside_total",
      "Messages of the venue that were quarantined because they could not be applied.",
      [{ value: venue.setAside }]
    ),
    counter(
      "brokerage_venue_misfits_total",
      "Objects of which every report of the venue did not fit the request; their clients' money is paused.",
      [{ value: venue.misfits }]
    ),
    counter(
      "brokerage_venue_refused_legs_total",
      "Attempts to place a take profit or stop loss that the venue refused; each leg is placed again.",
      [{ value: venue.legs }]
    ),
    counter(
      "brokerage_venue_differences_total",
      "Differences from the venue and overdue contracts that were alarmed.",
      [{ value: venue.differences }]
    ),
    gauge("brokerage_memory_bytes", "Memory of the process.", [
      { labels: { kind: "rss" }, value: memory.rss },
      { labels: { kind: "heap_used" }, value: memory.heapUsed },
      { labels: { kind: "external" }, value: memory.external }
    ]),
    gauge("brokerage_loop_lag_seconds", "Delay of the event loop in the last whole minute.", [
      { labels: { figure: "mean" }, value: lag.mean },
      { labels: { figure: "p99" }, value: lag.p99 },
      { labels: { figure: "max" }, value: lag.max }
    ]),
    counter(
      "brokerage_dropped_lines_total",
      "Lines of the log (stderr) and of stdout that could not be written.",
      Object.entries(droppedLines).map(([stream, value]) => ({ labels: { stream }, value }))
    )
  ]
}

/** Figures of the risk index: watched accounts, the number of range computations, accounts due for a judgement. */
export const riskFamilies = ({ size, positions, waiting, counts }: RiskIndex): ReadonlyArray<Family> => [
  gauge("brokerage_risk_accounts", "Accounts with positions on perpetuals, whose margin level is watched.", [
    { value: size }
  ]),
  gauge("brokerage_risk_positions", "Positions on perpetuals of the watched accounts.", [{ value: positions }]),
  gauge("brokerage_risk_due", "Accounts whose margin level may have crossed a threshold and is not checked yet.", [
    { value: waiting }
  ]),
  counter(
    "brokerage_risk_shares_total",
    "Computations of the price moves that each position of an account allows without a check.",
    [{ value: counts.shares }]
  ),
  counter("brokerage_risk_due_total", "Price moves after which the margin level of an account was checked.", [
    { value: counts.due }
  ])
]

/** Figures of the market feed: its connection, its messages and their faults. */
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
  counter("brokerage_feed_messages_total", "Messages of the market feed, by outcome.", [
    { labels: { end: "applied" }, value: counts.applied },
    { labels: { end: "old" }, value: counts.old },
    { labels: { end: "absurd" }, value: counts.absurd }
  ]),
  counter("brokerage_feed_gaps_total", "Times that messages of a channel were missing.", [{ value: counts.gaps }]),
  counter("brokerage_feed_wrong_checksums_total", "Books that did not fit the venue's checksum.", [
    { value: counts.wrongChecksums }
  ])
]
