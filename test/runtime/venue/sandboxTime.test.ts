/** A board of offers that is read after the venue's clock was moved is judged by the venue's own clock, as its streams are (C4, A2-115). */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { BusinessClock } from "../../../src/runtime/engine/clock/BusinessClock.ts"
import { Venue } from "../../../src/runtime/ports/Venue.ts"
import { VenueMemory } from "../../../src/runtime/ports/VenueMemory.ts"
import { layerSandboxTime } from "../../../src/runtime/services/venue/sandboxTime.ts"
import { VenueLink } from "../../../src/runtime/services/venue/VenueLink.ts"

const hour = 3_600_000

describe("reads of a venue whose clock was moved", () => {
  it("C4: the horizon is there before what was read is judged", async () => {
    const books = new VenueMemory({ now: () => Date.now() + hour })
    const horizon = Effect.gen(function* () {
      const { offers } = yield* Venue
      const clock = yield* BusinessClock
      const { at } = yield* offers
      return clock.horizon() - at
    })
    const layer = layerSandboxTime(books.layer()).pipe(
      Layer.provideMerge(Layer.merge(BusinessClock.layer(0), VenueLink.layer))
    )
    assert.isAbove(await Effect.runPromise(Effect.provide(horizon, layer)), -1_000)
  })
})
