/**
 * The lane of internal commands: what the venue says, results of calls, timers, sweeps. None is refused for a full mailbox
 * or a full journal; instead they wait, before their decision, while the journal holds as many rows of theirs as a short
 * flush takes. So whatever a caller does has at most that much before it, however many internal commands there are. Subjects
 * wait in the order in which they came, each with one command at a time; callers' commands go past them. The journal writes at most
 * half of those rows at once (`internalBatchRows`), so that the server writes one half while the other is decided.
 */
import { Effect, Latch } from "effect"
import type { Actor } from "./Actor.ts"

/**
 * Rows of internal commits in the journal, waiting or being written, from which on the next ones wait; the last one may go
 * beyond it. Measured on two busy cores: a flush of 2,048 rows takes 34 to 48 ms, one of 3,072 rows 52 to 66 (decision 14).
 */
export const internalRows = 2_048
/** Subjects, and rows of theirs, that are decided before everybody else's work has its turn: also the word that a batch is in. */
const decidedAtOnce = { subjects: 64, rows: 256 } as const

export class InternalLane {
  private rows = 0
  /** Rows of commands that were decided as they came, since a batch was last committed or a waiting command decided. */
  private atOnce = 0
  /** Subjects with an internal command that waits, the longest waiting first. */
  private readonly waiting = new Set<Actor>()
  private readonly work = Latch.makeUnsafe(false)
  private deciding = false
  private readonly pump: (actor: Actor) => void

  /** `pump` goes on with the commands of a subject. */
  constructor(pump: (actor: Actor) => void) {
    this.pump = pump
  }

  /** Whether the subject's next internal command may be decided now; else it waits, and is pumped when its turn comes. */
  admits(actor: Actor): boolean {
    const isOpen = this.rows < internalRows
    // Commands for many subjects at once, such as the cancels of one mark, wait as well: the work of others comes between them.
    if (isOpen && (this.deciding || (this.waiting.size === 0 && this.atOnce < decidedAtOnce.rows))) {
      this.waiting.delete(actor)
      return true
    }
    this.waiting.add(actor)
    if (isOpen) this.work.openUnsafe()
    return false
  }

  /** Whether internal commands wait for room: there is more to do than the lane lets through. */
  get isPressed(): boolean {
    return this.waiting.size > 0
  }

  /** So many rows of an internal commit are given to the journal. */
  sent(rows: number): void {
    this.rows += rows
    this.atOnce += rows
  }

  /** So many of them have their outcome. */
  settled(rows: number): void {
    this.rows -= rows
    this.atOnce = 0
    if (this.waiting.size > 0 && this.rows < internalRows) this.work.openUnsafe()
  }

  /** Decides what waits as room comes, for ever; the journal begins with the first of it while the next is decided. */
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
      // It comes by itself when its turn of now has ended, and keeps its place until then.
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
