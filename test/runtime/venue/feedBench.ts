/** A market feed over a scripted venue, on a clock that the test moves. */
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { BusinessClock } from "../../../src/runtime/engine/clock/BusinessClock.ts"
import { MemoryStore } from "../../../src/runtime/engine/journal/MemoryStore.ts"
import { Quarantine } from "../../../src/runtime/ports/Quarantine.ts"
import { RowReadsMemory } from "../../../src/runtime/ports/RowReadsMemory.ts"
import { quarantineMemory, type QuarantineEntry } from "../../../src/runtime/ports/QuarantineMemory.ts"
import { LastListing } from "../../../src/runtime/services/market/LastListing.ts"
import { MarketFeed } from "../../../src/runtime/services/market/MarketFeed.ts"
import { defaultSettings, Settings } from "../../../src/runtime/Settings.ts"
import { type Line, ScriptedVenue } from "../../support/ScriptedVenue.ts"

export const start = 1_764_000_000_000

/** Lets the feed process the received messages. */
export const settle = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })

/** A feed that ends with the test's scope. `prepare` runs before it connects. `store` holds the rows of earlier processes. */
export const openFeed = (prepare: (venue: ScriptedVenue) => void = () => {}, store = new MemoryStore()) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(start)
    const venue = new ScriptedVenue()
    venue.at = start
    prepare(venue)
    const aside: Array<QuarantineEntry> = []
    const context = yield* Layer.build(
      MarketFeed.layer.pipe(
        Layer.provide(
          Layer.mergeAll(
            venue.layer,
            Settings.layer(defaultSettings),
            Layer.succeed(Quarantine, quarantineMemory(aside))
          )
        ),
        Layer.provideMerge(LastListing.layer.pipe(Layer.provide(RowReadsMemory.layer({ store })))),
        Layer.provideMerge(BusinessClock.layer(0))
      )
    )
    yield* settle
    const feed = yield* Effect.provideContext(MarketFeed, context)
    const listing = yield* Effect.provideContext(LastListing, context)
    const clock = yield* Effect.provideContext(BusinessClock, context)
    return {
      venue,
      feed,
      listing,
      clock,
      aside,
      /** Sends lines and lets the feed process them. */
      say: (...lines: ReadonlyArray<Line>) =>
        Effect.andThen(
          Effect.sync(() => venue.publish(...lines)),
          settle
        ),
      /** Sends a heartbeat every second, like a live venue. */
      pass: (seconds: number) =>
        Effect.forEach(
          Array.from({ length: seconds }),
          () =>
            Effect.gen(function* () {
              yield* TestClock.adjust("1 second")
              venue.at += 1_000
              venue.publish(venue.beat())
              yield* settle
            }),
          { discard: true }
        )
    }
  })
