/** Lets callers wait for news about a key. Each caller waits until news satisfies it, or until its timeout. */
import { Deferred, Effect } from "effect"
import { ShortLivedMap } from "./ShortLivedMap.ts"

export class Waits<Key, News> {
  private readonly waiting = new ShortLivedMap<Key, Set<(news: News) => void>>()
  private readonly limit: number

  /** `limit`: the most callers that may wait for one key. */
  constructor(limit: number) {
    this.limit = limit
  }

  has(key: Key): boolean {
    return this.waiting.has(key)
  }

  /** True if no further caller may wait for the key. */
  isFull(key: Key): boolean {
    return (this.waiting.get(key)?.size ?? 0) >= this.limit
  }

  publish(key: Key, news: News): void {
    // Iterates over a copy: a caller that resumes may wait for the key again at once, and must not receive this news twice.
    const waiting = Array.from(this.waiting.get(key) ?? [])
    for (const receive of waiting) receive(news)
  }

  /**
   * Waits for a result. `now` runs first, after the caller is registered, so that no news is missed; then `satisfied` runs
   * on each news. Completes with the first result that is not null, or with null after `millis` of wall time.
   */
  until<A, E>(
    key: Key,
    now: Effect.Effect<A | null, E>,
    satisfied: (news: News) => A | null,
    millis: number
  ): Effect.Effect<A | null, E> {
    return Effect.suspend(() => {
      const done = Deferred.makeUnsafe<A>()
      const receive = (news: News): void => {
        try {
          const found = satisfied(news)
          if (found !== null) Deferred.doneUnsafe(done, Effect.succeed(found))
        } catch (defect) {
          Deferred.doneUnsafe(done, Effect.die(defect))
        }
      }
      const others = this.waiting.get(key) ?? new Set()
      this.waiting.set(key, others.add(receive))
      return Effect.flatMapEager(now, (found) => (found === null ? Deferred.await(done) : Effect.succeed(found))).pipe(
        Effect.timeoutOrElse({ duration: millis, orElse: () => Effect.succeed(null) }),
        Effect.ensuring(
          Effect.sync(() => {
            others.delete(receive)
            if (others.size === 0 && this.waiting.get(key) === others) this.waiting.delete(key)
          })
        )
      )
    })
  }
}
