/**
 * Klines of the venue, read once for whoever asks for the same window at the same time, and kept for a second. While the
 * venue does not answer, what was read up to ten seconds ago is served (A2-114).
 */
import { Deferred, Effect, Exit } from "effect"
import { askedAgain } from "../../../machines/market/klineWindow.ts"
import type { KlinePage } from "../../../machines/venue/marketData.ts"
import { type KlineWindow, VenueUnanswered, type VenueShape } from "../../ports/Venue.ts"
import { servedMillis } from "./FeedSession.ts"

interface Kept {
  readonly page: KlinePage
  readonly readAt: number
}

/** A page is served again for so long, wall ms: nothing in it changes by more. */
const keptMillis = 1_000
/** Windows that are kept. */
const keptWindows = 256
/** A read that takes longer is given up, wall ms. */
const readLimit = 5_000

export class KlineReads {
  /** Of a service that no venue is attached to. */
  static readonly none = new KlineReads(
    { klines: () => Effect.fail(new VenueUnanswered({ reason: "no venue is attached" })) },
    () => 0
  )

  private readonly kept = new Map<string, Kept>()
  private readonly running = new Map<string, Deferred.Deferred<KlinePage, VenueUnanswered>>()
  private readonly venue: Pick<VenueShape, "klines">
  private readonly now: () => number

  constructor(venue: Pick<VenueShape, "klines">, now: () => number) {
    this.venue = venue
    this.now = now
  }

  page(window: KlineWindow): Effect.Effect<KlinePage, VenueUnanswered> {
    return Effect.suspend(() => {
      const key = JSON.stringify([window.symbol, window.interval, window.from, window.to, window.limit])
      const found = this.kept.get(key)
      if (found !== undefined && this.now() - found.readAt < keptMillis) return Effect.succeed(found.page)
      const running = this.running.get(key)
      if (running !== undefined) return Deferred.await(running)
      const next = Deferred.makeUnsafe<KlinePage, VenueUnanswered>()
      this.running.set(key, next)
      // In a fiber of its own: whoever asked first may leave, the others wait on.
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
    return this.asked(window).pipe(
      Effect.tap((page) => Effect.sync(() => this.keep(key, page))),
      Effect.catch((error) => {
        const found = this.kept.get(key)
        return found !== undefined && this.now() - found.readAt < servedMillis
          ? Effect.succeed(found.page)
          : Effect.fail(error)
      })
    )
  }

  private asked(window: KlineWindow): Effect.Effect<KlinePage, VenueUnanswered> {
    return this.once(window).pipe(
      Effect.flatMap((page) => {
        const again = askedAgain(window, page)
        return again === null ? Effect.succeed(page) : this.once({ ...window, from: again.from })
      })
    )
  }

  private once(window: KlineWindow): Effect.Effect<KlinePage, VenueUnanswered> {
    return Effect.timeoutOrElse(this.venue.klines(window), {
      duration: readLimit,
      orElse: () => Effect.fail(new VenueUnanswered({ reason: "klines took too long" }))
    })
  }

  private keep(key: string, page: KlinePage): void {
    this.kept.delete(key)
    const [oldest] = this.kept.keys()
    if (this.kept.size === keptWindows && oldest !== undefined) this.kept.delete(oldest)
    this.kept.set(key, { page, readAt: this.now() })
  }
}
