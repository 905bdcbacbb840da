/**
 * `sim partner run`: runs the bot against a service, then compares its books with the service's. Prints progress once a second
 * and a summary at the end (operator surface, Developers and QA).
 */
import { Clock, Effect, Fiber, type Redacted } from "effect"
import { type AuditReport, auditPartner } from "./PartnerAudit.ts"
import { PartnerBot } from "./PartnerBot.ts"
import { makePartnerClient } from "./PartnerClient.ts"
import { SeededRandom } from "./SeededRandom.ts"
import type { Tally } from "./sendUntilAcknowledged.ts"
import { plural } from "../../src/machines/shared/Text.ts"

export interface PartnerRunOptions {
  /** Origin of the service, such as https://localhost:8443. */
  readonly url: string
  readonly key: Redacted.Redacted
  /** PEM of the CA to trust; absent: the system's. */
  readonly ca?: string
  readonly clients: number
  /** Requests a second. */
  readonly rate: number
  readonly forMillis: number
  readonly seed: number
  /** Separates this run's references from other runs': letters and digits, at most 20. */
  readonly tag: string
  readonly onProgress: (progress: PartnerProgress) => void
  /** Timeout of the requests that are in flight at the end, ms; the audit gets ten times as long. Default 90 s. */
  readonly drainMillis?: number
}

export interface PartnerProgress {
  readonly elapsedMillis: number
  readonly acknowledged: number
  readonly clients: number
  readonly reports: number
  readonly underWay: number
  readonly contradictions: number
  readonly tally: Readonly<Tally>
}

export interface PartnerSummary extends PartnerProgress {
  /** Whether every answer and every figure is as expected, and no request is unanswered. */
  readonly ok: boolean
  readonly seed: number
  readonly tag: string
  /** Null if requests stayed unanswered, so that no result is final, or the service stayed unavailable. */
  readonly audit: AuditReport | null
  readonly problems: ReadonlyArray<string>
}

const mostWorkers = 64
/** The default of `drainMillis`, because a rate limit may require a wait of a whole minute. */
const defaultDrainMillis = 90_000
/** The audit's timeout in multiples of `drainMillis`, because the audit repeats every request under the same rate limit. */
const auditDrains = 10

/** The number of workers for a rate: enough if a request takes a quarter of a second. */
const workersFor = (rate: number): number => Math.min(mostWorkers, Math.max(2, Math.ceil(rate / 4)))

export const runPartner = (options: PartnerRunOptions): Effect.Effect<PartnerSummary> =>
  Effect.scoped(
    Effect.gen(function* () {
      const workers = workersFor(options.rate)
      const client = yield* makePartnerClient({
        origin: () => options.url,
        key: options.key,
        connections: workers * 2,
        ...(options.ca === undefined ? {} : { ca: options.ca })
      })
      const random = new SeededRandom(options.seed)
      const bot = new PartnerBot({ ...options, client, random: random.fork(), workers })
      const startedAt = yield* Clock.currentTimeMillis
      const progress = Effect.map(Clock.currentTimeMillis, (now) => progressOf(bot, now - startedAt))
      const ticker = yield* Effect.forkChild(
        Effect.forever(Effect.andThen(Effect.sleep("1 second"), Effect.map(progress, options.onProgress)))
      )
      const work = yield* Effect.forkChild(bot.work)
      yield* Effect.sleep(options.forMillis)
      bot.stopPlanning()
      const limit = options.drainMillis ?? defaultDrainMillis
      const drained = yield* Effect.timeoutOption(Fiber.join(work), limit)
      yield* Fiber.interrupt(work)
      yield* Fiber.interrupt(ticker)
      const found =
        drained._tag === "None"
          ? drained
          : yield* Effect.timeoutOption(
              auditPartner({ ...options, client, random, journal: bot.journal }),
              limit * auditDrains
            )
      return summaryOf(options, bot, yield* progress, found._tag === "Some" ? found.value : null)
    })
  )

const progressOf = ({ journal, open, tally, acknowledged }: PartnerBot, elapsedMillis: number): PartnerProgress => ({
  elapsedMillis,
  acknowledged,
  clients: journal.clients.size,
  reports: journal.reports.size,
  underWay: open.size,
  contradictions: journal.contradictionCount,
  tally: { ...tally }
})

const summaryOf = (
  options: PartnerRunOptions,
  bot: PartnerBot,
  progress: PartnerProgress,
  audit: AuditReport | null
): PartnerSummary => {
  const problems = [
    ...bot.journal.contradictions,
    ...(bot.tally.serverErrors > 0
      ? [`${bot.tally.serverErrors} answers were server errors other than 502 and 503.`]
      : []),
    ...(bot.open.size > 0
      ? [`The service did not acknowledge ${plural(bot.open.size, "request")} before the end of the run.`]
      : []),
    ...(audit === null
      ? ["The service's books could not be compared."]
      : [...audit.lost, ...audit.doubled, ...audit.wrong])
  ]
  return { ok: problems.length === 0, seed: options.seed, tag: options.tag, ...progress, audit, problems }
}
