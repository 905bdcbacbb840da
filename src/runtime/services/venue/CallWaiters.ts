/** Who waits until what became of calls is known, whichever way it comes to be (A1-51: 502 after 5 s). */
import { Effect, Latch } from "effect"
import type { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { ShortLivedMap } from "../../engine/ShortLivedMap.ts"
import { answerWithin } from "./CallAnswers.ts"

export class CallWaiters {
  private readonly waiters = new ShortLivedMap<string, Set<() => void>>()

  /** What became of the call is known. */
  tell(ref: string): void {
    for (const hear of this.waiters.get(ref) ?? []) hear()
  }

  /** Waits until none of these calls is open; false when that takes longer than 5 s. */
  ended(
    refs: ReadonlyArray<string>,
    open: (ref: string) => Effect.Effect<boolean, Unavailable>
  ): Effect.Effect<boolean, Unavailable> {
    return Effect.forEach(refs, (ref) => this.one(ref, open(ref)), { concurrency: "unbounded", discard: true }).pipe(
      Effect.as(true),
      Effect.timeoutOrElse({ duration: answerWithin, orElse: () => Effect.succeed(false) })
    )
  }

  private one(ref: string, open: Effect.Effect<boolean, Unavailable>): Effect.Effect<void, Unavailable> {
    return Effect.acquireUseRelease(
      Effect.sync(() => {
        const heard = Latch.makeUnsafe(false)
        const hear = () => heard.openUnsafe()
        const others = this.waiters.get(ref) ?? new Set()
        this.waiters.set(ref, others.add(hear))
        return { heard, hear, others }
      }),
      ({ heard }) => Effect.flatMap(open, (waits) => (waits ? heard.await : Effect.void)),
      ({ hear, others }) =>
        Effect.sync(() => {
          others.delete(hear)
          if (others.size === 0 && this.waiters.get(ref) === others) this.waiters.delete(ref)
        })
    )
  }
}
