/**
 * The priority queue of internal commands: venue events, results of calls, timers, sweeps. An internal command is never refused
 * because a mailbox or the journal is full. It waits before its decision while the journal holds as many internal rows as one
 * short flush takes (`internalRows`). A caller's command therefore waits for one such flush at most, however many internal
 * commands there are. Subjects wait in the order of arrival, each with one command at a time, and commands of callers overtake
 * them. The journal writes at most half of the limit at once (`internalBatchRows`): the server writes one half while the other
 * half is decided.
 */
import { Effect, Latch } from "effect"
import type { Actor } from "./Actor.ts"

/**
 * The backpressure limit: from this many rows of internal commits in the journal, waiting or being written, further commands
 * wait. The last commit may exceed it. Measured on two busy cores: a flush of 2,048 rows takes 34 to 48 ms, one of 3,072 rows 52
 * to 66 (decision 14).
 */
export const internalRows = 2_048
/**
 * The most that the host decides before other work runs, such as the outcome of a batch. `subjects`: subjects with
 * waiting commands. `rows`: rows of these commands' commits, and of commits that were decided on arrival.
 */
const decidedAtOnce = { subjects: 64, rows: 256 } as const

export class InternalLane {
  private rows = 0
  /** Rows of commands decided on arrival since a batch was last committed or a waiting command was decided. */
  private atOnce = 0
  /** Subjects with a waiting internal command, the longest waiting first. */
  private readonly waiting = new Set<Actor>()
  private readonly work = Latch.makeUnsafe(false)
  private deciding = false
  private readonly pump: (actor: Actor) => void

  /** `pump` continues the commands of a subject. */
  constructor(pump: (actor: Actor) => void) {
    this.pump = pump
  }

  /** True if the subject's next internal command may be decided now; otherwise it waits and is pumped when its turn comes. */
  admits(actor: Actor): boolean {
    const isOpen = this.rows < internalRows
    // Commands for many subjects at once, such as the cancels after one mark price, wait as well, so that other work runs between
    // them.
    if (isOpen && (this.deciding || (this.waiting.size === 0 && this.atOnce < decidedAtOnce.rows))) {
      this.waiting.delete(actor)
      return true
    }
    this.waiting.add(actor)
    if (isOpen) this.work.openUnsafe()
    return false
  }

  /** True while internal commands wait for room: there is more work than the limit admits. */
  get isPressed(): boolean {
    return this.waiting.size > 0
  }

  /** Counts rows of an internal commit that the journal has received. */
  sent(rows: number): void {
    this.rows += rows
    this.atOnce += rows
  }

  /** Counts rows whose outcome is known. */
  settled(rows: number): void {
    this.rows -= rows
    this.atOnce = 0
    if (this.waiting.size > 0 && this.rows < internalRows) this.work.openUnsafe()
  }

  /**
   * Decides the waiting commands as room becomes free, for ever. Yields between slices, so that the journal can write the first
   * ones meanwhile.
   */
  readonly run: Effect.Effect<never> = Effect.suspend(() => this.work.await).pipe(
    Effect.andThen(Effect.sync(() => this.decide())),
    Effect.andThen(Effect.yieldNow),
    Effect.forever({ disableYield: true })
  )

  private decide(): void {
    this.work.closeUnsafe()
    this.deciding = true
    this.atOnce = 0
    const until = this.rows + decidedAtOnce.rows
    let pumped = 0
    for (const actor of this.waiting) {
      if (this.rows >= internalRows) break
      // The actor is pumped again when its current turn ends, and keeps its place until then.
      if (actor.busy || actor.loading) continue
      if (pumped++ === decidedAtOnce.subjects || this.rows >= until) {
        this.work.openUnsafe()
        break
      }
      this.pump(actor)
    }
    this.deciding = false
  }
}
