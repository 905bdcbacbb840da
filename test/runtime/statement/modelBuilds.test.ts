/**
 * Models are built in a thread (STS-21, STS-22): with the same text as without one, and with a defined outcome if the
 * thread fails.
 */
import { PgClient } from "@effect/sql-pg"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, ManagedRuntime, Redacted } from "effect"
import * as fc from "fast-check"
import { Unavailable } from "../../../src/runtime/engine/mailbox/DispatchError.ts"
import { makeSealing } from "../../../src/runtime/engine/sealing/Sealing.ts"
import { SealingService } from "../../../src/runtime/engine/sealing/SealingService.ts"
import { type NewModel, type NewPiece, StatementModels } from "../../../src/runtime/ports/StatementModels.ts"
import { type Built, buildModel, factsOf } from "../../../src/runtime/services/statements/model/buildStatement.ts"
import { ModelBuilds, type ModelBuildsOptions } from "../../../src/runtime/services/statements/build/ModelBuilds.ts"
import { expectLog } from "../../support/expectLog.ts"
import { layerTestLogs } from "../../support/testLogs.ts"
import { testSealing } from "../engine/fixtures.ts"
import { openPgBench } from "../engine/pgBench.ts"
import { clients } from "../rfq/rfqTurns.ts"
import { someLife } from "./someLife.ts"
import { stored } from "./Statement.ts"

const textOf = ({ section, content }: Pick<NewPiece, "section" | "content">): string =>
  `${section} ${Buffer.from(content).toString()}`

/** The stored result of a build. */
class Stored {
  readonly pieces: Array<string> = []
  readonly models: Array<NewModel> = []
  readonly dropped: Array<number> = []
  readonly write = (piece: NewPiece) => Effect.sync(() => void this.pieces.push(textOf(piece)))
  readonly finish = (model: NewModel) =>
    Effect.sync(() => {
      this.models.push(model)
      return model.id
    })
  readonly drop = (modelId: number) => Effect.sync(() => void this.dropped.push(modelId))
}

