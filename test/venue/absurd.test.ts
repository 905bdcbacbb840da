/**
 * The core with well-formed but absurd inputs: it refuses them with a sentence, never throws, and its figures stay
 * exact.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Venue } from "../../simulator/venue/core/Venue.ts"
import { absurdInputs } from "./absurdInputs.ts"
import { venueOptions } from "./venueInputs.ts"

const nobody = { event: () => undefined, market: () => undefined }

describe("absurd inputs", () => {
  it("never throw, and leave only exact numbers in the books", { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(absurdInputs(120), fc.nat(100), (inputs, seed) => {
        const venue = new Venue(venueOptions({ seed }), nobody)
        for (const input of inputs) venue.apply(input)
        assert.deepStrictEqual(inexact(JSON.parse(JSON.stringify(venue.state()))), [])
      }),
      { numRuns: 30 }
    )
  })
})

/** The paths of whole numbers in plain JSON that are too large to be exact. */
const inexact = (value: unknown, path = ""): ReadonlyArray<string> =>
  typeof value === "number"
    ? Math.abs(value) > Number.MAX_SAFE_INTEGER
      ? [`${path}: ${value}`]
      : []
    : typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([key, item]) => inexact(item, `${path}.${key}`))
      : []
