/**
 * What the service measures of itself, as Prometheus text (operator surface, metrics). The invariants are followed, not
 * recomputed: each look sums what was posted since the last one, found by key, so that the books can be watched at any size.
 * They start with the first look of this process; `ledger verify` proves the whole.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Semaphore } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { ActorHost, type Unavailable } from "../engine/ActorHost.ts"
import { batchBuckets } from "../engine/BatchSizes.ts"
import { BusinessClock } from "../engine/BusinessClock.ts"
import { Journal } from "../engine/Journal.ts"
import { answerCounts } from "./answerCounts.ts"
import { type Family, gauge, counter, prometheusText } from "./prometheus.ts"
import { whenAway } from "./whenAway.ts"

/** How old what was read from the database may be, wall milliseconds. */
export const metricsAge = 15_000

/** Above this many a queue is told as this many: counting on would cost more than it says. */
const countLimit = 100_000

/** Posting ids summed in one look: after a longer pause the following starts anew, and says so. */
const followLimit = 2_000_000n

export class Metrics extends Context.Service<Metrics, { readonly text: Effect.Effect<string, Unavailable> }>()(
  "brokerage/runtime/services/Metrics"
) {
  static readonly layer = Layer.effect(
    Metrics,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const host = yield* ActorHost
      const journal = yield* Journal
      const clock = yield* BusinessClock
      const lag = yield* Effect.acquireRelease(
        Effect.sync(() => {
          const histogram = monitorEventLoopDelay({ resolution: 20 })
          histogram.enable()
          return histogram
        }),
        (histogram) => Effect.sync(() => histogram.disable())
      )
      const one = yield* Semaphore.make(1)
      const followed = new Followed()
      let read: { readonly at: number; readonly families: ReadonlyArray<Family> } | null = null

      const fromDatabase = Effect.gen(function* () {
        const wall = performance.now()
        if (read !== null && wall - read.at < metricsAge) return read.families
        const [marks] = yield* sql.unsafe<Marks>(marksText)
        if (marks !== undefined) {
          const { posting, item } = followed
          if (posting !== null && marks.posting - posting > followLimit) followed.unfollowed += marks.posting - posting
          else if (posting !== null && item !== null) {
            const values = [posting, marks.posting, item, marks.item]
            followed.take(
              yield* sql.unsafe<Sum>(sumsText, values.slice(0, 2)),
              yield* sql.unsafe<Difference>(differencesText, values)
            )
          }
          followed.posting = marks.posting
          followed.item = marks.item
        }
        const seqs = yield* sql.unsafe<Seq>(lastSeqText)
        const from = seqs.flatMap(({ partner, seq }) => {
          const before = followed.seqs.get(partner)
          return before === undefined || before === seq ? [] : [{ partner, before, seq }]
        })
        for (const { partner, before, seq } of from) {
          const [found] = yield* sql.unsafe<{ readonly n: bigint }>(eventsText, [partner, before, seq])
          followed.gaps += seq - before - (found?.n ?? 0n)
        }
        for (const { partner, seq } of seqs) followed.seqs.set(partner, seq)
        const [unsealed] = yield* sql.unsafe<{ readonly n: bigint }>(unsealedText)
        const [deliveries] = yield* sql.unsafe<{ readonly due: bigint; readonly failed: bigint }>(deliveriesText, [
          BigInt(clock.now())
        ])
        const pool = yield* sql.unsafe<{ readonly state: string; readonly n: bigint }>(poolText)
        const families = databaseFamilies(followed, unsealed?.n ?? 0n, deliveries, pool)
        read = { at: wall, families }
        return families
      })

      return Metrics.of({
        text: one.withPermits(1)(
          Effect.map(Effect.catch(fromDatabase, whenAway), (families) => {
            const text = prometheusText([...families, ...processFamilies(host.stats(), journal.batches(), lag)])
            lag.reset()
            return text
          })
        )
      })
    })
  )
}

