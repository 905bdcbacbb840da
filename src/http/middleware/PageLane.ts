/**
 * Limits and orders large reads, such as pages of lists, which are long work for the database and the single thread. Each
 * principal gets a share of the rows that may be read at the same time, and principals are served in turn. Small pages have a
 * budget of their own, because a large read can last until its timeout. Between its pieces of work, a page yields to requests
 * that write.
 */
import { Effect, Stream } from "effect"
import { pageBudget } from "../../machines/shared/Limits.ts"
import { yieldToEventLoop } from "../../runtime/engine/yieldToEventLoop.ts"
import { deadline } from "../../runtime/engine/deadline.ts"
import { Unavailable } from "../../runtime/engine/mailbox/ActorHost.ts"
import type { PrincipalId } from "../../runtime/services/shared/KeyedRequest.ts"

interface Waiter {
  readonly rows: number
  /** True when the page continues an answer whose first pieces were already read. */
  readonly further: boolean
  readonly start: () => void
}

/** The pages of one principal: those that wait, and the rows of those that are being read. */
interface Line {
  /** The number of rows in pages that are being read. */
  held: number
  readonly waiting: Array<Waiter>
}

/**
 * Turns for pages of one kind, small or large. The number of rows read at the same time is limited, in total and per
 * principal.
 */
class Turns {
  private held = 0
  /**
   * The lines of principals with pages. A principal moves to the end when one of its pages starts, so that all are served
   * in turn.
   */
  private readonly lines = new Map<PrincipalId, Line>()

  /**
   * Waits for a turn. A further piece of a begun answer precedes the new pages of its principal, and does not count towards
   * their limit, because later pages must not break the answer off. Each answer has at most one waiting piece.
   */
  enter(principal: PrincipalId, rows: number, further: boolean): Effect.Effect<void, Unavailable> {
    return Effect.suspend(() => {
      const line = this.lines.get(principal) ?? { held: 0, waiting: [] }
      const firstNew = line.waiting.findIndex((waiter) => !waiter.further)
      if (!further && firstNew >= 0 && line.waiting.length - firstNew >= pageBudget.waiting)
        return Effect.fail(new Unavailable({ unknown: false }))
      this.lines.set(principal, line)
      return Effect.callback<void, Unavailable>((resume) => {
        const giveUp = (): void => {
          cancel()
          line.waiting.splice(line.waiting.indexOf(waiter), 1)
          this.forget(principal, line)
          this.startNext()
        }
        const cancel = deadline(pageBudget.waitMillis, () => {
          giveUp()
          resume(Effect.fail(new Unavailable({ unknown: false })))
        })
        const waiter: Waiter = {
          rows,
          further,
          start: () => {
            cancel()
            resume(Effect.void)
          }
        }
        line.waiting.splice(further && firstNew >= 0 ? firstNew : line.waiting.length, 0, waiter)
        this.startNext()
        return Effect.sync(giveUp)
      })
    })
  }

  leave(principal: PrincipalId, rows: number): void {
    const line = this.lines.get(principal) as Line
    this.held -= rows
    line.held -= rows
    this.forget(principal, line)
    this.startNext()
  }

  /**
   * Starts waiting pages in turn. A page that fits its principal's share but not the remaining budget keeps its turn, and no
   * smaller page overtakes it.
   */
  private startNext(): void {
    for (const [principal, line] of this.lines) {
      const [first] = line.waiting
      if (first === undefined || line.held + first.rows > pageBudget.share) continue
      if (this.held + first.rows > pageBudget.rows) return
      line.waiting.shift()
      this.start(principal, line, first.rows)
      first.start()
    }
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

export interface Page<A, B, E, R = never> {
  readonly read: () => Effect.Effect<A, E, R>
  readonly render: (found: A) => B
}

export class PageLane {
  private readonly small = new Turns()
  private readonly large = new Turns()
  /** The number of running requests that write, from their body to their answer. */
  private writing = 0
  private readonly isPressed: () => boolean
  private readonly pause: Effect.Effect<void>
  private readonly written = Effect.sync(() => void this.writing--)

  /**
   * `isPressed`: true while turns of the engine wait for a decision or a commit, including turns for venue events. Pages
   * then yield.
   */
  constructor(isPressed: () => boolean, pauseMillis: number = pageBudget.pauseMillis) {
    this.isPressed = isPressed
    this.pause = pauseOf(pauseMillis)
  }

  /** Runs a request that writes; pages yield until it ends. */
  before<A, E, R>(write: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      this.writing++
      return Effect.ensuring(write, this.written)
    })
  }

  /**
   * Reads and renders a page of at most `rows` rows as soon as the principal has room. A page costs its rows, within bounds.
   * Fails with `Unavailable` when too many pages of the principal wait, or when this page has waited too long.
   */
  run<A, B, E, R>(principal: PrincipalId, rows: number, page: Page<A, B, E, R>): Effect.Effect<B, E | Unavailable, R> {
    return this.inTurn(principal, rows, page, false)
  }

  /** The same pieces, each of which first waits for a turn in the lane. */
  pieces<A, E>(principal: PrincipalId, rows: number, pieces: Stream.Stream<A, E>): Stream.Stream<A, E | Unavailable> {
    return Stream.transformPull(pieces, (pull) =>
      Effect.succeed(this.inTurn(principal, rows, { read: () => pull, render: (piece) => piece }, true))
    )
  }

  private inTurn<A, B, E, R>(
    principal: PrincipalId,
    rows: number,
    page: Page<A, B, E, R>,
    further: boolean
  ): Effect.Effect<B, E | Unavailable, R> {
    const turns = rows <= pageBudget.small ? this.small : this.large
    const cost = Math.min(Math.max(rows, pageBudget.least), pageBudget.share)
    const work = Effect.suspend(page.read).pipe(
      Effect.tap(() => this.giveWay),
      Effect.map(page.render),
      Effect.tap(() => this.giveWay)
    )
    const left = Effect.sync(() => turns.leave(principal, cost))
    return Effect.uninterruptibleMask((restore) =>
      Effect.andThen(restore(turns.enter(principal, cost, further)), Effect.ensuring(restore(work), left))
    )
  }

  private readonly giveWay: Effect.Effect<void> = Effect.suspend(() =>
    this.writing > 0 || this.isPressed() ? this.pause : yieldToEventLoop
  )
}

/** A pause long enough for the engine's turns to run first after a commit or an answer from the venue. */
const pauseOf = (millis: number): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const timer = setTimeout(() => resume(Effect.void), millis)
    return Effect.sync(() => clearTimeout(timer))
  })
