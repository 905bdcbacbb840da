/** The core under inputs that are well formed and absurd: it refuses in words, never throws, and what it holds stays exact. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Venue } from "../../simulator/venue/core/Venue.ts"
import { absurdInputs } from "./absurdInputs.ts"
import { venueOptions } from "./venueInputs.ts"

const nobody = { event: () => undefined, market: () => undefined }

describe("absurd inputs", () => {
  it("never throw, and every number that the books then hold is exact", { timeout: 60_000 }, () => {
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

/** Where in plain JSON whole numbers beyond the exact ones stand. */
const inexact = (value: unknown, path = ""): ReadonlyArray<string> =>
  typeof value === "number"
    ? Math.abs(value) > Number.MAX_SAFE_INTEGER
      ? [`${path}: ${value}`]
      : []
    : typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([key, item]) => inexact(item, `${path}.${key}`))
      : []
