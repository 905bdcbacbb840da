/**
 * Klines of the venue. Readers of one window share one request, and its page is cached for a second. If the venue does
 * not answer, cached pages of up to ten seconds ago are served. If the venue is known to be unavailable, no reader
 * waits for it. An impossible page is quarantined and never cached (A2-114, A2-115).
 */
import { Deferred, Effect, Exit } from "effect"
import { secondQuery } from "../../../machines/market/klineWindow.ts"
import type { KlinePage } from "../../../machines/venue/marketData.ts"
import { type KlineWindow, noVenue, VenueUnanswered, type VenueShape } from "../../ports/Venue.ts"
import { servedMillis } from "./FeedSession.ts"
import { kindOf, type QuarantineRate } from "./QuarantineRate.ts"

interface Kept {
  readonly page: KlinePage
  readonly readAt: number
}

/** The time for which a page is served again, wall ms. In that time its contents hardly change. */
const keptMillis = 1_000
/** Limit of cached windows. */
const keptWindows = 256
/** Timeout of a request to the venue, wall ms. */
const readLimit = 2_000

export interface KlineReadsParts {
  readonly venue: Pick<VenueShape, "klines">
  /** Wall time. */
  readonly now: () => number
  /** True if the venue is known to be unavailable, so that no request is sent. */
  readonly isAway: () => boolean
  /** The reason why a page is impossible; null: it is possible. */
  readonly faultOf: (page: KlinePage, window: KlineWindow) => string | null
  readonly quarantine: Pick<QuarantineRate, "add">
}

export class KlineReads {
  /** The klines of a service without a venue: every read is refused. */
  static readonly none = new KlineReads({
    venue: { klines: () => Effect.fail(noVenue) },
    now: () => 0,
    isAway: () => true,
    faultOf: () => null,
    quarantine: { add: () => Effect.void }
  })

  private readonly kept = new Map<string, Kept>()
  private readonly running = new Map<string, Deferred.Deferred<KlinePage, VenueUnanswered>>()
  private readonly parts: KlineReadsParts

  constructor(parts: KlineReadsParts) {
    this.parts = parts
  }

  page(window: KlineWindow): Effect.Effect<KlinePage, VenueUnanswered> {
    return Effect.suspend(() => {
      const key = JSON.stringify([window.symbol, window.interval, window.from, window.to, window.limit])
      const found = this.kept.get(key)
      if (found !== undefined && this.parts.now() - found.readAt < keptMillis) return Effect.succeed(found.page)
      const running = this.running.get(key)
      if (running !== undefined) return Deferred.await(running)
      const next = Deferred.makeUnsafe<KlinePage, VenueUnanswered>()
      this.running.set(key, next)
      // The request runs in a fiber of its own, because the reader that began it may leave while others still wait.
      const run = Effect.onExit(this.read(window, key), (exit) =>
        Effect.sync(() => {
          this.running.delete(key)
          Deferred.doneUnsafe(next, Exit.isSuccess(exit) ? exit : Exit.failCause(exit.cause))
        })
      )
      return Effect.andThen(Effect.forkDetach(run), Deferred.await(next))
    })
  }

  private read(window: KlineWindow, key: string): Effect.Effect<KlinePage, VenueUnanswered> {
    const inTime = Effect.timeoutOrElse(this.requestPage(window), {
      duration: readLimit,
      orElse: () => Effect.fail(new VenueUnanswered({ reason: "klines took too long" }))
    })
    return (this.parts.isAway() ? Effect.fail(away) : inTime).pipe(
      Effect.tap((page) => Effect.sync(() => this.keep(key, page))),
      Effect.catch((error) => {
        const found = this.kept.get(key)
        return found !== undefined && this.parts.now() - found.readAt < servedMillis
          ? Effect.succeed(found.page)
          : Effect.fail(error)
      })
    )
  }

  private requestPage(window: KlineWindow): Effect.Effect<KlinePage, VenueUnanswered> {
    return this.once(window).pipe(
      Effect.flatMap((page) => {
        const again = secondQuery(window, page)
        return again === null ? Effect.succeed(page) : this.once({ ...window, from: again.from })
      })
    )
  }

  private once(window: KlineWindow): Effect.Effect<KlinePage, VenueUnanswered> {
    const { venue, faultOf, quarantine } = this.parts
    return Effect.flatMap(venue.klines(window), (page) => {
      const fault = faultOf(page, window)
      if (fault === null) return Effect.succeed(page)
      return Effect.andThen(
        quarantine.add(kindOf("klines", window.symbol, fault), JSON.stringify(page), fault),
        new VenueUnanswered({ reason: fault })
      )
    })
  }

  private keep(key: string, page: KlinePage): void {
    this.kept.delete(key)
    const [oldest] = this.kept.keys()
    if (this.kept.size === keptWindows && oldest !== undefined) this.kept.delete(oldest)
    this.kept.set(key, { page, readAt: this.parts.now() })
  }
}

const away = new VenueUnanswered({ reason: "the venue is away" })
