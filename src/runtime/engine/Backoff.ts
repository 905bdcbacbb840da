/**
 * Pauses between failed attempts, kept in memory: each is twice as long as the one before, up to a longest one. Pauses that
 * outlive the process stand in the rows of their objects instead.
 */
import { Clock, Duration, Effect, Schedule } from "effect"

/** Delays that double from `first` up to `longest`, without an end; ms. */
export const doubling = (first: number, longest: number): Schedule.Schedule<Duration.Duration> =>
  Schedule.min([Schedule.exponential(first), Schedule.spaced(longest)])

/** The delays of `doubling`, one at a time, for attempts whose success starts them over. */
export class Backoff {
  private readonly delays: Schedule.Schedule<Duration.Duration>
  private step: Effect.Success<ReturnType<typeof Schedule.toStep<Duration.Duration, unknown, never, never>>> | null =
    null

  constructor(first: number, longest: number) {
    this.delays = doubling(first, longest)
  }

  /** True if a delay was taken since the last `reset`. */
  get isRunning(): boolean {
    return this.step !== null
  }

  /** The next delay, ms. */
  readonly next: Effect.Effect<number> = Effect.gen({ self: this }, function* () {
    const step = (this.step ??= yield* Schedule.toStep(this.delays))
    const [, delay] = yield* Effect.orDie(step(yield* Clock.currentTimeMillis, undefined))
    return Duration.toMillis(delay)
  })

  readonly pause: Effect.Effect<void> = Effect.flatMap(this.next, (millis) => Effect.sleep(millis))

  /** Starts over with the first delay. */
  reset(): void {
    this.step = null
  }
}
