/** The lane of list pages: shares of rows, turns of principals, and the work that takes precedence over a page. */
import { assert, describe, it, vi } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Stream } from "effect"
import { partnerFeatures } from "../../src/http/features.ts"
import { RouteTable, rowsOf } from "../../src/http/middleware/routes.ts"
import { PageLane } from "../../src/http/middleware/PageLane.ts"
import { yieldToEventLoop } from "../../src/runtime/engine/yieldToEventLoop.ts"
import { pageBudget } from "../../src/machines/shared/Limits.ts"
import { Unavailable } from "../../src/runtime/engine/mailbox/DispatchError.ts"
import type { PrincipalId } from "../../src/runtime/services/shared/KeyedRequest.ts"
import { openRaw } from "./callRaw.ts"
import { clientId, keys } from "./canned.ts"
import { startStubServer } from "./stubServer.ts"

const page: number = pageBudget.share

/** A lane in which the test ends each page by its name. */
const laneOf = () => {
  const lane = new PageLane(() => false)
  const begun: Array<string> = []
  const ends = new Map<string, Deferred.Deferred<void>>()
  const run = (principal: PrincipalId, name: string, rows = page) => {
    const end = Deferred.makeUnsafe<void>()
    ends.set(name, end)
    return Effect.runFork(
      lane.run(principal, rows, {
        read: () => {
          begun.push(name)
          return Deferred.await(end)
        },
        render: () => name
      })
    )
  }
  const end = (name: string) => Deferred.doneUnsafe(ends.get(name) as Deferred.Deferred<void>, Effect.void)
  return { lane, begun, run, end }
}

describe("pages of lists", () => {
  it.effect("a principal with many pages keeps its share, and another's page starts at once", () =>
    Effect.gen(function* () {
      const { begun, run, end } = laneOf()
      const flood = Array.from({ length: 64 }, (_, n) => run("partner:1", `flood ${n}`))
      assert.deepStrictEqual(begun, ["flood 0"])
      const other = run("partner:2", "other")
      assert.deepStrictEqual(begun, ["flood 0", "other"])
      end("other")
      assert.strictEqual(yield* Fiber.join(other), "other")
      for (const [n, fiber] of flood.entries()) {
        end(`flood ${n}`)
        yield* Fiber.join(fiber)
      }
      assert.lengthOf(begun, 65)
    })
  )

  it.effect("principals whose pages wait are served in turn, in any order of arrival", () =>
    Effect.gen(function* () {
      const { begun, run, end } = laneOf()
      const fibers = [1, 2, 3, 4].flatMap((n) =>
        Array.from({ length: 16 }, (_, at) => run(`partner:${n}`, `${n} ${at}`))
      )
      const late = run("partner:5", "late")
      for (let served = 0; !begun.includes("late"); served++) {
        assert.isBelow(served, 5)
        end(begun[served] as string)
        yield* Fiber.join(
          fibers[Number(begun[served]?.split(" ")[0]) * 16 - 16 + Number(begun[served]?.split(" ")[1])] as never
        )
      }
      yield* Fiber.interruptAll([...fibers, late])
    })
  )

  it.effect("a piece of a begun answer waits for one new page of its principal at most, however many wait", () =>
    Effect.gen(function* () {
      const { lane, begun, run, end } = laneOf()
      const flood = Array.from({ length: 1 + pageBudget.waiting }, (_, n) => run("partner:1", `page ${n}`))
      const refused = yield* Effect.exit(Fiber.join(run("partner:1", "one more")))
      assert.deepStrictEqual(refused, Exit.fail(new Unavailable({ unknown: false })))
      const pieces = Stream.tap(Stream.rechunk(Stream.make(1, 2), 1), (n) =>
        Effect.sync(() => begun.push(`piece ${n}`))
      )
      const answer = Effect.runFork(Stream.runCollect(lane.pieces("partner:1", page, pieces)))
      for (const name of ["page 0", "page 1", "page 2"]) {
        while (!begun.includes(name)) yield* yieldToEventLoop
        end(name)
      }
      assert.deepStrictEqual(yield* Fiber.join(answer), [1, 2])
      assert.deepStrictEqual(begun.slice(0, 5), ["page 0", "piece 1", "page 1", "piece 2", "page 2"])
      yield* Fiber.interruptAll(flood)
    })
  )

  it.effect("small pages share the time of one large page, and the smallest have a cost", () =>
    Effect.gen(function* () {
      for (const [rows, atOnce] of [
        [page / 10, 10],
        [1, page / pageBudget.least]
      ] as const) {
        const { begun, run } = laneOf()
        const small = Array.from({ length: 30 }, (_, n) => run("partner:1", `small ${n}`, rows))
        assert.lengthOf(begun, atOnce)
        yield* Fiber.interruptAll(small)
      }
    })
  )

  it.effect("a small page starts at once beside any number of large reads, of others and of its own principal", () =>
    Effect.gen(function* () {
      const { begun, run } = laneOf()
      const large = Array.from({ length: 64 }, (_, n) => run(`partner:${1 + (n % 8)}`, `large ${n}`))
      const before = begun.length
      assert.isBelow(before, 64)
      const small = [1, 9].map((n) => run(`partner:${n}`, `small ${n}`, pageBudget.small))
      assert.deepStrictEqual(begun.slice(before), ["small 1", "small 9"])
      yield* Fiber.interruptAll([...large, ...small])
    })
  )

  it.effect(
    "a page waits before it is rendered and before it is sent while turns or requests that write are running",
    () =>
      Effect.gen(function* () {
        let pressed = false
        let questions = 0
        const lane = new PageLane(() => {
          questions++
          return pressed
        }, 3_600_000)
        const read = { read: () => Effect.void, render: () => "page" }
        assert.strictEqual(yield* lane.run("partner:1", page, read), "page")
        assert.strictEqual(questions, 2)
        /** Whether a page still waits after some turns of the event loop. */
        const waits = Effect.gen(function* () {
          const fiber = Effect.runFork(lane.run("partner:1", page, read))
          for (let turn = 0; turn < 10; turn++) yield* yieldToEventLoop
          const isWaiting = fiber.pollUnsafe() === undefined
          yield* Fiber.interrupt(fiber)
          return isWaiting
        })
        assert.isFalse(yield* waits)
        assert.isTrue(yield* lane.before(waits))
        assert.isFalse(yield* waits)
        pressed = true
        assert.isTrue(yield* waits)
      })
  )

  it.effect("too many waiting pages are refused, and pages that fail or are given up leave the queue", () =>
    Effect.gen(function* () {
      const { lane, begun, run, end } = laneOf()
      const first = run("partner:1", "first")
      const waiting = Array.from({ length: pageBudget.waiting }, (_, n) => run("partner:1", `waits ${n}`))
      const refused = yield* Effect.exit(lane.run("partner:1", page, { read: () => Effect.void, render: () => null }))
      assert.isTrue(Exit.isFailure(refused))
      yield* Fiber.interruptAll(waiting)
      assert.deepStrictEqual(begun, ["first"])
      const failing = Effect.exit(lane.run("partner:1", page, { read: () => Effect.fail("away"), render: () => null }))
      end("first")
      yield* Fiber.join(first)
      assert.deepStrictEqual(yield* failing, Exit.fail("away"))
      const running = run("partner:1", "interrupted")
      yield* Fiber.interrupt(running)
      const next = run("partner:1", "next")
      assert.deepStrictEqual(begun, ["first", "interrupted", "next"])
      end("next")
      yield* Fiber.join(next)
    })
  )

  it.effect(
    "a read of the whole share waits for one turn of the others, then no smaller page passes it; it costs its share at most",
    () =>
      Effect.gen(function* () {
        const { begun, run, end } = laneOf()
        const first = Array.from({ length: 8 }, (_, n) => run(`partner:${1 + (n % 2)}`, `first ${n}`, page / 4))
        assert.lengthOf(begun, 8)
        const large = run("partner:3", "large", 2 * page)
        const later = Array.from({ length: 8 }, (_, n) => run(`partner:${1 + (n % 2)}`, `later ${n}`, page / 4))
        // Each of the two had its turn before the third arrived.
        for (const [n, fiber] of first.slice(0, 6).entries()) {
          end(`first ${n}`)
          yield* Fiber.join(fiber)
        }
        assert.deepStrictEqual(begun.slice(8), ["later 0", "later 1", "large"])
        yield* Fiber.interruptAll([...first, ...later, large])
      })
  )
})

