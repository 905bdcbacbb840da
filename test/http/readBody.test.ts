/**
 * The body reader over streams in memory: the memory that it counts, the order of waiting readers, and its end with the
 * connection or the fiber (architecture 8; A1-02 gates 1 and 8).
 */
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { IncomingMessage, ServerResponse } from "node:http"
import { Socket } from "node:net"
import { BodyBudget, type BodyHolder, type BodyRoom } from "../../src/http/middleware/BodyBudget.ts"
import { readBody } from "../../src/http/middleware/readBody.ts"
import { bodyBudget, bodyCaps } from "../../src/machines/shared/Limits.ts"

const forSmall = 100
const budgetOf = (waitMillis = 0) => new BodyBudget({ bytes: forSmall * 8, waitMillis })
const largeCap = bodyCaps.documentBody

const fits = (room: BodyRoom, bytes: number): boolean => {
  const taken = room.take(bytes)
  if (taken) room.give(bytes)
  return taken
}
const full = (budget: BodyBudget): boolean => fits(budget.room("operator", 0), forSmall)

/** A request in progress that declares sixty bytes, or none. */
const reading = (room: BodyRoom, cap = 80, chunked = false) => {
  const request = new IncomingMessage(new Socket())
  request.headers[chunked ? "transfer-encoding" : "content-length"] = chunked ? "chunked" : "60"
  const fiber = Effect.runFork(readBody(request, new ServerResponse(request), cap, room))
  const send = async (bytes: number | null) => {
    request.push(bytes === null ? null : Buffer.alloc(bytes))
    await new Promise((resolve) => setImmediate(resolve))
  }
  const result = async () => {
    const read = await Effect.runPromise(Fiber.join(fiber))
    return read._tag === "Body" ? read.bytes.length : read._tag
  }
  return { request, fiber, send, result, settled: () => fiber.pollUnsafe() !== undefined }
}
const readingOf = (budget: BodyBudget, holder: BodyHolder = "partner:1") => reading(budget.room(holder, 80))

describe("architecture 8: bodies being read", () => {
  it("architecture 8: received bytes count, declared ones do not; a refused body frees nothing for the others", async () => {
    const budget = budgetOf()
    const other = budget.room("partner:3", 80)
    const first = readingOf(budget)
    const second = readingOf(budget, "partner:2")
    await first.send(50)
    await second.send(50)
    assert.isFalse(other.take(1))
    await second.send(10)
    assert.strictEqual(await second.result(), "NoRoom")
    assert.isTrue(other.take(50))
    assert.isFalse(other.take(1))
    other.give(50)
    await first.send(10)
    await first.send(null)
    assert.strictEqual(await first.result(), 60)
    assert.isTrue(full(budget))
  })

  it("architecture 8: a body without memory waits, unread, and continues when another ends", async () => {
    const budget = budgetOf(60_000)
    const first = readingOf(budget)
    const second = readingOf(budget)
    await first.send(60)
    await second.send(50)
    await second.send(10)
    await second.send(null)
    assert.isTrue(second.request.isPaused())
    assert.isFalse(second.settled())
    await first.send(null)
    assert.deepStrictEqual([await first.result(), await second.result()], [60, 60])
    assert.isTrue(full(budget))
  })

  it("architecture 8: a waiting body whose connection ends, or whose fiber does, is no longer waited for", async () => {
    const budget = budgetOf(60_000)
    const first = readingOf(budget)
    const gone = readingOf(budget)
    const interrupted = readingOf(budget)
    await first.send(60)
    for (const late of [gone, interrupted]) await late.send(60)
    gone.request.destroy()
    assert.strictEqual(await gone.result(), "Aborted")
    await Effect.runPromise(Fiber.interrupt(interrupted.fiber))
    first.request.destroy()
    assert.strictEqual(await first.result(), "Aborted")
    assert.isTrue(full(budget))
  })

  it("architecture 8: a connection that ends settles the read and frees its memory", async () => {
    const budget = budgetOf()
    const { request, send, result } = readingOf(budget)
    await send(50)
    assert.isFalse(full(budget))
    request.destroy()
    assert.strictEqual(await result(), "Aborted")
    assert.isTrue(full(budget))
  })

  it("architecture 8: a connection that has ended before is not waited for", async () => {
    const request = new IncomingMessage(new Socket())
    request.headers["content-length"] = "60"
    request.destroy()
    const read = readBody(request, new ServerResponse(request), 80, budgetOf().room("partner:1", 80))
    await new Promise((resolve) => request.once("close", resolve))
    assert.strictEqual((await Effect.runPromise(read))._tag, "Aborted")
  })

  it("architecture 8: an interrupted read frees its memory, once, and counts no more", async () => {
    const budget = budgetOf()
    const { request, fiber, send } = readingOf(budget)
    await send(50)
    await Effect.runPromise(Fiber.interrupt(fiber))
    await send(10)
    request.destroy()
    assert.isTrue(full(budget))
    assert.isFalse(fits(budget.room("partner:1", 80), forSmall + 1))
  })

  it("architecture 8: a body over its cap frees its memory", async () => {
    const budget = budgetOf()
    const { send, result } = readingOf(budget)
    await send(50)
    await send(31)
    assert.strictEqual(await result(), "TooLarge")
    assert.isTrue(full(budget))
  })
})

