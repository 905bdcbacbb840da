/** The limits on an account's open requests for quotes and on their windows (C1, bounded); a refusal has a sentence. */
import { assert, describe, it } from "@effect/vitest"
import { opened } from "./openedVenue.ts"

const day = 86_400_000

describe("limits of requests for quotes", () => {
  it("the window of a request and of a close is two days at most", () => {
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

  it("an account has at most 1,000 open requests; an ended one makes room, and other accounts have their own", () => {
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
