/**
 * Admission of work that holds a scarce resource: a capacity for all keys together, a share for each key, a bounded
 * queue and a timeout. The queue is first come, first served. A key whose first waiting work exceeds the key's share is
 * passed over. Work of one key always starts in the order of its arrival, so small work can't overtake large work
 * without end.
 */
import { Effect } from "effect"
import { Unavailable } from "../../engine/mailbox/DispatchError.ts"

/** Limits on the work of one kind. All sizes are in the caller's unit, for example characters or jobs. */
export interface LimiterOptions {
  /** Limits of the running work: `capacity` for all keys together, `share` for each key. */
  readonly capacity: number
  readonly share: number
  /**
   * Limits of the queued work: `waiting` for all keys together, `waitingShare` for each key. Work beyond them is
   * refused at once.
   */
  readonly waiting: number
  readonly waitingShare: number
  /** Longest wait for room, wall ms; null: no timeout. */
  readonly waitMillis: number | null
}

interface Job {
  readonly key: number
  readonly size: number
  granted: boolean
  resume: () => void
}

/** The sizes of work, summed over all keys and for each key. */
class Tally {
  sum = 0
  private readonly parts = new Map<number, number>()

  of(key: number): number {
    return this.parts.get(key) ?? 0
  }

  add(key: number, size: number): void {
    const part = this.of(key) + size
    if (part === 0) this.parts.delete(key)
    else this.parts.set(key, part)
    this.sum += size
  }
}

export class FairLimiter {
  private readonly options: LimiterOptions
  private readonly held = new Tally()
  private readonly queued = new Tally()
  private readonly queue = new Set<Job>()

  constructor(options: LimiterOptions) {
    this.options = options
  }

  /** True if further work of the key would neither start nor fit into the queue. */
  isFull(key: number, size: number): boolean {
    const { capacity, share, waiting, waitingShare } = this.options
    const runs = this.held.sum + size <= capacity && this.held.of(key) + size <= share
    const waits = this.queued.sum + size <= waiting && this.queued.of(key) + size <= waitingShare
    return !waits && !(runs && this.queue.size === 0)
  }

  /** Runs the work once there is room for it. Fails with `Unavailable` if the queue is full or the wait times out. */
  within<A, E>(key: number, size: number, work: Effect.Effect<A, E>): Effect.Effect<A, E | Unavailable> {
    return Effect.suspend(() => {
      const job: Job = { key, size, granted: false, resume: () => {} }
      if (!this.enter(job)) return Effect.fail(new Unavailable({ unknown: false }))
      return Effect.ensuring(
        Effect.flatMap(this.granted(job), (granted): Effect.Effect<A, E | Unavailable> =>
          granted ? work : Effect.fail(new Unavailable({ unknown: false }))
        ),
        Effect.sync(() => this.leave(job))
      )
    })
  }

  /** Waits until the job may start; false if the wait timed out. */
  private granted(job: Job): Effect.Effect<boolean> {
    const { waitMillis } = this.options
    return Effect.callback<boolean>((resume) => {
      const end = (): void => {
        clearTimeout(timer)
        resume(Effect.succeed(job.granted))
      }
      job.resume = end
      const timer = job.granted || waitMillis === null ? undefined : setTimeout(end, waitMillis)
      if (job.granted) end()
      return Effect.sync(() => clearTimeout(timer))
    })
  }

  /** Queues the job, which may start at once; false: the queue is full. */
  private enter(job: Job): boolean {
    this.queue.add(job)
    this.queued.add(job.key, job.size)
    this.grant()
    const { waiting, waitingShare } = this.options
    if (job.granted || (this.queued.sum <= waiting && this.queued.of(job.key) <= waitingShare)) return true
    this.leave(job)
    return false
  }

  private leave(job: Job): void {
    if (job.granted) this.held.add(job.key, -job.size)
    else this.unqueue(job)
    this.grant()
  }

  private unqueue(job: Job): void {
    if (this.queue.delete(job)) this.queued.add(job.key, -job.size)
  }

  /**
   * Starts queued jobs in order. A key whose first job exceeds its share is passed over. The first job that the capacity
   * can't hold blocks all jobs behind it.
   */
  private grant(): void {
    const { capacity, share } = this.options
    const passed = new Set<number>()
    for (const job of this.queue) {
      const { key, size } = job
      if (passed.has(key)) continue
      if (this.held.of(key) + size > share) {
        passed.add(key)
        continue
      }
      if (this.held.sum + size > capacity) return
      this.unqueue(job)
      this.held.add(key, size)
      job.granted = true
      job.resume()
    }
  }
}
