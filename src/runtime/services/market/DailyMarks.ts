/**
 * Keeps the last mark of each market at or before 00:00 UTC of every day, for ever: statements value the past by it (STS-28). A look
 * a second remembers the marks of the last one, so that a midnight that has passed in between is told by what was known before it.
 * A service that starts late, or whose clock was moved on by days, keeps what it knew for each midnight that it missed; what is
 * older than a day by then is not known.
 */
import { decimalText } from "../../../machines/shared/Money.ts"
import { Context, Effect, Layer, Schedule } from "effect"
import type { Mark } from "../../../machines/market/Facts.ts"
import { ActorHost } from "../../engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { RowReads } from "../../ports/RowReads.ts"
import type { DailyMarkRow } from "../../tables/market.ts"

const dayMillis = 86_400_000
/** Midnights that one look makes up for: a clock that was moved on by years misses more than anybody asks for. */
const mostDays = 800

const midnightOf = (at: number): number => at - (at % dayMillis)

/** What is kept of a midnight: marks no younger than it, and no older than a day before it. */
export const marksOf = (day: number, marks: ReadonlyMap<string, Mark>): ReadonlyArray<DailyMarkRow> =>
  [...marks].flatMap(([symbol, { price, places, at }]) =>
    at <= day && at > day - dayMillis ? [{ day, symbol, price: decimalText(price, places), at }] : []
  )

/** Which midnights the marks are kept of. */
export class DailyMarks extends Context.Service<
  DailyMarks,
  {
    /** Whether nothing more will be kept of a midnight (Unix ms). */
    readonly isKept: (day: number) => boolean
  }
>()("brokerage/runtime/services/market/DailyMarks") {
  /** Without a venue there are no marks to wait for. */
  static readonly none = Layer.succeed(DailyMarks, DailyMarks.of({ isKept: () => true }))
}

export const layerDailyMarks: Layer.Layer<DailyMarks, never, ActorHost | BusinessClock | RowReads> = Layer.effect(
  DailyMarks,
  Effect.gen(function* () {
    const host = yield* ActorHost
    const clock = yield* BusinessClock
    const stored = yield* RowReads
    const [newest] = yield* Effect.orDie(stored.page("dailyMarks", [], { limit: 1 }))
    /** The last midnight that is kept, or that nothing was known of. */
    let kept = newest?.day ?? midnightOf(clock.now())
    let before: ReadonlyMap<string, Mark> = new Map()

    const look: Effect.Effect<void> = Effect.suspend(() => {
      const now = clock.now()
      const { marks } = host.facts()
      const due = midnightOf(now)
      const first = Math.max(kept + dayMillis, due - mostDays * dayMillis)
      // A mark of now that is no younger than midnight is the last before it; else that of the look before is.
      const known = new Map([...before, ...[...marks].filter(([, { at }]) => at <= due)])
      before = marks
      if (first > due) return Effect.void
      const rows: Array<DailyMarkRow> = []
      for (let day = first; day <= due; day += dayMillis) rows.push(...marksOf(day, known))
      const done = Effect.sync(() => {
        kept = due
      })
      return rows.length === 0 ? done : Effect.andThen(host.record({ dailyMarks: rows }, "internal"), done)
    }).pipe(
      Effect.catch((error) => Effect.logDebug("the marks of a day could not be kept", error)),
      // A fault of ours must not end the looks.
      Effect.catchDefect((defect) => Effect.logError("the marks of a day could not be kept", defect))
    )

    yield* Effect.forkScoped(Effect.schedule(look, Schedule.spaced("1 second")))
    return DailyMarks.of({ isKept: (day) => day <= kept })
  })
)