const ends: Array<() => Promise<void>> = []
afterAll(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const start = (url: Redacted.Redacted, options: Partial<ModelBuildsOptions>, sealing = testSealing) => {
  const builds = Layer.provide(ModelBuilds.layer(url, options), SealingService.layer(sealing))
  const threads = ManagedRuntime.make(Layer.merge(builds, layerTestLogs))
  ends.push(() => threads.dispose())
  return (store: Stored, modelId: number, facts: unknown): Promise<Exit.Exit<Built, Unavailable>> =>
    threads.runPromiseExit(Effect.flatMap(ModelBuilds, (builds) => builds.build(store, modelId, facts as never)))
}

describe("a thread that builds models", () => {
  it("STS-22: stores the same pieces as a build without it, also with a key that was added meanwhile", async () => {
    const bench = await openPgBench()
    ends.push(() => bench.close())
    const [life] = fc.sample(someLife, { numRuns: 1, seed: 7 })
    const { life: lived } = await stored(life as never, bench)
    const keys = new Map([1, 2].map((number) => [number, Buffer.alloc(32, number)] as const))
    const sealing = makeSealing({ current: 1, keys })
    const build = start(bench.url, {}, sealing)
    const own = {
      clientId: clients.id,
      partnerId: clients.partnerId,
      clientUid: clients.uid,
      createdAt: lived.createdAt
    }
    const firm = { name: "F", legalEntity: "F Ltd", venue: "V" } as never
    const kinds = ["ACCOUNT", "COSTS", "TAX"] as const
    const facts = await Effect.runPromise(
      Effect.forEach(kinds, (kind) =>
        Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          const period = { kind, from: lived.createdAt, to: lived.now, cutFrom: null, taxYear: null, isBritish: false }
          const partner = { code: "ACM", custodyModel: "PARTNER" }
          const found = yield* factsOf({ sql, sealing: testSealing, firm }, own, partner, period, lived.now)
          const here = new Stored()
          assert.isTrue((yield* buildModel(here, 1, found)).ok)
          return { found, here }
        })
      ).pipe(Effect.provide(PgClient.layer({ url: bench.url, maxConnections: 2 })))
    )
    const piecesOf = (modelId: number): Promise<ReadonlyArray<string>> =>
      Effect.runPromise(
        Effect.gen(function* () {
          const models = yield* StatementModels
          const found: Array<string> = []
          for (let after = -1; ;) {
            const page = yield* models.pieces(modelId, after)
            if (page.length === 0) return found
            found.push(...page.map(textOf))
            after = page.at(-1)?.number ?? after
          }
        }).pipe(
          Effect.provide(StatementModels.layer),
          Effect.provide(SealingService.layer(sealing)),
          Effect.provide(PgClient.layer({ url: bench.url, maxConnections: 1 }))
        )
      )
    for (const [at, { found, here }] of facts.entries()) {
      if (at === 1) sealing.adopt({ current: 2, keys })
      const there = new Stored()
      assert.isTrue(Exit.isSuccess(await build(there, 1 + at, found)))
      assert.isNotEmpty(here.pieces)
      assert.deepStrictEqual(await piecesOf(1 + at), here.pieces)
      assert.deepStrictEqual(
        there.models,
        here.models.map((model) => ({ ...model, id: 1 + at }))
      )
    }
    const sealed = await bench.query(
      "SELECT DISTINCT model_id, get_byte(content, 0) AS key FROM statement_pieces ORDER BY model_id"
    )
    assert.deepStrictEqual(
      sealed.map(({ key }) => key),
      [1, 2, 2]
    )
  }, 120_000)

  const program = new URL("../../support/faultyModelThread.ts", import.meta.url)
  const facts = (clientUid: string) => ({ building: { client: { clientUid, clientId: 3, partnerId: 2 } } })
  const error = (exit: Exit.Exit<Built, Unavailable>): unknown =>
    Exit.isSuccess(exit) ? "built" : Cause.squash(exit.cause)

  it.each(["memory", "killed", "spinning", "thrown", "away"])(
    "STS-21: %s during the build: the caller is asked to come back later, its pieces are dropped, and the next build gets a working thread",
    async (what) => {
      // Longer than the start of a thread takes on a busy machine, if the test waits for it.
      const silentMillis = what === "spinning" ? 4_000 : 30_000
      const build = start(Redacted.make(""), { program, silentMillis, memoryMegabytes: 24 })
      const store = new Stored()
      if (what !== "away") expectLog(/the thread that builds statements was lost/)
      assert.instanceOf(error(await build(store, 1, facts(what))), Unavailable)
      assert.deepStrictEqual(store.dropped, [1])
      assert.strictEqual(error(await build(store, 2, facts("whole"))), "built")
      assert.deepStrictEqual([store.models.map(({ id }) => id), store.dropped], [[2], [1]])
    }
  )

  it(
    "STS-21: a lost database at the thread's start: the caller is asked to come back later",
    { timeout: 120_000 },
    async () => {
      const build = start(Redacted.make("postgres://nobody@127.0.0.1:1/none"), {})
      const store = new Stored()
      const { client } = facts("ACM-1").building
      const cuts = { start: { postingId: 0 }, cut: { postingId: 1 } }
      const building = { client, period: { kind: "ACCOUNT" }, ...cuts }
      assert.instanceOf(error(await build(store, 1, { building, head: {}, terms: {} })), Unavailable)
      assert.deepStrictEqual(store.dropped, [1])
    }
  )

  it("a defect in the thread is a defect of the service, and a model that can't be completed ends the build", async () => {
    const build = start(Redacted.make(""), { program })
    const store = new Stored()
    assert.include(String(error(await build(store, 1, facts("failing")))), "a row of no section")
    const full = Object.assign(new Stored(), { finish: () => Effect.fail(new Unavailable({ unknown: false })) })
    assert.instanceOf(error(await build(full as unknown as Stored, 2, facts("whole"))), Unavailable)
    assert.deepStrictEqual([store.dropped, full.dropped], [[1], [2]])
  })
})
