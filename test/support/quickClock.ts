/**
 * The wall clock with sleeps that a test can end, so that a long pause or timeout of the service takes no wall time:
 * the test ends it after the awaited event. The time is the wall time, and every other sleep keeps its length.
 */
import { Clock, Duration, Effect, type Fiber, Layer } from "effect"
import type { VenueProgress } from "../../src/runtime/ports/VenueProgress.ts"
import { VenueEvents } from "../../src/runtime/services/venue/VenueEvents.ts"
import { venueHandlers } from "../../src/runtime/services/operations/registries/VenueHandlers.ts"

interface Sleep {
  readonly millis: number
  readonly fiber: Fiber.Fiber<unknown, unknown>
  readonly end: () => void
}

/** A route's wait for the end of a call of the venue, before it answers that the outcome is unknown, ms. */
export const answerWithin = 5_000

/** The longest delay of setTimeout, ms. */
const longestTimer = 2 ** 31 - 1

export const quickClock = () => {
  const wall = Effect.runSync(Clock.clockWith((clock) => Effect.succeed(clock)))
  const sleeping = new Set<Sleep>()
  /** Sleep lengths that end at once, each with the number of open `during` calls. */
  const short = new Map<number, number>()
  const began = new Set<() => void>()
  const endable = (millis: number, fiber: Sleep["fiber"]): Effect.Effect<void> =>
    Effect.callback((resume) => {
      const over = (): void => {
        clearTimeout(timer)
        sleeping.delete(each)
      }
      const each: Sleep = {
        millis,
        fiber,
        end: () => {
          over()
          resume(Effect.void)
        }
      }
      const timer = setTimeout(each.end, millis)
      sleeping.add(each)
      for (const wake of began) wake()
      return Effect.sync(over)
    })
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => wall.currentTimeMillisUnsafe(),
    currentTimeMillis: wall.currentTimeMillis,
    currentTimeNanosUnsafe: () => wall.currentTimeNanosUnsafe(),
    currentTimeNanos: wall.currentTimeNanos,
    monotonicTimeNanosUnsafe: () => wall.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: wall.monotonicTimeNanos,
    sleep: (duration) =>
      Effect.withFiber((fiber) => {
        const millis = Duration.toMillis(duration)
        if (short.has(millis)) return Effect.yieldNow
        return millis <= 0 || millis > longestTimer ? wall.sleep(duration) : endable(millis, fiber)
      })
  }
  /** Ends the present sleeps of this length. */
  const end = (millis: number): void => {
    // A fiber that wakes may sleep again before this loop ends.
    const now = [...sleeping].filter((each) => each.millis === millis)
    for (const each of now) each.end()
  }
  const layer = Layer.succeed(Clock.Clock, clock)
  /** Waits for a matching sleep, ends it and returns its length. */
  const ended = (isIt: (millis: number) => boolean): Promise<number> =>
    new Promise((resolve) => {
      const find = (): void => {
        const found = [...sleeping].find(({ millis }) => isIt(millis))
        if (found === undefined) return
        began.delete(find)
        // Ending a sleep inside the fiber that starts it would resume that fiber too early.
        setImmediate(() => {
          found.end()
          resolve(found.millis)
        })
      }
      began.add(find)
      find()
    })
  return {
    layer,
    end,
    ended,
    /**
     * Ends sleeps of this length until each fiber in such a sleep (a worker between two rounds, for example) has
     * started `times` further ones.
     */
    rounds: (millis: number, times: number): Promise<void> =>
      new Promise((resolve) => {
        const left = new Map<unknown, number>()
        let last: ReadonlySet<Sleep> = new Set()
        const endNew = (): void => {
          const now = new Set([...sleeping].filter((each) => each.millis === millis))
          for (const each of now) {
            if (last.has(each)) continue
            left.set(each.fiber, (left.get(each.fiber) ?? times + 1) - 1)
            setImmediate(each.end)
          }
          last = now
          if (left.size === 0 || [...left.values()].some((rounds) => rounds > 0)) return
          began.delete(endNew)
          resolve()
        }
        began.add(endNew)
        endNew()
      }),
    /** Waits for the event, then ends the sleeps of this length. Returns the result of the work. */
    after: async <A>(event: Promise<unknown>, millis: number, work: Promise<A>): Promise<A> => {
      const ends = async (): Promise<void> => {
        await event
        await ended((each) => each === millis)
        end(millis)
      }
      const [done] = await Promise.all([work, ends()])
      return done
    },
    /** Runs the work. Sleeps of this length end at once meanwhile. */
    during: async <A>(millis: number, work: () => Promise<A>): Promise<A> => {
      short.set(millis, (short.get(millis) ?? 0) + 1)
      end(millis)
      try {
        return await work()
      } finally {
        const left = (short.get(millis) as number) - 1
        if (left === 0) short.delete(millis)
        else short.set(millis, left)
      }
    }
  }
}
export type QuickClock = ReturnType<typeof quickClock>

/**
 * Gives the quick clock to routes, workers and the comparison. Feed, calls and the intake of events keep the wall clock: their
 * timeouts can have the same length.
 */
export const progressOn = ({ layer }: QuickClock): Layer.Layer<VenueProgress> =>
  // The runtime provides the dependencies of the intake.
  Layer.merge(VenueEvents.layer(venueHandlers) as Layer.Layer<VenueProgress>, layer)
