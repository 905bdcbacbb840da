/**
 * Jumps of the venue's time of any length, with any number of events. The reader is never further behind than the venue keeps
 * events, and the venue ends at the requested moment (C4).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { eventsKept } from "../../../simulator/venue/core/EventLine.ts"
import type { VenueControl } from "../../../src/runtime/ports/VenueControl.ts"
import type { VenueProgress } from "../../../src/runtime/ports/VenueProgress.ts"
import { noChange } from "../../../src/venue/VenueCommand.ts"
import { playVenue } from "../../../src/runtime/services/operations/system/playVenue.ts"

const day = 86_400_000

/** A venue that publishes this number of events per day, and a reader that processes them when the jump waits for it. */
const playing = async (perDay: number, days: number) => {
  const seen = { at: 0, number: 0, taken: 0, furthest: 0, steps: 0 }
  const control = {
    command: ({ to }: { readonly to: number }) =>
      Effect.sync(() => {
        seen.steps++
        seen.at = to
        seen.number = Math.floor((to / day) * perDay)
        seen.furthest = Math.max(seen.furthest, seen.number - seen.taken)
        return { number: seen.number, at: to, id: null, ...noChange }
      })
  } as unknown as VenueControl["Service"]
  const progress: VenueProgress["Service"] = {
    reached: (number) => Effect.sync(() => void (seen.taken = number)),
    isAt: (number) => seen.taken >= number,
    readAccount: () => Effect.die("no account is compared")
  }
  await Effect.runPromise(playVenue({ control, progress }, 0, days * day))
  return seen
}

describe("C4: a jump of the venue's time", () => {
  it("leaves the reader no further behind than the venue's stored events, at any rate and length", async () => {
    const rate = fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 1_000_000 }))
    await fc.assert(
      fc.asyncProperty(rate, fc.integer({ min: 1, max: 3_650 }), async (perDay, years) => {
        // The busier the venue, the shorter the jump: a test of further thousands of steps would show nothing new.
        const days = Math.max(1, Math.min(years, Math.floor(2_000_000 / (perDay + 1))))
        const { at, number, taken, furthest } = await playing(perDay, days)
        assert.deepStrictEqual([at, taken], [days * day, number])
        assert.isBelow(furthest, eventsKept)
      }),
      { numRuns: 60 }
    )
  })

  it("begins with steps whose events are few at any rate, and takes few steps for a day or ten quiet years", async () => {
    const rush = await playing(10_000_000, 1 / 24)
    assert.isBelow(rush.furthest, eventsKept)
    assert.isAtMost((await playing(54, 1)).steps, 8)
    assert.isBelow((await playing(0, 3_650)).steps, 15)
  })
})