describe("architecture 8: waiting for room", () => {
  it("architecture 8: a body waits no longer than allowed in all, however often it gets a little", () => {
    vi.useFakeTimers()
    try {
      const budget = budgetOf(100)
      const other = budget.room("partner:1", 80)
      const room = budget.room("partner:2", 80)
      const told: Array<boolean> = []
      assert.isTrue(other.take(forSmall))
      room.wait(10, (taken) => told.push(taken))
      vi.advanceTimersByTime(70)
      other.give(10)
      assert.deepStrictEqual(told, [true])
      room.wait(10, (taken) => told.push(taken))
      vi.advanceTimersByTime(29)
      assert.lengthOf(told, 1)
      vi.advanceTimersByTime(1)
      assert.deepStrictEqual(told, [true, false])
      other.give(forSmall - 10)
      assert.isTrue(fits(room, forSmall - 10), "who has stopped waiting is given nothing")
    } finally {
      vi.useRealTimers()
    }
  })
})

describe("A1-02: which cap answers", () => {
  it("A1-02: on the document route a body is counted on, unkept, until the edge's cap is passed or it ends", async () => {
    const budget = new BodyBudget()
    const over = reading(budget.room("partner:1", largeCap), largeCap, true)
    const within = reading(budget.room("partner:1", largeCap), largeCap, true)
    for (const { send } of [over, within]) await send(largeCap + 1)
    assert.isTrue(fits(budget.room("partner:1", largeCap), bodyBudget.largeShare), "nothing is kept")
    await over.send(bodyCaps.edge - largeCap)
    assert.strictEqual(await over.result(), "OverEdge")
    await within.send(bodyCaps.edge - largeCap - 1)
    assert.isFalse(within.settled())
    await within.send(null)
    assert.strictEqual(await within.result(), "TooLarge")
  })
})

describe("architecture 8: shares of the memory", () => {
  const budget = new BodyBudget()
  const small = (holder: BodyHolder) => budget.room(holder, bodyCaps.onboarding)
  const large = (holder: BodyHolder) => budget.room(holder, largeCap)

  let held: BodyRoom

  it("architecture 8: a partner may hold two full documents and, apart from that, eight full onboardings", () => {
    held = large("partner:1")
    assert.isTrue(held.take(bodyBudget.largeShare))
    assert.isFalse(large("partner:1").take(1))
    assert.isTrue(small("partner:1").take(bodyBudget.smallShare))
    assert.isFalse(small("partner:1").take(1))
    assert.isTrue(fits(large("partner:2"), bodyBudget.largeShare))
    assert.isTrue(fits(small("partner:2"), bodyBudget.smallShare))
  })

  it("architecture 8: a request without a body finds room beside slow uploads, and counts as no body", () => {
    const crowded = new BodyBudget()
    const without = crowded.room("operator", largeCap)
    assert.isTrue(without.take(0))
    without.give(0)
    for (const holder of ["partner:1", "partner:2", "partner:3"] as const) {
      assert.isTrue(crowded.room(holder, largeCap).take(bodyCaps.documentBody))
    }
    assert.isTrue(crowded.room("operator", largeCap).take(1_024 * 1_024), "the only body of an operator")
    assert.isTrue(crowded.room("partner:4", largeCap).take(9 * 1_024 * 1_024))
    assert.isTrue(crowded.room("operator", largeCap).take(0))
  })

  it("architecture 8: when documents use all of their memory, small bodies still have some", () => {
    const rest = large("operator")
    assert.isTrue(large("partner:2").take(bodyBudget.largeShare))
    assert.isTrue(large("partner:3").take(bodyCaps.documentBody), "a third full document has room")
    assert.isFalse(fits(rest, bodyCaps.onboarding))
    assert.isTrue(fits(small("operator"), bodyBudget.smallShare))
    held.give(bodyBudget.largeShare)
    assert.isTrue(fits(rest, bodyCaps.edge))
  })

  it("architecture 8: beside slow partners with two documents each, others have room for a full one; the first is never cut", () => {
    const slow = new BodyBudget()
    const partners = ["partner:1", "partner:2", "partner:3"] as const
    const firsts = partners.map((holder) => slow.room(holder, largeCap))
    const seconds = new Set(partners.map((holder) => slow.room(holder, largeCap)))
    const piece = bodyCaps.documentBody / 64
    for (let sent = 0; sent < 64; sent++) {
      for (const body of firsts) assert.isTrue(body.take(piece))
      for (const body of seconds) {
        if (body.take(piece)) continue
        body.give(sent * piece)
        seconds.delete(body)
      }
      assert.isTrue(fits(slow.room("partner:4", largeCap), bodyCaps.documentBody))
    }
    assert.isBelow(seconds.size, partners.length)
  })

  it("architecture 8: a partner's second document continues once its first has ended", () => {
    const some = new BodyBudget()
    const [first, second, other] = (["partner:1", "partner:1", "partner:2"] as const).map((holder) =>
      some.room(holder, largeCap)
    ) as [BodyRoom, BodyRoom, BodyRoom]
    const { documentBody } = bodyCaps
    assert.isTrue(first.take(documentBody) && second.take(1) && other.take(documentBody))
    assert.isTrue(some.room("partner:3", largeCap).take(documentBody))
    assert.isFalse(second.take(documentBody - 1))
    first.give(documentBody)
    assert.isTrue(second.take(documentBody - 1))
  })
})
