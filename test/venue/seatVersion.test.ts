/**
 * A service replaces a running simulator of another version, for example after an upgrade that followed kill -9. So every
 * change of the simulator's API needs a new version (C1, Restart).
 */
import { assert, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import { hash } from "node:crypto"
import { seatVersion } from "../../src/venue/seatAnswer.ts"
import { VenueApi } from "../../src/venue/VenueApi.ts"

/** The version, and the hash of the API that it names. */
const recorded = [3, "b3e673cf529f1d44"]

it("a changed API of the simulated venue has a new version", () => {
  const { paths, components } = OpenApi.fromApi(VenueApi)
  const shape = JSON.stringify({ paths, components }, (name, member) =>
    name === "description" && typeof member === "string" ? undefined : member
  )
  const now = [seatVersion, hash("sha256", shape).slice(0, 16)]
  assert.deepStrictEqual(now, recorded, "raise seatVersion in src/venue/seatAnswer.ts, and record both here")
})
