/**
 * The service's metrics, as Prometheus text. Invariants are followed incrementally from this process's first read on;
 * `ledger verify` proves them over all data. If the database is unavailable or slow, only the figures of the process
 * are returned.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Fiber, Layer } from "effect"
import { ActorHost, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import { statementTexts } from "../../../engine/journal/batchStatement.ts"
import { Journal } from "../../../engine/journal/Journal.ts"
import { withinTime } from "../../../engine/withinTime.ts"
import { refusedLegCount } from "../../trading/order/layerProtection.ts"
import { RiskWatch } from "../../margin/RiskWatch.ts"
import { MarketFeed } from "../../market/MarketFeed.ts"
import { VenueComparison } from "../../reconciliation/VenueComparison.ts"
import { VenueCalls } from "../../venue/VenueCalls.ts"
import { standingMisfitCount } from "../registries/layerMisfitReads.ts"
import { quarantinedCount } from "../../venue/venueQuarantine.ts"
import { DeliveryWorker } from "../../webhooks/DeliveryWorker.ts"
import { droppedLines } from "../../../adapters/LineOutput.ts"
import { answerCounts } from "./answerCounts.ts"
import { databaseFamilies, feedFamilies, processFamilies, riskFamilies } from "./metricFamilies.ts"
import { FollowedBooks } from "./followedBooks.ts"
import { loopLag } from "./loopLag.ts"
import { type Family, prometheusText } from "./prometheus.ts"
import { whenAway } from "../../../store/whenAway.ts"

/** The highest age of figures from the database, wall ms. */
export const metricsAge = 15_000

/**
 * The longest wait of a reply for the database read, wall ms. The read itself may take longer, and then serves the next
 * reply.
 */
export const samplePatience = 2_000

type Families = ReadonlyArray<Family>

export class Metrics extends Context.Service<Metrics, { readonly text: Effect.Effect<string> }>()(
  "brokerage/runtime/services/operations/system/Metrics"
) {
  static readonly layer = Layer.effect(
    Metrics,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const host = yield* ActorHost
      const journal = yield* Journal
      const clock = yield* BusinessClock
      const webhooks = yield* DeliveryWorker
      const calls = yield* VenueCalls
      const comparison = yield* VenueComparison
      const feed = yield* MarketFeed
      const { index } = yield* RiskWatch
      const lag = yield* loopLag
      const fork = Effect.runForkWith(yield* Effect.context<never>())
      const books = new FollowedBooks()
      let read: { readonly at: number; readonly families: Families } | null = null
      /** The read in progress, which concurrent requests share. */
      let reading: { readonly since: number; readonly fiber: Fiber.Fiber<Families, Unavailable> } | null = null

      const readBooks = withinTime(
        Effect.suspend(() => books.read(sql, clock.now())),
        () => new Unavailable({ unknown: false })
      ).pipe(
        Effect.map((found) => {
          books.take(found)
          const families = databaseFamilies(books, found)
          read = { at: performance.now(), families }
          return families
        }),
        Effect.catch(whenAway)
      )

      const start = (since: number): NonNullable<typeof reading> => {
        const fiber = fork(readBooks)
        const started = { since, fiber }
        reading = started
        fiber.addObserver(() => (reading = null))
        return started
      }

      /** The families of the database, at most `metricsAge` old; null: timeout. */
      const fromDatabase: Effect.Effect<Families | null> = Effect.gen(function* () {
        const wall = performance.now()
        if (read !== null && wall - read.at < metricsAge) return read.families
        const { since, fiber } = reading ?? start(wall)
        return yield* Effect.timeoutOrElse(Fiber.join(fiber), {
          duration: Math.max(0, since + samplePatience - wall),
          orElse: () => Effect.succeed(null)
        })
      }).pipe(
        Effect.catchTag("Unavailable", () => Effect.succeed(null)),
        Effect.catchDefect((defect) =>
          Effect.as(
            Effect.logError("the metrics of the database can't be read: the answer leaves them out", defect),
            null
          )
        )
      )

      return Metrics.of({
        text: Effect.map(fromDatabase, (families) =>
          prometheusText([
            ...(families ?? []),
            ...processFamilies({
              databaseUp: families !== null,
              mailboxes: host.stats(),
              batches: journal.batches(),
              held: journal.held(),
              texts: statementTexts(),
              webhooks: webhooks.stats(),
              venue: {
                ...calls.figures(),
                setAside: quarantinedCount(),
                misfits: standingMisfitCount(),
                legs: refusedLegCount(),
                differences: comparison.figures().alarms
              },
              answers: answerCounts(),
              memory: process.memoryUsage(),
              lag: lag.figures(),
              droppedLines: droppedLines()
            }),
            ...feedFamilies(feed.figures()),
            ...riskFamilies(index)
          ])
        )
      })
    })
  )
}
