/**
 * Durable timers over the memory journal, without a database (architecture, Engine, Timers): timers of objects, their
 * order, races with other turns, and independence of subjects.
 */
import { PgClient } from "@effect/sql-pg"
import { afterEach, assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, References, Scope } from "effect"
import { BusinessClock } from "../../../src/runtime/engine/clock/BusinessClock.ts"
import type { Commit } from "../../../src/runtime/engine/journal/Commit.ts"
import { Journal } from "../../../src/runtime/engine/journal/Journal.ts"
import { makeJournalMemory } from "../../../src/runtime/engine/journal/JournalMemory.ts"
import { MemoryStore } from "../../../src/runtime/engine/journal/MemoryStore.ts"
import { ActorHost, Unavailable } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { type TimerHandlers, Timers } from "../../../src/runtime/engine/timers/Timers.ts"
import { DueTimers } from "../../../src/runtime/engine/timers/DueTimers.ts"
import { dueTimersLayer } from "../../../src/runtime/store/dueTimers.ts"
import { DueTimersMemory } from "../../../src/runtime/engine/timers/DueTimersMemory.ts"
import type { TimerRow } from "../../../src/runtime/tables/engine.ts"
import { balance, commitOf, submit } from "./fixtures.ts"
import { by } from "./hostBench.ts"
import { openPgBench } from "./pgBench.ts"

/** Due from the start, Unix ms. */
const past = 1_000
const timer = (id: number, name: string, dueAt = past): TimerRow => ({ subject: `client:${id}`, name, dueAt })

const closers: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

