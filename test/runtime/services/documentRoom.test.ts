/**
 * The fair limiter with the limits of uploads: work that waits, work that may overtake, and work that is refused; and
 * the unpaged list of documents (architecture 8; doc 1, Document).
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import * as fc from "fast-check"
import { yieldToEventLoop } from "../../../src/runtime/engine/yieldToEventLoop.ts"
import { documentsOf, uploadRoom } from "../../../src/runtime/services/clients/document/Documents.ts"
import { FairLimiter } from "../../../src/runtime/services/shared/FairLimiter.ts"
import type { DocumentRow } from "../../../src/runtime/tables/document.ts"

const hour = 3_600_000

/** Uploads that occupy their room until the test ends them by name. */
const hall = (room: FairLimiter) => {
  const started: Array<string> = []
  const ends = new Map<string, Deferred.Deferred<void>>()
  const enter = (name: string, partnerId: number, size: number) =>
    Effect.suspend(() => {
      const end = Deferred.makeUnsafe<void>()
      ends.set(name, end)
      return Effect.forkDetach(
        room.within(
          partnerId,
          size,
          Effect.andThen(
            Effect.sync(() => started.push(name)),
            Deferred.await(end)
          )
        ),
        { startImmediately: true }
      )
    })
  const leave = (name: string) =>
    Effect.andThen(Deferred.succeed(ends.get(name) as Deferred.Deferred<void>, undefined), yieldToEventLoop)
  return { started, enter, leave }
}