describe("readers who disconnect", () => {
  it("end their read, in the lane and beside it, and leave the lane to others", { timeout: 8_000 }, async () => {
    const server = await startStubServer({ limits: {} })
    const reads = { begun: 0, ended: 0 }
    server.stub.failReads = Effect.suspend(() => {
      reads.begun++
      return Effect.ensuring(
        Effect.never,
        Effect.sync(() => void reads.ended++)
      )
    })
    const paths = ["/clients?limit=200", "/clients?limit=200", "/clients?limit=200", `/clients/${clientId}/balances`]
    const connections = await Promise.all(paths.map(() => openRaw(server)))
    for (const [at, { socket }] of connections.entries())
      socket.write(`GET /partner/v1${paths[at]} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keys.trade}\r\n\r\n`)
    await vi.waitFor(() => assert.strictEqual(reads.begun, 3), { timeout: 5_000 })
    for (const { socket } of connections) socket.destroy()
    // Before the timeout of the route, which would end them too.
    await vi.waitFor(() => assert.strictEqual(reads.ended, reads.begun), { timeout: 5_000 })
    server.stub.failReads = null
    assert.strictEqual((await server.call("GET", "/partner/v1/clients?limit=200")).status, 200)
    await server.close()
  })
})

describe("the weight of a read", () => {
  /**
   * Light reads: their answers come from memory, from the venue, or from few rows found by key. Files have limits of
   * their own.
   */
  const light: Readonly<Record<string, string>> = {
    account: "balances overview summary",
    appropriateness: "questionnaire",
    clients: "get getByRef",
    documents: "list",
    kyc: "get",
    margin: "leverage picture",
    market:
      "currencies funding indexPrice instruments klines marketInfo marketTrades orderbook ticker tickers tradingStatus",
    orders: "open",
    positions: "list",
    profile: "me",
    rfq: "get list",
    staking: "markets offers",
    statements: "csv pdf",
    swaps: "get",
    verification: "get",
    webhook: "get"
  }

  it("each read of partners has a limit or a weight, or is known to be light", () => {
    const { routes } = new RouteTable(
      "/partner/v1",
      partnerFeatures.map(({ api }) => api)
    )
    const weightless = routes.filter((route) => route.method === "GET" && rowsOf(route, { limit: 1 }) === null)
    const known = Object.entries(light).flatMap(([noun, verbs]) => verbs.split(" ").map((verb) => `${noun}.${verb}`))
    assert.deepStrictEqual(weightless.map(({ operation }) => operation).toSorted(), known)
    const clients = routes.find(({ operation }) => operation === "clients.list")
    assert(clients !== undefined)
    assert.deepStrictEqual(
      [rowsOf(clients, { limit: 1 }), rowsOf(clients, { limit: 1, q: "z" })],
      [1, page],
      "a search may read every client"
    )
  })
})
