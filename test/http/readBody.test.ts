// The body reader over streams in memory: what it keeps counted, and that it ends when the connection or its fiber does
// (architecture 8; A1-02 gate 8).
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { IncomingMessage, ServerResponse } from "node:http"
import { Socket } from "node:net"
import { BodyBudget } from "../../src/http/middleware/BodyBudget.ts"
import { readBody } from "../../src/http/middleware/readBody.ts"

const budgetBytes = 100
const full = (budget: BodyBudget): boolean => {
  const whole = budget.take(budgetBytes)
  if (whole) budget.give(budgetBytes)
  return whole
}

/** A request that declares sixty bytes and is being read. */
const reading = (budget: BodyBudget) => {
  const request = new IncomingMessage(new Socket())
  request.headers["content-length"] = "60"
  const fiber = Effect.runFork(readBody(request, new ServerResponse(request), 80, budget))
  const send = async (bytes: number | null) => {
    request.push(bytes === null ? null : Buffer.alloc(bytes))
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { request, fiber, send, result: () => Effect.runPromise(Fiber.join(fiber)) }
}

describe("architecture 8: bodies being read", () => {
  it("architecture 8: what has arrived counts, what is only declared does not; a refused body frees the others nothing", async () => {
    const budget = new BodyBudget(budgetBytes)
    const first = reading(budget)
    const second = reading(budget)
    await first.send(50)
    await second.send(50)
    assert.isFalse(budget.take(1))
    await second.send(10)
    assert.strictEqual((await second.result())._tag, "NoRoom")
    assert.isTrue(budget.take(50))
    assert.isFalse(budget.take(1))
    budget.give(50)
    await first.send(10)
    await first.send(null)
    const read = await first.result()
    assert.deepStrictEqual([read._tag, read._tag === "Body" ? read.bytes.length : 0], ["Body", 60])
    assert.isTrue(full(budget))
  })

  it("architecture 8: a connection that ends settles the read and frees what it held", async () => {
    const budget = new BodyBudget(budgetBytes)
    const { request, send, result } = reading(budget)
    await send(50)
    assert.isFalse(full(budget))
    request.destroy()
    assert.strictEqual((await result())._tag, "Aborted")
    assert.isTrue(full(budget))
  })

  it("architecture 8: a connection that has ended before is not waited for", async () => {
    const request = new IncomingMessage(new Socket())
    request.headers["content-length"] = "60"
    request.destroy()
    const read = readBody(request, new ServerResponse(request), 80, new BodyBudget(budgetBytes))
    await new Promise((resolve) => request.once("close", resolve))
    assert.strictEqual((await Effect.runPromise(read))._tag, "Aborted")
  })

  it("architecture 8: an interrupted read frees what it held, once, and counts no more", async () => {
    const budget = new BodyBudget(budgetBytes)
    const { request, fiber, send } = reading(budget)
    await send(50)
    await Effect.runPromise(Fiber.interrupt(fiber))
    await send(10)
    request.destroy()
    assert.isTrue(full(budget))
    assert.isFalse(budget.take(budgetBytes + 1))
  })

  it("architecture 8: a body over its cap frees what it held", async () => {
    const budget = new BodyBudget(budgetBytes)
    const { send, result } = reading(budget)
    await send(50)
    await send(31)
    assert.strictEqual((await result())._tag, "TooLarge")
    assert.isTrue(full(budget))
  })
})