const build = async <A>(layer: Layer.Layer<A>): Promise<Context.Context<A>> => {
  const scope = await Effect.runPromise(Scope.make())
  closers.push(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return Effect.runPromise(
    Layer.buildWithScope(layer, scope).pipe(Effect.provideService(References.MinimumLogLevel, "Fatal"))
  )
}

interface Options {
  readonly rows: ReadonlyArray<TimerRow>
  readonly handlers: TimerHandlers
  /** Commits that can't be written now. */
  readonly held?: (commit: Commit) => boolean
  /** Runs between the look-up of due timers and their firing. */
  readonly lookedUp?: (host: ActorHost["Service"]) => void
}

/** Timers that begin to fire once they are open. */
const open = async ({ rows, handlers, held = () => false, lookedUp = () => undefined }: Options) => {
  const store = new MemoryStore()
  const journal = makeJournalMemory({ store, faults: { held } })
  assert.strictEqual((await submit(journal, commitOf({ rows: { timers: rows } })))._tag, "Committed")
  const due = Layer.effect(
    DueTimers,
    Effect.gen(function* () {
      const inner = yield* DueTimers
      const host = yield* ActorHost
      return DueTimers.of({
        first: (now, limit) => Effect.tap(inner.first(now, limit), () => Effect.sync(() => lookedUp(host)))
      })
    })
  ).pipe(Layer.provide(DueTimersMemory.layer({ store })))
  const engine = ActorHost.layer({ residentLimit: 1_000 }).pipe(
    Layer.provideMerge(Layer.merge(Layer.succeed(Journal, journal), BusinessClock.layer(0)))
  )
  const context = await build(
    Timers.layer(Effect.succeed(handlers)).pipe(Layer.provide(due), Layer.provideMerge(engine))
  )
  const { fireDue } = Context.get(context, Timers)
  return {
    fireDue: () => Effect.runPromise(Effect.provideService(Effect.exit(fireDue), References.MinimumLogLevel, "Fatal")),
    timers: () => store.rows("timers"),
    clock: Context.get(context, BusinessClock)
  }
}

/** Handlers of these names that record their arguments. */
const noting = (...names: ReadonlyArray<string>) => {
  const fired: Array<string> = []
  const handlers: TimerHandlers = Object.fromEntries(
    names.map((name) => [
      name,
      (turn, dueAt, id) => void fired.push(`${turn.state.subject} ${name} ${id ?? "-"} ${dueAt}`)
    ])
  )
  return { fired, handlers }
}

describe("timers", () => {
  it("many timers of one handler on one subject: each fires with its object's id, in due order, and is deleted", async () => {
    const { fired, handlers } = noting("expiry", "review")
    const rows = [
      timer(1, "expiry:9", past + 1),
      timer(1, "expiry"),
      timer(1, "expiry:10", past - 1),
      timer(1, "review:9")
    ]
    const { fireDue, timers } = await open({ rows, handlers })
    await fireDue()
    assert.deepStrictEqual(fired, [
      `client:1 expiry 10 ${past - 1}`,
      `client:1 expiry - ${past}`,
      `client:1 review 9 ${past}`,
      `client:1 expiry 9 ${past + 1}`
    ])
    assert.deepStrictEqual(timers(), [])
  })

  it("a timer of an object that its firing sets again stays; the others of its handler are not touched", async () => {
    const later = Date.UTC(2200, 0)
    const handlers: TimerHandlers = {
      funding: (turn, _dueAt, id) =>
        turn.draft.put("timers", { subject: turn.state.subject, name: `funding:${id}`, dueAt: later })
    }
    const rows = [timer(1, "funding:7"), timer(1, "funding:8", later)]
    const { fireDue, timers } = await open({ rows, handlers })
    await fireDue()
    assert.sameDeepMembers([...timers()], [timer(1, "funding:7", later), timer(1, "funding:8", later)])
  })

  it("fires the timers that become due when the clock is advanced, by itself", async () => {
    const { fired, handlers } = noting("expiry")
    const { clock, timers, fireDue } = await open({ rows: [timer(1, "expiry:1", Date.now() + 3_600_000)], handlers })
    await fireDue()
    assert.deepStrictEqual(fired, [])
    clock.setOffset(7_200_000)
    while (timers().length > 0) await new Promise(setImmediate)
    assert.lengthOf(fired, 1)
  })

  it("D3: a timer that is set again between its look-up and its turn stays and does not fire", async () => {
    const { fired, handlers } = noting("expiry")
    const again = timer(1, "expiry:5", Date.UTC(2200, 0))
    let looks = 0
    const { fireDue, timers } = await open({
      rows: [timer(1, "expiry:5")],
      handlers,
      lookedUp: (host) => {
        if (looks++ > 0) return
        Effect.runFork(host.dispatch({ subject: "client:1", by, decide: ({ draft }) => draft.put("timers", again) }))
      }
    })
    await fireDue()
    assert.deepStrictEqual(fired, [])
    assert.deepStrictEqual(timers(), [again])
  })

  it("two passes at the same time fire it once", async () => {
    const { fired, handlers } = noting("expiry")
    const { fireDue } = await open({ rows: [timer(1, "expiry:5")], handlers })
    await Promise.all([fireDue(), fireDue(), fireDue()])
    assert.lengthOf(fired, 1)
  })

  it("a subject that can't be written now delays its own timers, in order, and no others", async () => {
    let held = true
    const handlers: TimerHandlers = {
      expiry: (turn, dueAt) => turn.draft.put("balances", balance(1, BigInt(dueAt)))
    }
    // More timers of the blocked client than one page holds, all due before those of other clients.
    const rows = Array.from({ length: 700 }, (_, index) => timer(1, `expiry:${index}`, past - 1)).concat(
      Array.from({ length: 40 }, (_, index) => timer(index + 2, "expiry"))
    )
    const { fireDue, timers } = await open({
      rows,
      handlers,
      held: ({ fence }) => held && fence?.subject === "client:1"
    })
    const exit = await fireDue()
    assert.deepStrictEqual(exit, Exit.fail(new Unavailable({ unknown: false })))
    assert.lengthOf(timers(), 700)
    held = false
    assert.isTrue(Exit.isSuccess(await fireDue()))
    assert.deepStrictEqual(timers(), [])
  })

  it("a timer whose handler throws or does not exist is left out and delays no other", async () => {
    const { fired, handlers } = noting("expiry")
    const broken: TimerHandlers = {
      broken: () => {
        throw new Error("a defect")
      }
    }
    const rows = [
      timer(1, "broken:1", past - 2),
      timer(1, "unknown:1", past - 1),
      timer(1, "expiry:1"),
      timer(2, "expiry")
    ]
    const { fireDue, timers } = await open({ rows, handlers: { ...handlers, ...broken } })
    assert.isTrue(Exit.isSuccess(await fireDue()))
    assert.lengthOf(fired, 2)
    assert.deepStrictEqual(
      timers().map(({ name }) => name),
      ["broken:1", "unknown:1"]
    )
    assert.deepStrictEqual(await fireDue(), Exit.succeed(0))
  })
})

describe("which timers are due", () => {
  const rows = [timer(2, "b", 5), timer(2, "a", 5), timer(1, "z:10", 5), timer(3, "a", 4), timer(1, "a", 6)]
  const expected = ["client:3 a", "client:1 z:10", "client:2 a", "client:2 b"]
  const assertDue = async (port: DueTimers["Service"]) => {
    const names = async (now: number, limit: number) =>
      (await Effect.runPromise(port.first(now, limit))).map(({ subject, name }) => `${subject} ${name}`)
    assert.deepStrictEqual(await names(5, 10), expected)
    assert.deepStrictEqual(await names(5, 2), expected.slice(0, 2))
    assert.deepStrictEqual(await names(3, 10), [])
  }

  it("in memory", async () => {
    const store = new MemoryStore()
    await submit(makeJournalMemory({ store }), commitOf({ rows: { timers: rows } }))
    await assertDue(Context.get(await build(DueTimersMemory.layer({ store })), DueTimers))
    const away = Context.get(await build(DueTimersMemory.layer({ store, away: () => true })), DueTimers)
    assert.strictEqual((await Effect.runPromise(Effect.flip(away.first(5, 1))))._tag, "JournalUnavailable")
  })

  it("in PostgreSQL", async () => {
    const bench = await openPgBench()
    closers.push(bench.close)
    await submit(bench.journal, commitOf({ rows: { timers: rows } }))
    const pool = Layer.orDie(PgClient.layer({ url: bench.url, maxConnections: 1 }))
    await assertDue(Context.get(await build(dueTimersLayer.pipe(Layer.provide(pool))), DueTimers))
  })
})
