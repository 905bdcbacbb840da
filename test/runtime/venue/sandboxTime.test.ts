/**
 * A board of offers that is read after a move of the venue's clock is checked by the venue's own clock, like its
 * streams (C4, A2-115).
 */
import { assert, describe, it } from "@effect/vitest"
import { TestClock } from "effect/testing"
import { Effect, Exit, Layer, Option, Stream } from "effect"
import { BusinessClock } from "../../../src/runtime/engine/clock/BusinessClock.ts"
import { clockSlackMillis, driftLimit, timeMisfit } from "../../../src/machines/venue/timeChecks.ts"
import { Venue, VenueUnanswered } from "../../../src/runtime/ports/Venue.ts"
import { VenueMemory } from "../../../src/runtime/ports/VenueMemory.ts"
import { layerSandboxTime } from "../../../src/runtime/services/venue/sandboxTime.ts"
import { VenueLink } from "../../../src/runtime/services/venue/VenueLink.ts"

const hour = 3_600_000

describe("the venue's clock beside the service's", () => {
  it.effect("A2-115: is measured by the market data that arrives fastest, within fifteen seconds", () =>
    Effect.gen(function* () {
      const clock = yield* BusinessClock
      const drift = () => {
        const { lag, lead, latest } = clock.venueTime()
        assert.strictEqual(latest, clock.now() + lead + clockSlackMillis)
        return [lag, lead]
      }
      assert.deepStrictEqual(drift(), [driftLimit, driftLimit])
      const hear = (...ahead: ReadonlyArray<number>) => {
        for (const each of ahead) clock.measure(clock.now() + each)
      }
      hear(-6_900, -6_100, -9_000, -driftLimit - 1, hour)
      assert.deepStrictEqual(drift(), [6_100, 0])
      yield* TestClock.adjust("10 seconds")
      hear(-6_500)
      assert.deepStrictEqual(drift(), [6_100, 0])
      yield* TestClock.adjust("10 seconds")
      hear(-6_400)
      assert.deepStrictEqual(drift(), [6_400, 0])
      hear(7_000)
      assert.deepStrictEqual(drift(), [0, 7_000])
    }).pipe(Effect.provide(BusinessClock.layer(0)))
  )

  it.effect("A2-115: a corrected clock leaves requests with earlier times valid for an hour at least", () =>
    Effect.gen(function* () {
      const clock = yield* BusinessClock
      const sent = clock.now()
      const misfit = (ago: number) =>
        timeMisfit({ called: "the trade's time", at: sent - ago, sentAt: sent }, clock.venueTime())
      /** As `misfit`, for an event after one of the same account. */
      const eventMisfit = (ago: number) =>
        timeMisfit({ called: "the end", at: sent - ago, sentAt: null }, { ...clock.venueTime(), takenTo: sent })
      const run = Effect.fnUntraced(function* (minutes: number, ahead: number) {
        for (let span = 0; span < minutes * 6; span++) {
          clock.measure(clock.now() + ahead)
          yield* TestClock.adjust("10 seconds")
        }
      })
      assert.isNull(misfit(driftLimit + clockSlackMillis), "a start does not know the lag of before")
      yield* run(121, 0)
      assert.isNotNull(eventMisfit(1 + clockSlackMillis))
      yield* run(1, 6_000)
      yield* run(60, -2_000)
      assert.isNull(eventMisfit(8_000 + clockSlackMillis), "the earlier event was dated by the old clock")
      assert.isNotNull(eventMisfit(8_001 + clockSlackMillis))
      yield* run(121, -8_000)
      assert.isNotNull(eventMisfit(8_001 + clockSlackMillis))
      assert.isNull(misfit(8_000 + clockSlackMillis))
      assert.isNotNull(misfit(8_001 + clockSlackMillis))
      yield* run(60, 0)
      assert.strictEqual(clock.venueTime().lag, 0)
      assert.isNull(misfit(8_000 + clockSlackMillis), "the request was sent under the old clock")
      yield* run(61, 0)
      assert.isNotNull(misfit(1 + clockSlackMillis))
    }).pipe(Effect.provide(BusinessClock.layer(0)))
  )

  it.effect("C4: in a sandbox it may have been behind before the start", () =>
    Effect.gen(function* () {
      const clock = yield* BusinessClock
      assert.strictEqual(clock.venueTime().behindUntil, clock.now())
    }).pipe(
      Effect.provide(
        layerSandboxTime(new VenueMemory({ now: () => 0 }).layer()).pipe(
          Layer.provideMerge(Layer.merge(BusinessClock.layer(hour), VenueLink.layer))
        )
      )
    )
  )
})

describe("reads of a venue whose clock was moved", () => {
  it.each([
    ["offers", Effect.flatMap(Venue, ({ offers }) => Effect.map(offers, ({ at }) => at))],
    ["a look-up", Effect.flatMap(Venue, ({ lookup }) => Effect.map(lookup(["P-1"]), ([outcome]) => outcome?.at ?? 0))],
    [
      "a call",
      Effect.flatMap(Venue, ({ write }) =>
        Effect.map(write("openAccount", { ref: "P-2", account: "CL-00000001" }), ({ at }) => at)
      )
    ]
  ] as const)("C4: the horizon is known before the time of %s is judged", async (_, read) => {
    const books = new VenueMemory({ now: () => Date.now() + hour })
    const horizon = Effect.gen(function* () {
      const clock = yield* BusinessClock
      const at = yield* read
      const { latest, lead } = clock.venueTime()
      return latest - lead - clockSlackMillis - at
    })
    const layer = layerSandboxTime(books.layer()).pipe(
      Layer.provideMerge(Layer.merge(BusinessClock.layer(0), VenueLink.layer))
    )
    assert.isAbove(await Effect.runPromise(Effect.provide(horizon, layer)), -1_000)
  })

  it("C4: an event from ahead is applied nowhere while the venue does not state how far it is, and is read again", async () => {
    const books = new VenueMemory({ now: () => Date.now() + hour })
    let isAway = true
    const away = Effect.fail(new VenueUnanswered({ reason: "away" }))
    const port = { ...books.port(), clock: Effect.suspend(() => (isAway ? away : books.port().clock)) }
    const said = books.publish("CL-00000001", (at) => ({ type: "bust", ...at, tradeId: 1, orderId: 1, reason: "test" }))
    const course = Effect.gen(function* () {
      const { events, accountEvents } = yield* Venue
      const clock = yield* BusinessClock
      const first = Stream.runHead(Stream.filter(events(0), (line) => "fact" in line))
      const asked = accountEvents("CL-00000001", 0)
      assert.deepStrictEqual(
        [Exit.isFailure(yield* Effect.exit(first)), Exit.isFailure(yield* Effect.exit(asked))],
        [true, true]
      )
      isAway = false
      assert.deepStrictEqual(yield* asked, [said])
      assert.deepStrictEqual(Option.getOrNull(yield* first), said)
      assert.isAtLeast(clock.venueTime().latest, said.at)
    })
    const layer = layerSandboxTime(Layer.succeed(Venue, Venue.of(port))).pipe(
      Layer.provideMerge(Layer.merge(BusinessClock.layer(0), VenueLink.layer))
    )
    await Effect.runPromise(Effect.provide(course, layer))
  })
})