interface Marks {
  readonly posting: bigint
  readonly item: bigint
}
interface Sum {
  readonly currency: string
  readonly amount: string
}
interface Difference {
  readonly partner: bigint
  readonly amount: string
}
interface Seq {
  readonly partner: bigint
  readonly seq: bigint
}

/** What has been seen so far of the books. */
class Followed {
  /** The newest posting and settlement item seen, of one snapshot; null before the first look. */
  posting: bigint | null = null
  item: bigint | null = null
  readonly sums = new Map<string, bigint>()
  readonly differences = new Map<bigint, bigint>()
  readonly seqs = new Map<bigint, bigint>()
  gaps = 0n
  /** Posting ids that no look summed. */
  unfollowed = 0n

  take(sums: ReadonlyArray<Sum>, differences: ReadonlyArray<Difference>): void {
    for (const { currency, amount } of sums) {
      this.sums.set(currency, (this.sums.get(currency) ?? 0n) + BigInt(amount))
    }
    for (const { partner, amount } of differences) {
      this.differences.set(partner, (this.differences.get(partner) ?? 0n) + BigInt(amount))
    }
  }
}

/** Ids follow the order of commits, so both ends of one snapshot belong together. */
const marksText = `SELECT coalesce((SELECT max(posting_id) FROM postings), 0) AS posting,
  coalesce((SELECT max(id) FROM settlement_items), 0) AS item`

const sumsText = `SELECT currency, sum(amount)::text AS amount FROM postings
  WHERE posting_id > $1 AND posting_id <= $2 GROUP BY currency`

/** Clients' money less collateral less what is to be settled, of partners under PARTNER custody: zero (doc 3, summary). */
const differencesText = `WITH moved AS (
    SELECT p.partner_id, sum(p.amount) AS amount FROM postings p
     WHERE p.posting_id > $1 AND p.posting_id <= $2 AND p.currency = 'USDC'
       AND (p.client_id IS NOT NULL OR p.account LIKE 'partner_custody:%') GROUP BY p.partner_id),
  items AS (
    SELECT partner_id, sum(amount) AS amount FROM settlement_items WHERE id > $3 AND id <= $4 GROUP BY partner_id)
  SELECT c.id AS partner, (coalesce(m.amount, 0) - coalesce(i.amount, 0))::text AS amount FROM partners c
    LEFT JOIN moved m ON m.partner_id = c.id LEFT JOIN items i ON i.partner_id = c.id WHERE c.custody_model = 'PARTNER'`

const lastSeqText =
  "SELECT p.id AS partner, coalesce((SELECT max(seq) FROM events e WHERE e.partner_id = p.id), 0) AS seq FROM partners p"
const eventsText = "SELECT count(*) AS n FROM events WHERE partner_id = $1 AND seq > $2 AND seq <= $3"

const unsealedText = `WITH last AS MATERIALIZED (SELECT * FROM seals ORDER BY number DESC LIMIT 1)
  SELECT (SELECT count(*) FROM audit WHERE id > coalesce((SELECT audit_to FROM last), 0))
       + (SELECT count(*) FROM decisions WHERE id > coalesce((SELECT decision_to FROM last), 0))
       + (SELECT count(*) FROM ledger_transactions WHERE tx_id > coalesce((SELECT transaction_to FROM last), 0))
       + (SELECT count(*) FROM postings WHERE posting_id > coalesce((SELECT posting_to FROM last), 0))
       + (SELECT count(*) FROM interfirm_records WHERE id > coalesce((SELECT interfirm_to FROM last), 0))
       + (SELECT count(*) FROM custody_changes WHERE id > coalesce((SELECT custody_to FROM last), 0)) AS n`

/** Both halves read partial indexes that hold just what is counted. */
const deliveriesText = `SELECT
  (SELECT count(*) FROM (SELECT 1 FROM webhook_deliveries
     WHERE state IN ('PENDING', 'RETRYING') AND next_at <= $1 LIMIT ${countLimit}) d) AS due,
  (SELECT count(*) FROM (SELECT 1 FROM webhook_deliveries WHERE state = 'FAILED' LIMIT ${countLimit}) f) AS failed`