describe("architecture 8: uploads wait for memory", () => {
  it.effect("architecture 8: waiting uploads are served in order of arrival; a small one does not overtake", () =>
    Effect.gen(function* () {
      const { started, enter, leave } = hall(
        new FairLimiter({ ...uploadRoom, capacity: 10, share: 10, waitMillis: hour })
      )
      yield* enter("a", 1, 6)
      yield* enter("b", 2, 6)
      yield* enter("c", 3, 2)
      assert.deepStrictEqual(started, ["a"])
      yield* leave("a")
      assert.deepStrictEqual(started, ["a", "b", "c"])
    })
  )

  it.effect("architecture 8: a partner that uses its whole share is passed over", () =>
    Effect.gen(function* () {
      const { started, enter, leave } = hall(
        new FairLimiter({ ...uploadRoom, capacity: 10, share: 5, waitMillis: hour })
      )
      yield* enter("a", 1, 5)
      yield* enter("b", 1, 5)
      yield* enter("c", 2, 5)
      assert.deepStrictEqual(started, ["a", "c"])
      yield* leave("a")
      assert.deepStrictEqual(started, ["a", "c", "b"])
    })
  )

  it.effect("architecture 8: small work of a key does not overtake its large work, however much of it arrives", () =>
    Effect.gen(function* () {
      const { started, enter, leave } = hall(
        new FairLimiter({ ...uploadRoom, capacity: 10, share: 5, waitMillis: hour })
      )
      yield* enter("small 0", 1, 2)
      yield* enter("small 1", 1, 2)
      yield* enter("large", 1, 5)
      for (const at of [2, 3]) {
        yield* enter(`small ${at}`, 1, 2)
        yield* leave(`small ${at - 2}`)
      }
      assert.deepStrictEqual(started, ["small 0", "small 1", "large"])
      for (const name of ["large", "small 2", "small 3"]) yield* leave(name)
    })
  )

  it.effect("architecture 8: in any sequence a key keeps its order, and no memory stays unused for it", () =>
    Effect.promise(() => {
      const sizes = fc.record({ key: fc.integer({ min: 1, max: 3 }), size: fc.integer({ min: 1, max: 5 }) })
      const steps = fc.array(fc.oneof(sizes, fc.nat(20)), { maxLength: 40 })
      const [capacity, share] = [10, 5]
      return fc.assert(
        fc.asyncProperty(steps, (list) =>
          Effect.runPromise(
            Effect.gen(function* () {
              const room = new FairLimiter({ ...uploadRoom, capacity, share, waitMillis: hour })
              const { started, enter, leave } = hall(room)
              const arrived: Array<{ readonly name: string; readonly key: number; readonly size: number }> = []
              const gone = new Set<string>()
              const running = () => arrived.filter(({ name }) => started.includes(name) && !gone.has(name))
              for (const step of list) {
                if (typeof step === "object") {
                  arrived.push({ name: String(arrived.length), ...step })
                  yield* enter(String(arrived.length - 1), step.key, step.size)
                } else {
                  const leaver = running().at(step % Math.max(1, running().length))
                  if (leaver === undefined) continue
                  gone.add(leaver.name)
                  yield* leave(leaver.name)
                }
                const sizeOf = (key?: number) =>
                  running().reduce((sum, each) => sum + (key === undefined || each.key === key ? each.size : 0), 0)
                const waiting = arrived.filter(({ name }) => !started.includes(name))
                const firsts = waiting.filter(({ key }, at) => waiting.findIndex((other) => other.key === key) === at)
                const next = firsts.find(({ key, size }) => sizeOf(key) + size <= share)
                if (next !== undefined)
                  assert.isAbove(sizeOf() + next.size, capacity, "the first that may start has no room")
                for (const key of [1, 2, 3]) {
                  const inOrder = arrived.filter((each) => each.key === key).map(({ name }) => name)
                  const begun = started.filter((name) => inOrder.includes(name))
                  assert.deepStrictEqual(begun, inOrder.slice(0, begun.length), "the order of arrival")
                }
              }
              for (let [first] = running(); first !== undefined; [first] = running()) {
                gone.add(first.name)
                yield* leave(first.name)
              }
              assert.strictEqual(started.length, arrived.length)
            })
          )
        )
      )
    })
  )

  it.effect(
    "architecture 8: without memory in time, or without a place in the queue, the caller is asked to come back",
    () =>
      Effect.gen(function* () {
        const room = new FairLimiter({
          ...uploadRoom,
          capacity: 10,
          share: 10,
          waiting: 10,
          waitingShare: 6,
          waitMillis: 1
        })
        const { enter, leave } = hall(room)
        yield* enter("a", 1, 10)
        const late = yield* enter("late", 2, 6)
        for (const [partnerId, size] of [
          [2, 1],
          [3, 5]
        ] as const) {
          const exit = yield* Effect.exit(room.within(partnerId, size, Effect.void))
          assert.isTrue(Exit.isFailure(exit))
        }
        assert.isTrue(Exit.isFailure(yield* Fiber.await(late)))
        yield* leave("a")
        assert.strictEqual(yield* room.within(2, 10, Effect.succeed("in")), "in")
      })
  )

  it.effect("architecture 8: a caller that disconnects leaves the queue, and frees its memory", () =>
    Effect.gen(function* () {
      const { started, enter } = hall(new FairLimiter({ ...uploadRoom, capacity: 10, share: 10, waitMillis: hour }))
      const a = yield* enter("a", 1, 10)
      const b = yield* enter("b", 2, 10)
      yield* enter("c", 3, 10)
      yield* Fiber.interrupt(b)
      yield* Fiber.interrupt(a)
      yield* yieldToEventLoop
      assert.deepStrictEqual(started, ["a", "c"])
    })
  )

  it("architecture 8: in any sequence no key uses more than allowed and no memory is lost", async () => {
    const uploads = fc.array(
      fc.record({ partnerId: fc.integer({ min: 1, max: 3 }), size: fc.integer({ min: 1, max: 5 }) }),
      {
        maxLength: 30
      }
    )
    await fc.assert(
      fc.asyncProperty(uploads, async (list) => {
        const room = new FairLimiter({
          ...uploadRoom,
          capacity: 10,
          share: 5,
          waiting: 1_000,
          waitingShare: 1_000,
          waitMillis: hour
        })
        const held = new Map<number, number>()
        const add = (partnerId: number, size: number): void => {
          held.set(partnerId, (held.get(partnerId) ?? 0) + size)
          assert.isAtMost(held.get(partnerId) as number, 5)
          assert.isAtMost(
            [...held.values()].reduce((sum, part) => sum + part, 0),
            10
          )
        }
        const work = ({ partnerId, size }: (typeof list)[number]) =>
          room.within(
            partnerId,
            size,
            Effect.gen(function* () {
              add(partnerId, size)
              yield* Effect.yieldNow
              add(partnerId, -size)
              return size
            })
          )
        const done = await Effect.runPromise(Effect.forEach(list, work, { concurrency: "unbounded" }))
        assert.deepStrictEqual(
          done,
          list.map(({ size }) => size)
        )
      })
    )
  })
})

describe("architecture 8: long work on the only thread", () => {
  it("architecture 8: a pause lets waiting requests be served first", async () => {
    const order: Array<string> = []
    setImmediate(() => order.push("arrived"))
    await Effect.runPromise(
      Effect.andThen(
        yieldToEventLoop,
        Effect.sync(() => order.push("went on"))
      )
    )
    assert.deepStrictEqual(order, ["arrived", "went on"])
  })
})

describe("doc 1, Document: the list", () => {
  it.each([0, 1, 9, 10, 11, 20, 25])(
    "doc 1, Document: of %i documents none is missing, newest first",
    async (count) => {
      const ids = Array.from({ length: count }, (_, n) => 3 * (count - n))
      const page = (_: string, __: unknown, { limit, before = Infinity }: { limit: number; before?: number }) =>
        Effect.succeed(
          ids
            .filter((id) => id < before)
            .slice(0, limit)
            .map((id) => ({ id }))
        )
      const rows = await Effect.runPromise(documentsOf({ page: page as never }, 7, 10))
      assert.deepStrictEqual(
        rows.map(({ id }: DocumentRow) => id),
        ids
      )
    }
  )
})
