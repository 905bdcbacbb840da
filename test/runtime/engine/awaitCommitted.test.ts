/**
 * A caller waits for a subject's committed state: it gets each commit once, misses none, and leaves no state behind
 * (architecture, Everything that changes state comes one way).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { afterEach, beforeEach } from "vitest"
import type { Commit } from "../../../src/runtime/engine/journal/Commit.ts"
import { mailboxLimit } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import { type HostBench, increment, openHost } from "./hostBench.ts"

let bench: HostBench
beforeEach(async () => {
  bench = await openHost()
})
afterEach(() => bench.close())

const subject = "client:1"
const within = 5_000
/** The client's cash once it has this value, and whether its commit was passed. */
const cashOf =
  (least: bigint) =>
  (state: SubjectState, commit: Commit | null): string | null => {
    const cash = state.one("balances")?.cash ?? 0n
    return cash < least ? null : `${cash}${commit === null ? " loaded" : ""}`
  }
const waiting = (least: bigint) =>
  Effect.forkChild(bench.host.awaitCommitted(subject, cashOf(least), within), { startImmediately: true })
const add = Effect.suspend(() => bench.host.dispatch(increment(1)))

describe("a caller that waits for a commit", () => {
  it.effect("receives state and commit once the state satisfies it, and every caller does", () =>
    Effect.gen(function* () {
      yield* add
      const callers = [yield* waiting(2n), yield* waiting(3n), yield* waiting(3n)]
      yield* add
      yield* add
      assert.deepStrictEqual(yield* Effect.forEach(callers, Fiber.join), ["2", "3", "3"])
    })
  )

  it.effect("that begins late receives the present state", () =>
    Effect.gen(function* () {
      yield* add
      assert.strictEqual(yield* bench.host.awaitCommitted(subject, cashOf(1n), within), "1 loaded")
    })
  )

  it.effect("receives null at its timeout, and another subject's commits do not concern it", () =>
    Effect.gen(function* () {
      yield* add
      const caller = yield* waiting(2n)
      yield* bench.host.dispatch(increment(2))
      yield* TestClock.adjust(within)
      assert.isNull(yield* Fiber.join(caller))
    })
  )

  it.effect("receives a commit whose outcome was unknown, once the subject is loaded again", () =>
    Effect.gen(function* () {
      yield* add
      const caller = yield* waiting(2n)
      bench.bend = () => ({ _tag: "Unavailable", unknown: true })
      yield* Effect.flip(add)
      assert.strictEqual(yield* Fiber.join(caller), "2 loaded")
    })
  )

  it.effect("continues to wait while the subject can't be loaded, and receives the next commit", () =>
    Effect.gen(function* () {
      yield* add
      const caller = yield* waiting(3n)
      bench.bend = () => ({ _tag: "Unavailable", unknown: true })
      bench.loadFails = () => true
      yield* Effect.flip(add)
      bench.bend = (_, outcome) => outcome
      bench.loadFails = () => false
      yield* add
      assert.include(yield* Fiber.join(caller), "3")
    })
  )

  it.effect("a check that throws fails its caller alone", () =>
    Effect.gen(function* () {
      yield* add
      const fails = yield* Effect.forkChild(
        bench.host.awaitCommitted(
          subject,
          (_, commit) => {
            if (commit !== null) throw new Error("broken")
            return null
          },
          within
        ),
        { startImmediately: true }
      )
      const caller = yield* waiting(2n)
      assert.strictEqual(yield* add, 2n)
      assert.strictEqual(yield* Fiber.join(caller), "2")
      assert.strictEqual((yield* Fiber.await(fails))._tag, "Failure")
    })
  )

  it.effect("callers of one subject are limited, and a caller that leaves frees its place", () =>
    Effect.gen(function* () {
      yield* add
      const callers = yield* Effect.forEach(Array.from({ length: mailboxLimit }), () => waiting(2n))
      const refused = yield* Effect.flip(bench.host.awaitCommitted(subject, cashOf(2n), within))
      assert.deepInclude(refused, { _tag: "Unavailable", unknown: false })
      yield* Effect.forEach(callers, Fiber.interrupt)
      const last = yield* waiting(2n)
      yield* add
      assert.strictEqual(yield* Fiber.join(last), "2")
    })
  )
})
