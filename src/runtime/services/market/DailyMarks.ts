/**
 * Stores the last mark of each market at or before 00:00 UTC of every day, for ever, because statements value the past
 * by it. A check each second remembers the current marks. So after a midnight the marks of the previous check, from
 * before midnight, are still known. A service that starts late, or whose clock jumped by days, stores its known marks
 * for each midnight that it missed, unless they are older than a day by then (STS-28).
 */
import { decimalText } from "../../../machines/shared/Money.ts"
import { Context, Effect, Layer, Schedule } from "effect"
import type { Mark } from "../../../machines/market/Facts.ts"
import { ActorHost } from "../../engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { RowReads } from "../../ports/RowReads.ts"
import type { DailyMarkRow } from "../../tables/market.ts"

const dayMillis = 86_400_000
/** The most midnights that one check makes up for, in case a clock jumps by years. */
const mostDays = 800

const midnightOf = (at: number): number => at - (at % dayMillis)

/** The rows for a midnight: marks at or before it, and not older than a day. */
export const marksOf = (day: number, marks: ReadonlyMap<string, Mark>): ReadonlyArray<DailyMarkRow> =>
  [...marks].flatMap(([symbol, { price, places, at }]) =>
    at <= day && at > day - dayMillis ? [{ day, symbol, price: decimalText(price, places), at }] : []
  )

/** The midnights whose marks are stored. */
export class DailyMarks extends Context.Service<
  DailyMarks,
  {
    /** True: no further mark will be stored for this midnight (Unix ms). */
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
    /** The last midnight that is done: its marks are stored, or no marks were known. */
    let kept = newest?.day ?? midnightOf(clock.now())
    let before: ReadonlyMap<string, Mark> = new Map()

    const check: Effect.Effect<void> = Effect.suspend(() => {
      const now = clock.now()
      const { marks } = host.facts()
      const due = midnightOf(now)
      const first = Math.max(kept + dayMillis, due - mostDays * dayMillis)
      // The last mark before midnight is the current one, if its time is not after midnight; otherwise it is the mark
      // of the previous check.
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
      Effect.catch((error) =>
        Effect.logDebug("the marks of a midnight could not be stored: the service tries again each second", error)
      ),
      // A defect must not end the loop of checks.
      Effect.catchDefect((defect) =>
        Effect.logError("the marks of a midnight could not be stored: the service tries again each second", defect)
      )
    )

    yield* Effect.forkScoped(Effect.schedule(check, Schedule.spaced("1 second")))
    return DailyMarks.of({ isKept: (day) => day <= kept })
  })
)
