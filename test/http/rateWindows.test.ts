/** Rate limits: the exact sliding window and the figures in its answers (doc 1, Limits; A1-04, A1-05; RATE-001). */
import { assert, afterAll, beforeAll, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { AddressWindows, RateWindow, RateWindows, wholeSeconds } from "../../src/http/middleware/RateWindows.ts"
import { type Running, startStubServer } from "./stubServer.ts"

const windowMillis = 60_000

describe("A1-05: the sliding window", () => {
  it("A1-05 [RATE-001]: 120 at once, refused at 59,999 ms, free again at 60,000 ms", () => {
    const window = new RateWindow()
    for (let i = 0; i < 120; i++) assert.isTrue(window.hit(0, 120).allowed)
    assert.deepStrictEqual(window.hit(59_999, 120), { allowed: false, limit: 120, remaining: 0, resetMillis: 1 })
    assert.isTrue(window.hit(60_000, 120).allowed)
  })

  it("A1-05: agrees with a list of every hit, refused ones not counted", () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 9_000 }), fc.integer({ min: 1, max: 12 })), {
      maxLength: 200
    })
    fc.assert(
      fc.property(steps, (moves) => {
        const window = new RateWindow()
        let hits: Array<number> = []
        let now = 1_795_132_800_000
        for (const [step, limit] of moves) {
          now += step
          hits = hits.filter((at) => at > now - windowMillis)
          const verdict = window.hit(now, limit)
          assert.strictEqual(verdict.allowed, hits.length < limit)
          if (verdict.allowed) hits.push(now)
          assert.strictEqual(verdict.remaining, Math.max(0, limit - hits.length))
          if (!verdict.allowed) {
            // The request whose end of counting makes room: the limit may have been lowered below the present count.
            assert.strictEqual(verdict.resetMillis, (hits[hits.length - limit] ?? 0) + windowMillis - now)
          }
        }
      })
    )
  })

  it("A1-05: every millisecond of a window in use, and a limit of 10^9, need no list of hits", () => {
    const window = new RateWindow()
    for (let at = 0; at < 120_000; at++) {
      window.hit(at, 1_000_000_000)
      assert.strictEqual(window.hit(at, 1_000_000_000).remaining, 1_000_000_000 - 2 * Math.min(at + 1, windowMillis))
    }
  })

  it("A1-05: a clock that steps back frees nothing", () => {
    const window = new RateWindow()
    assert.isTrue(window.hit(100_000, 1).allowed)
    assert.isFalse(window.hit(10_000, 1).allowed)
    assert.isTrue(window.hit(160_000, 1).allowed)
  })

  it("A1-05: a principal's windows are stored while they count something, and dropped when there are many idle ones", () => {
    const windows = new RateWindows()
    for (let id = 1; id <= 3_000; id++) windows.hit(`partner:${id}`, "read", id * 1_000, 1)
    assert.isAtMost(windows.size, 2_048)
    assert.isFalse(windows.hit("partner:2999", "read", 3_000_000, 1).allowed, "it called within the minute")
    assert.isTrue(windows.hit("partner:2999", "trade", 3_000_000, 1).allowed)
    assert.isTrue(windows.hit("operator:2999", "read", 3_000_000, 1).allowed, "another kind of principal")
  })

  it("keeps the windows of a bounded number of addresses: the one idle longest is dropped", () => {
    const windows = new AddressWindows(1, 3)
    for (const network of ["a", "b", "c", "a", "d"]) windows.hit(network, 1)
    assert.strictEqual(windows.size, 3)
    assert.deepStrictEqual(
      ["a", "d", "b"].map((network) => windows.hit(network, 2).allowed),
      [false, false, true]
    )
  })

  it("A1-04: Retry-After is whole seconds, rounded up", () => {
    assert.deepStrictEqual([1, 1_000, 1_001, 59_999].map(wholeSeconds), [1, 1, 2, 60])
  })
})

describe("A1-05: counted requests", () => {
  let server: Running
  beforeAll(async () => {
    server = await startStubServer()
  })
  afterAll(() => server.close())

  it("A1-05, SC-PLT-02: HEAD and GET are reads, writes count apart, refusals carry Retry-After, all keys share the window", async () => {
    server.stub.setPartner({ readPerMinute: 3, tradePerMinute: 2 })
    const first = await server.call("GET", "/partner/v1/me")
    assert.strictEqual(first.headers["ratelimit-limit"], "3")
    assert.strictEqual(first.headers["ratelimit-remaining"], "2")
    assert.strictEqual((await server.call("HEAD", "/partner/v1/me", { key: "pbk_read" })).status, 200)
    assert.strictEqual((await server.call("GET", "/partner/v1/nowhere")).status, 404)
    const refused = await server.call("GET", "/partner/v1/me")
    assert.deepStrictEqual([refused.status, (refused.json as { code: number }).code], [429, 4290])
    assert.include(["59", "60"], refused.headers["retry-after"])
    assert.strictEqual(refused.headers["ratelimit-remaining"], "0")
    assert.strictEqual(refused.headers["ratelimit-reset"], refused.headers["retry-after"])
    assert.strictEqual((await server.call("POST", "/partner/v1/clients/41/collateral", { body: {} })).status, 201)
    assert.strictEqual((await server.call("POST", "/partner/v1/clients/41/collateral", { raw: "{" })).status, 400)
    assert.strictEqual((await server.call("POST", "/partner/v1/clients/41/collateral", { body: {} })).status, 429)
    server.stub.setPartner({ readPerMinute: 4 })
    assert.strictEqual((await server.call("GET", "/partner/v1/me")).status, 200)
  })
})