const poolText = `SELECT coalesce(state, 'unknown') AS state, count(*) AS n FROM pg_stat_activity
  WHERE application_name = 'brokerage' AND datname = current_database() GROUP BY 1`

const databaseFamilies = (
  { sums, differences, gaps, unfollowed }: Followed,
  unsealed: bigint,
  deliveries: { readonly due: bigint; readonly failed: bigint } | undefined,
  pool: ReadonlyArray<{ readonly state: string; readonly n: bigint }>
): ReadonlyArray<Family> => [
  gauge(
    "brokerage_postings_sum",
    "Sum of the postings seen since the first look, minor units; anything but 0 is a break.",
    [...sums].map(([currency, value]) => ({ labels: { currency }, value }))
  ),
  gauge(
    "brokerage_custody_difference",
    "Client cash less collateral held less settlement items since the first look, minor units; anything but 0 is a break.",
    [...differences].map(([partner, value]) => ({ labels: { partner: String(partner) }, value }))
  ),
  counter("brokerage_postings_unfollowed_total", "Posting ids that the sums leave out: the looks were too far apart.", [
    { value: unfollowed }
  ]),
  gauge("brokerage_event_gaps", "Event numbers missing since the first look; anything but 0 is a break.", [
    { value: gaps }
  ]),
  gauge("brokerage_unsealed_rows", "Rows of the sealed tables behind no seal; anything but 0 is a break.", [
    { value: unsealed }
  ]),
  gauge("brokerage_webhook_deliveries", `Deliveries that are due or have failed, at most ${countLimit} of each.`, [
    { labels: { state: "due" }, value: deliveries?.due ?? 0n },
    { labels: { state: "failed" }, value: deliveries?.failed ?? 0n }
  ]),
  gauge(
    "brokerage_pool_connections",
    "Database connections for reads, by what they do.",
    pool.map(({ state, n }) => ({ labels: { state }, value: n }))
  )
]

const processFamilies = (
  stats: { readonly resident: number; readonly waiting: number },
  sizes: ReturnType<Journal["Service"]["batches"]>,
  lag: { readonly mean: number; readonly max: number; percentile(percentile: number): number }
): ReadonlyArray<Family> => {
  const seconds = (nanos: number): number => (Number.isFinite(nanos) ? nanos / 1e9 : 0)
  return [
    gauge("brokerage_mailboxes", "Mailboxes in memory.", [{ value: stats.resident }]),
    gauge("brokerage_commands_waiting", "Commands that wait or run.", [{ value: stats.waiting }]),
    counter("brokerage_commits_total", "Commits handed to the database in batches.", [{ value: sizes.commits }]),
    {
      name: "brokerage_batch_size",
      help: "Commits in one batch.",
      type: "histogram",
      samples: [
        ...batchBuckets.map((bound, place) => ({
          suffix: "_bucket",
          labels: { le: String(bound) },
          value: sizes.buckets.slice(0, place + 1).reduce((sum, n) => sum + n, 0)
        })),
        { suffix: "_bucket", labels: { le: "+Inf" }, value: sizes.batches },
        { suffix: "_sum", value: sizes.commits },
        { suffix: "_count", value: sizes.batches }
      ]
    },
    counter(
      "brokerage_answers_total",
      "Answers of the partner surface by status; 4xx are refusals.",
      Object.entries(answerCounts()).map(([status, value]) => ({ labels: { status }, value }))
    ),
    gauge("brokerage_loop_lag_seconds", "Delay of the event loop since the last look.", [
      { labels: { figure: "mean" }, value: seconds(lag.mean) },
      { labels: { figure: "p99" }, value: seconds(lag.percentile(99)) },
      { labels: { figure: "max" }, value: seconds(lag.max) }
    ])
  ]
}
