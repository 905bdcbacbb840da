/**
 * Seats of the rendering threads: running and waiting jobs are limited in total and for each partner, and the readers of one
 * partner can't occupy all threads (STS-31). A free thread goes to the partner with the fewest threads. While other partners
 * wait, a partner with several threads loses a thread whose reader is slow, so that slow readers keep at most one thread.
 */
import { Deferred, Effect, Option } from "effect"

export interface SeatsOptions {
  readonly threads: number
  /** The most jobs that wait for a thread, and the timeout of each wait, milliseconds. */
  readonly waiting: number
  readonly waitMillis: number
  /** How long a job waits before a slow reader of another partner is preempted for it, milliseconds. */
  readonly shareMillis: number
  /** The most running and waiting jobs of one partner. */
  readonly ofPartner: number
}

/** The place of one rendering job, from its request for a thread until it leaves. */
export interface Seat {
  readonly partnerId: number
  readonly granted: Deferred.Deferred<void>
  state: "waiting" | "running" | "left"
  /** True while the job's output waits for its reader. */
  isHeldUp: () => boolean
  /** Preempts the job; its reader receives the error with the next chunk. */
  cut: () => void
}

/**
 * Not a `FairLimiter`: a free thread goes to the partner with the fewest threads instead of the first job that fits. A
 * running job can lose its thread to a waiting one, whereas admitted work of the limiter keeps its room until it ends.
 */
export class Seats {
  private readonly options: SeatsOptions
  /** All seats, running and waiting, in the order of arrival. */
  private readonly seats = new Set<Seat>()

  constructor(options: SeatsOptions) {
    this.options = options
  }

  /** A seat for a new job; null if the partner or all partners together have too many jobs. */
  enter(partnerId: number): Seat | null {
    const { threads, waiting, ofPartner } = this.options
    const own = [...this.seats].filter((seat) => seat.partnerId === partnerId)
    if (this.seats.size >= threads + waiting || own.length >= ofPartner) return null
    const seat: Seat = {
      partnerId,
      granted: Deferred.makeUnsafe<void>(),
      state: "waiting",
      isHeldUp: () => false,
      cut: () => {}
    }
    this.seats.add(seat)
    this.grant()
    return seat
  }

  leave(seat: Seat): void {
    seat.state = "left"
    this.seats.delete(seat)
    this.grant()
  }

  /** Waits for a thread; false after the timeout. */
  granted(seat: Seat): Effect.Effect<boolean> {
    const { waitMillis, shareMillis } = this.options
    return Effect.gen({ self: this }, function* () {
      for (let left = waitMillis; left > 0; left -= shareMillis) {
        const granted = yield* Effect.timeoutOption(Deferred.await(seat.granted), Math.min(left, shareMillis))
        if (Option.isSome(granted)) return true
        this.makeRoom(seat)
      }
      return seat.state === "running"
    })
  }

  private running(partnerId?: number): ReadonlyArray<Seat> {
    return [...this.seats].filter(
      (seat) => seat.state === "running" && (partnerId === undefined || seat.partnerId === partnerId)
    )
  }

  /** Gives each free thread to the partner with the fewest threads, and among its jobs to the oldest that waits. */
  private grant(): void {
    while (this.running().length < this.options.threads) {
      const waiting = [...this.seats].filter(({ state }) => state === "waiting")
      const next = waiting.toSorted(
        (one, other) => this.running(one.partnerId).length - this.running(other.partnerId).length
      )[0]
      if (next === undefined) return
      next.state = "running"
      Deferred.doneUnsafe(next.granted, Effect.void)
    }
  }

  /**
   * Preempts the latest job with a slow reader. Its partner must have more threads than the waiting partner would have with
   * one more.
   */
  private makeRoom({ partnerId }: Seat): void {
    const fair = this.running(partnerId).length + 1
    const slow = this.running().findLast((seat) => this.running(seat.partnerId).length > fair && seat.isHeldUp())
    if (slow === undefined) return
    slow.cut()
    this.leave(slow)
  }
}
