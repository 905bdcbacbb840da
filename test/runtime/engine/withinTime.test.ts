/**
 * Timeouts of waits. An answer that arrived while the process was paused counts, although the timer is due before the socket is
 * read. A caller waits for its turn within a limit, and a caller that leaves gives its turn up.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Semaphore } from "effect"
import { TestClock } from "effect/testing"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { Backoff } from "../../../src/runtime/engine/Backoff.ts"
import { deadline } from "../../../src/runtime/engine/deadline.ts"
import { Unavailable } from "../../../src/runtime/engine/mailbox/DispatchError.ts"
import { inTurn, withinTime } from "../../../src/runtime/engine/withinTime.ts"

/** Blocks the whole process, as SIGSTOP does. */
const pause = (millis: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, millis)

/** The two ends of a connection. */
const connected = Effect.acquireRelease(
  Effect.promise(async (): Promise<readonly [Socket, Socket]> => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const far = new Promise<Socket>((resolve) => server.once("connection", resolve))
    const near = connect((server.address() as AddressInfo).port, "127.0.0.1")
    const ends = [near, await far] as const
    server.close()
    return ends
  }),
  (ends) => Effect.sync(() => ends.forEach((end) => end.destroy()))
)

describe("a timeout", () => {
  it.live("counts an answer that arrived while the process was paused", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const [near, far] = yield* connected
        const answer = Effect.callback<string>((resume) => {
          near.once("data", (bytes) => resume(Effect.succeed(String(bytes))))
        })
        // The answer takes more steps than one until its caller has it.
        const work = Effect.andThen(
          Effect.yieldNow,
          Effect.tap(answer, () => Effect.yieldNow)
        )
        const waiting = yield* Effect.forkChild(
          withinTime(work, () => "late", "20 millis"),
          { startImmediately: true }
        )
        yield* Effect.promise(() => new Promise<void>((resolve) => far.write("answered", () => resolve())))
        pause(40)
        assert.strictEqual(yield* Fiber.join(waiting), "answered")
      })
    )
  )

  it.live("gives work of several steps more time after a long pause", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const [near, far] = yield* connected
        const answer = Effect.callback<string>((resume) => {
          near.once("data", (bytes) => resume(Effect.succeed(String(bytes))))
        })
        const write = (text: string) =>
          Effect.promise(() => new Promise<void>((resolve) => far.write(text, () => resolve())))
        const work = Effect.all([answer, ...Array.from({ length: 20 }, () => Effect.andThen(write("again"), answer))])
        const waiting = yield* Effect.forkChild(
          withinTime(work, () => "late", "20 millis"),
          { startImmediately: true }
        )
        yield* write("answered")
        pause(600)
        assert.lengthOf(yield* Fiber.join(waiting), 21)
      })
    )
  )

  it.live("gives more time once: a process that is paused again and again gets its answer", () =>
    Effect.gen(function* () {
      let isLate = false
      deadline(1, () => (isLate = true))
      const turns = (count: number) =>
        Effect.repeat(
          Effect.promise(() => new Promise<void>((resolve) => setTimeout(resolve))),
          { times: count }
        )
      pause(520)
      yield* turns(10)
      assert.isFalse(isLate)
      pause(1_520)
      yield* turns(10)
      assert.isTrue(isLate)
    })
  )

  it.live("fails as late without an answer", () =>
    Effect.map(Effect.flip(withinTime(Effect.never, () => "late", "1 milli")), (error) =>
      assert.strictEqual(error, "late")
    )
  )
})

describe("a turn", () => {
  it.effect("that does not begin in time: the caller is refused, and the work before it continues", () =>
    Effect.gen(function* () {
      const turn = yield* Semaphore.make(1)
      const done = yield* Deferred.make<string>()
      const first = yield* Effect.forkChild(inTurn(turn, Deferred.await(done)), { startImmediately: true })
      const late = yield* Effect.forkChild(Effect.exit(inTurn(turn, Effect.succeed("second"))), {
        startImmediately: true
      })
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* Fiber.join(late), Exit.fail(new Unavailable({ unknown: false })))
      yield* Deferred.succeed(done, "first")
      assert.strictEqual(yield* Fiber.join(first), "first")
      assert.strictEqual(yield* inTurn(turn, Effect.succeed("third")), "third")
    })
  )

  it.effect("is left by a caller that disconnects, before its work and during it", () =>
    Effect.gen(function* () {
      const turn = yield* Semaphore.make(1)
      const begun: Array<string> = []
      const enter = (name: string) =>
        Effect.forkChild(
          inTurn(
            turn,
            Effect.andThen(
              Effect.sync(() => begun.push(name)),
              Effect.never
            )
          ),
          {
            startImmediately: true
          }
        )
      const working = yield* enter("working")
      const waiting = yield* enter("waiting")
      yield* Fiber.interrupt(waiting)
      yield* Fiber.interrupt(working)
      assert.strictEqual(yield* inTurn(turn, Effect.succeed("next")), "next")
      assert.deepStrictEqual(begun, ["working"])
    })
  )
})

describe("pauses between failed attempts", () => {
  it.effect("double up to the longest one, and start again after a success", () =>
    Effect.gen(function* () {
      const backoff = new Backoff(100, 500)
      const five = Effect.all(Array.from({ length: 5 }, () => backoff.next))
      assert.isFalse(backoff.isRunning)
      assert.deepStrictEqual(yield* five, [100, 200, 400, 500, 500])
      assert.isTrue(backoff.isRunning)
      // After 2,000 doublings the delay is no longer a finite number.
      for (let count = 0; count < 2_000; count++) assert.strictEqual(yield* backoff.next, 500)
      backoff.reset()
      assert.isFalse(backoff.isRunning)
      assert.deepStrictEqual(yield* five, [100, 200, 400, 500, 500])
    })
  )

  it.effect("take exactly their time", () =>
    Effect.gen(function* () {
      const backoff = new Backoff(100, 500)
      for (const millis of [100, 200]) {
        const pausing = yield* Effect.forkChild(backoff.pause, { startImmediately: true })
        yield* TestClock.adjust(millis - 1)
        assert.isUndefined(pausing.pollUnsafe())
        yield* TestClock.adjust(1)
        assert.isDefined(pausing.pollUnsafe())
      }
    })
  )
})
