/** The limits on builds: per client and hour, and concurrent ones per partner (A2-75, STS-21). */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { Unavailable } from "../../../src/runtime/engine/mailbox/DispatchError.ts"
import { FairLimiter } from "../../../src/runtime/services/shared/FairLimiter.ts"
import { BuildWindow, partnerBuilds } from "../../../src/runtime/services/statements/build/BuildWindow.ts"

const hour = 3_600_000

describe("BuildWindow", () => {
  it("A2-75: 30 within a sliding hour, and states when the next build is possible", () => {
    const window = new BuildWindow()
    window.learn(1, [])
    for (let n = 0; n < 30; n++) assert.isNull(window.take(1, 1000 + n))
    assert.strictEqual(window.take(1, 2000), 1000 + hour)
    assert.isNull(window.take(1, 1000 + hour))
    assert.strictEqual(window.take(1, 1000 + hour), 1001 + hour)
    window.learn(2, [])
    assert.isNull(window.take(2, 2000), "another client's are its own")
  })

  it("A2-75: builds before a restart count", () => {
    const window = new BuildWindow()
    assert.isFalse(window.knows(1))
    window.learn(
      1,
      Array.from({ length: 30 }, (_, n) => 5_000 - n)
    )
    assert.isTrue(window.knows(1))
    assert.strictEqual(window.take(1, 6_000), 4_971 + hour)
  })
})

describe("builds of a partner", () => {
  it.effect("STS-21: two run, four wait, one more is asked to come back; another partner is not affected", () =>
    Effect.gen(function* () {
      const room = new FairLimiter(partnerBuilds)
      const gate = yield* Deferred.make<void>()
      let running = 0
      let most = 0
      const build = Effect.gen(function* () {
        most = Math.max(most, ++running)
        yield* Deferred.await(gate)
        running--
      })
      const fibers = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () =>
        Effect.forkChild(room.within(1, 1, build), { startImmediately: true })
      )
      assert.isTrue(room.isFull(1, 1))
      assert.instanceOf(yield* Effect.flip(room.within(1, 1, build)), Unavailable)
      assert.strictEqual(yield* room.within(2, 1, Effect.succeed("done")), "done")
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual([most, room.isFull(1, 1)], [2, false])
    })
  )
})
