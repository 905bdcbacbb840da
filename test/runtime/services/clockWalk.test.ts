/**
 * Steps of a jump with events that arrive together or without end, in virtual time: no event passes a timer that is due before it,
 * and no flood of events holds the jump (C4).
 */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Latch } from "effect"
import { TestClock } from "effect/testing"
import type { AccountFact, VenueEvent } from "../../../src/machines/venue/VenueEvent.ts"
import type { VenueControl } from "../../../src/runtime/ports/VenueControl.ts"
import { BusinessClock } from "../../../src/runtime/engine/clock/BusinessClock.ts"
import { ClockWalk } from "../../../src/runtime/services/operations/system/ClockWalk.ts"
import type { DueNext } from "../../../src/runtime/services/operations/system/dueNext.ts"
import { EventCursor } from "../../../src/runtime/services/venue/EventCursor.ts"
import { inTime } from "../../../src/runtime/services/venue/sandboxTime.ts"
import { perp } from "../../support/perpVenue.ts"
import { saying, account, orderOf } from "../venue/eventWorld.ts"
import { noChange } from "../../../src/venue/VenueCommand.ts"

const hour = 3_600_000
const fact: AccountFact = saying(orderOf(null))({ account, sequence: 1 })

interface World {
  readonly walk: ClockWalk
  readonly clock: BusinessClock["Service"]
  /** The business times at which due timers fired. */
  readonly fired: ReadonlyArray<number>
}

interface Script {
  /** The due times of timers, business ms. */
  readonly timers?: ReadonlyArray<number>
  /** Runs before timers are read. */
  readonly reading?: Effect.Effect<void>
  /** Runs while the venue moves by a step. */
  readonly moving?: (world: World) => Effect.Effect<void>
  readonly reached?: Effect.Effect<void>
  readonly ownsDatabase?: boolean
}

const worldOf = (script: Script) =>
  Effect.gen(function* () {
    const { timers = [], reading = Effect.void, moving, reached = Effect.void, ownsDatabase = true } = script
    const clock = yield* BusinessClock
    const wall = yield* Clock.Clock
    const fired: Array<number> = []
    let open = timers.map((dueAt) => ({ name: "test", subject: "system", dueAt }))
    const made: { world?: World } = {}
    const command = ({ to }: { readonly to: number }) =>
      Effect.as(
        Effect.suspend(() => moving?.(made.world as World) ?? Effect.void),
        { number: 1, at: to, id: null, ...noChange }
      )
    const statement = (_: string, [offset]: ReadonlyArray<unknown>) =>
      Effect.succeed(ownsDatabase ? [{ clock_offset: offset }] : [])
    const walk = new ClockWalk(
      {
        control: { attached: true, command, show: Effect.succeed({ due: [] }) } as unknown as VenueControl["Service"],
        progress: { reached: () => reached, isAt: () => false, readAccount: () => Effect.die("unused") },
        clock,
        host: { onCommitted: () => {} } as never,
        timers: {
          due: () =>
            Effect.andThen(
              reading,
              Effect.sync(() => open)
            ),
          fired: () => new Map(),
          fireDue: Effect.sync(() => {
            const due = open.filter(({ dueAt }) => dueAt <= clock.now())
            open = open.filter(({ dueAt }) => dueAt > clock.now())
            fired.push(...due.map(() => clock.now()))
            return due.length
          })
        },
        sql: { unsafe: statement } as never,
        wall,
        owner: "test"
      },
      null,
      true
    )
    return (made.world = { walk, clock, fired })
  })

describe("C4: a step of a jump", () => {
  it.effect("does not pass a timer that is due before the second of two simultaneous events", () =>
    Effect.gen(function* () {
      const read = yield* Latch.make(true)
      const world: World = yield* worldOf({
        timers: [hour],
        reading: Effect.suspend(() => Effect.delay(read.await, 1)),
        moving: ({ walk }) =>
          Effect.asVoid(
            Effect.all([walk.event(2 * hour, fact), walk.event(3 * hour, fact)], { concurrency: "unbounded" })
          )
      })
      yield* world.walk.begin(5 * hour)
      const jump = yield* Effect.forkChild(world.walk.finish)
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(jump)
      assert.deepStrictEqual(world.fired, [hour])
    }).pipe(Effect.provide(BusinessClock.layer(0)))
  )

  it.effect("counts work that an event reports once, although its line is read twice", () =>
    Effect.gen(function* () {
      const cursor = new EventCursor(0)
      const due: Array<DueNext> = []
      const stamp = { symbol: perp, settledAt: hour }
      const event = {
        number: 1,
        at: hour,
        fact: { type: "funding", account, sequence: 1, funding: stamp }
      } as VenueEvent
      const take = ({ number }: VenueEvent) => Effect.sync(() => void (cursor.begin(number) && cursor.done(number)))
      const line = (clock: BusinessClock["Service"]) => Effect.suspend(() => inTime(clock, cursor, event, take))
      const { walk }: World = yield* worldOf({ moving: ({ clock }) => Effect.andThen(line(clock), line(clock)) })
      yield* walk.begin(2 * hour)
      yield* walk.noting((each) => void due.push(each), walk.finish)
      assert.deepStrictEqual(due, [{ name: "venue.funding", subject: `market:${perp}`, dueAt: hour }])
    }).pipe(Effect.provide(BusinessClock.layer(0)))
  )

  it.effect("ends although events arrive without end", () =>
    Effect.gen(function* () {
      const { walk, clock }: World = yield* worldOf({ reached: Effect.never })
      const flood = Effect.forever(
        Effect.delay(
          Effect.suspend(() => walk.event(clock.now(), fact)),
          "1 second"
        )
      )
      yield* Effect.forkChild(flood)
      yield* walk.begin(30_000)
      const jump = yield* Effect.forkChild(walk.finish)
      yield* TestClock.adjust("59 seconds")
      assert.isUndefined(jump.pollUnsafe())
      yield* TestClock.adjust("3 minutes")
      assert.isDefined(jump.pollUnsafe())
      assert.isAtLeast(clock.offset(), 30_000)
    }).pipe(Effect.provide(BusinessClock.layer(0)))
  )

  it.effect("of a process that lost the database is not stored, and moves no clock", () =>
    Effect.gen(function* () {
      const { walk, clock }: World = yield* worldOf({ ownsDatabase: false })
      const begun = yield* Effect.flip(walk.begin(hour))
      const followed = yield* Effect.flip(walk.follow(hour, null))
      assert.deepStrictEqual(
        [begun._tag, followed._tag, clock.offset(), walk.pending],
        ["Unavailable", "Unavailable", 0, null]
      )
    }).pipe(Effect.provide(BusinessClock.layer(0)))
  )
})
