/**
 * Pages of lists are long work for the database and for the only thread. The lane gives each principal a share of the rows that
 * are read at once, and serves principals in turn. Between its pieces of work a page gives way to requests that write.
 */
import { Effect } from "effect"
import { pageBudget } from "../../machines/shared/Limits.ts"
import { breathe } from "../../runtime/engine/breathe.ts"
import { Unavailable } from "../../runtime/engine/mailbox/ActorHost.ts"
import type { PrincipalId } from "../../runtime/services/shared/Principal.ts"

interface Waiter {
  readonly rows: number
  readonly start: () => void
}

/** The pages of one principal. */
interface Line {
  /** Rows of the pages that are being read. */
  held: number
  readonly waiting: Array<Waiter>
}

export class PageLane {
  private held = 0
  /** Running requests that write, counted from body to answer. */
  private writing = 0
  /** In the order of turns: a principal moves to the end when one of its pages starts. */
  private readonly lines = new Map<PrincipalId, Line>()
  private readonly isPressed: () => boolean
  private readonly pause: Effect.Effect<void>

  /** `isPressed`: whether turns are being decided or committed, turns of venue events included. */
  constructor(isPressed: () => boolean, pauseMillis: number = pageBudget.pauseMillis) {
    this.isPressed = isPressed
    this.pause = pauseOf(pauseMillis)
  }

  /** Runs a request that writes; pages give way until it ends. */
  before<A, E>(write: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      this.writing++
      return Effect.ensuring(
        write,
        Effect.sync(() => void this.writing--)
      )
    })
  }

  /**
   * Reads and renders a page of at most `rows` rows once the principal has room. Fails with `Unavailable` when too many pages of
   * the principal wait, or when this page has waited too long.
   */
  run<A, B, E>(
    principal: PrincipalId,
    rows: number,
    page: { readonly read: () => Effect.Effect<A, E>; readonly render: (found: A) => B }
  ): Effect.Effect<B, E | Unavailable> {
    const work = Effect.suspend(page.read).pipe(
      Effect.tap(() => this.giveWay),
      Effect.map(page.render),
      Effect.tap(() => this.giveWay)
    )
    const left = Effect.sync(() => this.leave(principal, rows))
    return Effect.uninterruptibleMask((restore) =>
      Effect.andThen(restore(this.enter(principal, rows)), Effect.ensuring(restore(work), left))
    )
  }

  private readonly giveWay: Effect.Effect<void> = Effect.suspend(() =>
    this.writing > 0 || this.isPressed() ? this.pause : breathe
  )

  private enter(principal: PrincipalId, rows: number): Effect.Effect<void, Unavailable> {
    return Effect.suspend(() => {
      const line = this.lines.get(principal) ?? { held: 0, waiting: [] }
      if (!this.lines.has(principal)) this.lines.set(principal, line)
      if (line.waiting.length === 0 && this.hasRoom(line, rows)) {
        this.start(principal, line, rows)
        return Effect.void
      }
      if (line.waiting.length >= pageBudget.waiting) return Effect.fail(new Unavailable({ unknown: false }))
      return Effect.callback<void, Unavailable>((resume) => {
        const giveUp = (): void => {
          clearTimeout(timer)
          line.waiting.splice(line.waiting.indexOf(waiter), 1)
          this.forget(principal, line)
        }
        const timer = setTimeout(() => {
          giveUp()
          resume(Effect.fail(new Unavailable({ unknown: false })))
        }, pageBudget.waitMillis)
        const waiter: Waiter = {
          rows,
          start: () => {
            clearTimeout(timer)
            resume(Effect.void)
          }
        }
        line.waiting.push(waiter)
        return Effect.sync(giveUp)
      })
    })
  }

  private leave(principal: PrincipalId, rows: number): void {
    const line = this.lines.get(principal) as Line
    this.held -= rows
    line.held -= rows
    this.forget(principal, line)
    for (const [next, waiting] of this.lines) {
      const [first] = waiting.waiting
      if (first === undefined || !this.hasRoom(waiting, first.rows)) continue
      waiting.waiting.shift()
      this.start(next, waiting, first.rows)
      first.start()
    }
  }

  /** A page larger than the share, or than the whole budget, starts once no other rows of that share or budget are held. */
  private hasRoom(line: Line, rows: number): boolean {
    return (
      (line.held === 0 || line.held + rows <= pageBudget.share) &&
      (this.held === 0 || this.held + rows <= pageBudget.rows)
    )
  }

  private start(principal: PrincipalId, line: Line, rows: number): void {
    this.held += rows
    line.held += rows
    this.lines.delete(principal)
    this.lines.set(principal, line)
  }

  private forget(principal: PrincipalId, line: Line): void {
    if (line.held === 0 && line.waiting.length === 0) this.lines.delete(principal)
  }
}

/** Pauses long enough for turns to continue first after a commit or an answer of the venue. */
const pauseOf = (millis: number): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const timer = setTimeout(() => resume(Effect.void), millis)
    return Effect.sync(() => clearTimeout(timer))
  })
