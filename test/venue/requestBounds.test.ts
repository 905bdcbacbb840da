/** How many requests for quotes of an account are open at once, and for how long (C1, bounded): refused in words. */
import { assert, describe, it } from "@effect/vitest"
import { opened } from "./openedVenue.ts"

const day = 86_400_000

describe("bounds of requests for quotes", () => {
  it("a window of two days at most, of a request and of a close", () => {
    const world = opened()
    const { now } = world.venue
    assert.isNull(world.request({ windowEndsAt: now + 2 * day, expiryAt: now + 9 * day }).reason)
    assert.strictEqual(world.request({ windowEndsAt: now + 2 * day + 1 }).reason, "window too long")
    const contract = world.venue.lookup([world.deal({})])[0]?.contract
    const close = (windowEndsAt: number) =>
      world.call("requestClose", { contractId: contract?.id, windowEndsAt }).reason
    assert.strictEqual(close(now + 2 * day + 1), "window too long")
    assert.strictEqual(close(now), "window over")
    assert.isNull(close(now + 60_000))
  })

  it("1,000 of an account; one that ends makes room, and others have theirs", () => {
    const world = opened()
    for (let n = 1; n <= 1_000; n++) assert.isNull(world.request({ ref: `Q-${n}` }).reason)
    assert.strictEqual(world.request({}).reason, "too many requests")
    assert.isNull(world.request({ account: "CL-2" }).reason)
    assert.isNull(world.call("cancelRequest", { target: "Q-7" }).reason)
    assert.isNull(world.request({}).reason)
    assert.strictEqual(world.request({}).reason, "too many requests")
    world.tick(60_000)
    assert.isNull(world.request({}).reason)
  })
})
