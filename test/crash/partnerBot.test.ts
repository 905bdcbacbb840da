/**
 * The simulated partner against a small service with faults, which it must tolerate, and with mistakes, which it must
 * detect: a crash run detects no more than its auditor.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runPartner } from "../../simulator/partner/runPartner.ts"
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { blows } from "./strike.ts"
import { blowsOf } from "./crashRun.ts"
import { type Mistake, startStubService, type StubService } from "./StubService.ts"

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "brokerage-bot-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const runAgainst = (service: StubService, seed: number) =>
  runPartner({
    url: service.url,
    key: Redacted.make("pbk_test"),
    ca: service.ca,
    clients: 6,
    rate: 200,
    forMillis: 1_000,
    seed,
    tag: `t${seed}`,
    onProgress: () => {},
    drainMillis: 10_000
  })

const stub = (options: { readonly seed: number; readonly faults: number; readonly mistake: Mistake }) =>
  Effect.flatMap(temporaryFolder, (dataDir) => startStubService({ dataDir, ...options }))

describe("sim partner run", () => {
  it.live(
    "SC-ONB-17: tolerates every fault of the network: repeats each key until it is acknowledged, loses nothing and writes nothing twice",
    () =>
      Effect.gen(function* () {
        const service = yield* stub({ seed: 11, faults: 0.3, mistake: "none" })
        const summary = yield* runAgainst(service, 11)
        assert.deepStrictEqual(summary.problems, [])
        assert.isTrue(summary.ok)
        assert.strictEqual(service.faults.size, 7, "every kind of fault was met")
        assert.isAbove(summary.acknowledged, 60)
        assert.strictEqual(summary.audit?.replays, summary.acknowledged)
        assert.strictEqual(summary.audit?.postings, summary.reports)
        assert.strictEqual(service.executions(), summary.acknowledged, "each request ran exactly once")
        const { tally } = summary
        for (const count of [
          tally.connectionFailures,
          tally.unavailable,
          tally.badGateway,
          tally.rateLimited,
          tally.inProgress
        ])
          assert.isAbove(count, 0)
      }).pipe(Effect.scoped)
  )

  it.live.each([
    ["executes retries again", /executed again|two answers|differ|not 20\d|twice|cash/],
    ["forgets a report", /was acknowledged and is missing/],
    ["changes a replay", /bytes differ/],
    ["loses a unit", /cash/]
  ] as const)("SC-PLT-04: detects a service that %s", ([mistake, sentence]) =>
    Effect.gen(function* () {
      const service = yield* stub({ seed: 12, faults: 0.2, mistake })
      const summary = yield* runAgainst(service, 12)
      assert.isFalse(summary.ok)
      assert.match(summary.problems.join(" "), sentence)
    }).pipe(Effect.scoped)
  )

  it.live("doc 1, 4010: a refused key ends the run with a sentence", () =>
    Effect.gen(function* () {
      const service = yield* stub({ seed: 13, faults: 0, mistake: "refuses the key" })
      const summary = yield* runAgainst(service, 13)
      assert.isFalse(summary.ok)
      assert.match(summary.problems.join(" "), /was answered 401 \(4010\)/)
      assert.include(summary.problems, "GET /partner/v1/clients?limit=200 answers 401.")
    }).pipe(Effect.scoped)
  )

  it.live("a service that never answers ends the run with its open requests", () =>
    Effect.gen(function* () {
      const options = {
        key: Redacted.make("pbk_test"),
        clients: 2,
        rate: 50,
        forMillis: 100,
        seed: 1,
        tag: "t",
        drainMillis: 200
      }
      const summary = yield* runPartner({ ...options, url: "https://127.0.0.1:1", onProgress: () => {} })
      assert.isFalse(summary.ok)
      assert.isNull(summary.audit)
      assert.isAbove(summary.underWay, 0)
      assert.isAbove(summary.tally.connectionFailures, 0)
    })
  )
})

describe("seeds", () => {
  it("SC-PLT-04: one seed gives one sequence of choices and of faults, and every kind occurs", () => {
    const choices = (seed: number) => {
      const random = new SeededRandom(seed)
      return Array.from({ length: 50 }, () => random.between(1, 6))
    }
    assert.deepStrictEqual(choices(7), choices(7))
    assert.notDeepEqual(choices(7), choices(8))
    assert.isTrue(choices(7).every((value) => value >= 1 && value <= 6) && new Set(choices(7)).size === 6)
    assert.deepStrictEqual(blowsOf("mixed", 30, 3), blowsOf("mixed", 30, 3))
    assert.deepStrictEqual([...blowsOf("mixed", blows.length, 3)].sort(), [...blows].sort())
    assert.deepStrictEqual(blowsOf("both", 3, 1), ["both", "both", "both"])
  })
})
