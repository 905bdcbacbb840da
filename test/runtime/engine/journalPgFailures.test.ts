/**
 * JournalPg without its database (architecture section 4, Journal, unknown outcome): nothing is lost, nothing is
 * written twice, and no caller gets a wrong outcome. Waits poll facts, never a fixed time.
 */
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Client } from "pg"
import { EmbeddedPostgres } from "../../../src/runtime/adapters/EmbeddedPostgres.ts"
import type { Commit } from "../../../src/runtime/engine/journal/Commit.ts"
import { idBlockSize } from "../../../src/runtime/engine/journal/IdBlocks.ts"
import type { Journal, Outcome } from "../../../src/runtime/engine/journal/Journal.ts"
import { classify } from "../../../src/runtime/engine/journal/sqlFailure.ts"
import { WriterConnection } from "../../../src/runtime/engine/journal/WriterConnection.ts"
import { storedChainBreak } from "./chain.ts"
import { migrate } from "../../../src/runtime/migrations/migrate.ts"
import { makeTestDatabase } from "../../support/TestDatabase.ts"
import { type CuttingProxy, openProxy } from "./cuttingProxy.ts"
import { eventually } from "./eventually.ts"
import { auditRow, clientCommit, commitOf, eventRow, sampleRows, submit, submitAll, tags } from "./fixtures.ts"
import { openPg, openPgBench, type PgBench } from "./pgBench.ts"

type JournalShape = Journal["Service"]
type Base = Omit<PgBench, "journal">

/** A commit with an event and an audit row, so that every counter is tested. */
const full = (journal: JournalShape, id: number, token: number | null): Commit =>
  clientCommit(id, token, { rows: { events: [eventRow(1, id)], audit: [auditRow(journal.nextId("audit"), "act")] } })

/**
 * Submits commits of one client in sequence while `more`; stops at any outcome but Committed. With `patient`, a refusal
 * that has certainly written nothing is retried, as callers do.
 */
const lane = async (
  journal: JournalShape,
  id: number,
  more: () => boolean,
  patient: boolean
): Promise<Array<Outcome>> => {
  const outcomes: Array<Outcome> = []
  for (let token = 0; more();) {
    const outcome = await submit(journal, full(journal, id, token === 0 ? null : token))
    if (patient && outcome._tag === "Unavailable" && !outcome.unknown) {
      await eventually(() => journal.accepting())
      continue
    }
    outcomes.push(outcome)
    if (outcome._tag !== "Committed") return outcomes
    token++
  }
  return outcomes
}

/** The partner whose events the tests write; a new owner reads its last number. */
const addPartner = async (journal: JournalShape): Promise<void> => {
  const commit = commitOf({ rows: { partners: [sampleRows(1).partners] } })
  assert.strictEqual((await submit(journal, commit))._tag, "Committed")
}

/** Checks gap-free event numbers, a complete audit chain, and one of each per commit. */
const assertWhole = async (base: Base, commits: number): Promise<void> => {
  const seqs = (await base.rows("events")).map((event) => event.seq).sort((a, b) => a - b)
  assert.deepStrictEqual(
    seqs,
    Array.from({ length: commits }, (_, index) => index + 1)
  )
  const audit = [...(await base.rows("audit"))].sort((a, b) => a.id - b.id)
  assert.strictEqual(audit.length, commits)
  assert.isNull(await storedChainBreak((table) => base.rows(table)))
}

const batchNumber = async (base: Base): Promise<number> => Number((await base.query("TABLE writer"))[0]?.batch)
const epochOf = async (base: Base): Promise<number> => Number((await base.query("TABLE writer"))[0]?.epoch)
const tokensOf = async (base: Base): Promise<Record<string, number>> =>
  Object.fromEntries((await base.query("TABLE subjects")).map((row) => [row.subject, Number(row.token)]))

const journalBackends = `SELECT count(*) AS n FROM pg_stat_activity
  WHERE application_name = 'brokerage-journal' AND datname = current_database()`
const terminate = `SELECT count(pg_terminate_backend(pid)) AS n FROM pg_stat_activity
  WHERE application_name = 'brokerage-journal' AND datname = current_database()`

describe("a lost connection", () => {
  let base: Base
  let proxy: CuttingProxy
  beforeEach(async () => {
    const database = await makeTestDatabase()
    base = await openPg(database.url, database.drop)
    proxy = await openProxy(database.url)
  })
  afterEach(async () => {
    await base.close()
    await proxy.close()
  })
  /** A journal behind the proxy with a prepared statement, so that the next exchange is the batch itself. */
  const startWarm = async (patienceMillis: number) => {
    const journal = await base.start({ url: proxy.url, patienceMillis, owner: "first" })
    await addPartner(journal)
    assert.strictEqual((await submit(journal, full(journal, 1, null)))._tag, "Committed")
    return journal
  }

  it("lost after the commit: Committed without writing again", async () => {
    const journal = await startWarm(5_000)
    const before = await batchNumber(base)
    proxy.cutNext("answer")
    assert.strictEqual((await submit(journal, full(journal, 2, null)))._tag, "Committed")
    assert.strictEqual(proxy.cuts(), 1)
    assert.strictEqual(await batchNumber(base), before + 1)
    assert.strictEqual((await submit(journal, full(journal, 2, 1)))._tag, "Committed")
    await assertWhole(base, 3)
  })

  it("lost before the request arrived: written on the next connection, once", async () => {
    const journal = await startWarm(5_000)
    const before = await batchNumber(base)
    proxy.cutNext("request")
    assert.strictEqual((await submit(journal, full(journal, 2, null)))._tag, "Committed")
    assert.strictEqual(proxy.cuts(), 1)
    assert.strictEqual(await batchNumber(base), before + 2)
    await assertWhole(base, 2)
  })

  for (const [what, written] of [
    ["answer", 1],
    ["request", 0]
  ] as const) {
    it(`lost with the ${what} while no server runs: callers get Unavailable (unknown), and the journal recovers by itself and reads the true outcome`, async () => {
      const journal = await startWarm(50)
      proxy.letIn(false)
      proxy.cutNext(what)
      const lost = submit(journal, full(journal, 2, null))
      await eventually(() => proxy.cuts() === 1)
      // A commit that waits behind the unconfirmed batch has no unknown outcome.
      assert.deepStrictEqual(await lost, { _tag: "Unavailable", unknown: true })
      assert.isFalse(journal.accepting())
      assert.deepStrictEqual(await submit(journal, full(journal, 3, null)), { _tag: "Unavailable", unknown: false })
      assert.strictEqual((await Effect.runPromise(Effect.flip(journal.load(["client:2"]))))._tag, "JournalUnavailable")
      proxy.letIn(true)
      await eventually(() => journal.accepting())
      const image = (await Effect.runPromise(journal.load(["client:2"]))).get("client:2")
      assert.strictEqual(image?.token ?? 0, written)
      assert.strictEqual((await submit(journal, full(journal, 2, image?.token ?? null)))._tag, "Committed")
      await assertWhole(base, 2 + written)
    })
  }

  it("commits that queued behind a lost batch are written after it, in order", async () => {
    const journal = await startWarm(5_000)
    proxy.letIn(false)
    proxy.cutNext("answer")
    const outcomes = submitAll(journal, [full(journal, 2, null), full(journal, 2, 1), full(journal, 2, 2)])
    await eventually(() => proxy.cuts() === 1)
    proxy.letIn(true)
    assert.deepStrictEqual(tags(await outcomes), ["Committed", "Committed", "Committed"])
    await assertWhole(base, 4)
  })

  it("another process takes over while the outcome is unknown: the callers are not told that nothing was written", async () => {
    const journal = await startWarm(60_000)
    let stops = 0
    journal.onUsurped(() => stops++)
    proxy.letIn(false)
    proxy.cutNext("answer")
    const lost = submit(journal, full(journal, 2, null))
    await eventually(() => proxy.cuts() === 1)
    const second = await base.another()
    proxy.letIn(true)
    assert.deepStrictEqual(await lost, { _tag: "Unavailable", unknown: true })
    assert.strictEqual(stops, 1)
    assert.isFalse(journal.accepting())
    assert.strictEqual((await tokensOf(base))["client:2"], 1)
    assert.strictEqual((await submit(second, full(second, 2, 1)))._tag, "Committed")
    await assertWhole(base, 3)
  })

  it("statements of one search share one timeout: each answers in time, and the search is lost", async () => {
    const connection = new WriterConnection(base.url, "first")
    await Effect.runPromise(connection.takeOver)
    const search = connection.within((session) => Effect.forever(session.query("SELECT pg_sleep(0.5)")))
    const exit = await Effect.runPromise(Effect.exit(search))
    assert.strictEqual(Exit.isFailure(exit) && classify(exit.cause)._tag, "Lost")
    await Effect.runPromise(connection.disconnect)
  })

  const countStops = (journal: JournalShape): (() => number) => {
    let stops = 0
    journal.onUsurped(() => stops++)
    return () => stops
  }
  /** Waits until the server has executed the request that `deliver` forwarded. */
  const delivered = async (): Promise<void> => {
    proxy.deliver()
    await eventually(async () => Number((await base.query(journalBackends))[0]?.n) === 1)
  }

  it("a raise of the epoch reaches the server after its connection was lost: it changes nothing", async () => {
    const journal = await startWarm(20_000)
    const stops = countStops(journal)
    proxy.delayNext("UPDATE writer SET epoch")
    proxy.cutNext("answer")
    assert.strictEqual((await submit(journal, full(journal, 2, null)))._tag, "Committed")
    const epoch = await epochOf(base)
    await delivered()
    assert.strictEqual((await submit(journal, full(journal, 2, 1)))._tag, "Committed")
    assert.strictEqual(await epochOf(base), epoch)
    assert.strictEqual(stops(), 0)
  })

  it("a take-over reaches the server after another take-over: the other process stays the writer", async () => {
    proxy.delayNext("UPDATE writer SET epoch")
    const first = base.start({ url: proxy.url, owner: "first" })
    const failed = first.then(
      () => false,
      () => true
    )
    await eventually(() => proxy.delays())
    const second = await base.another()
    const stops = countStops(second)
    await addPartner(second)
    assert.isTrue(await failed)
    await delivered()
    assert.strictEqual((await submit(second, full(second, 1, null)))._tag, "Committed")
    assert.isTrue(await Effect.runPromise(second.owns))
    assert.strictEqual(stops(), 0)
  })

  it.each([
    ["while it writes", () => {}],
    ["while its connection is lost", () => proxy.cutNext("answer")]
  ])("an epoch raised in the journal's own name %s is no other writer", async (_when, fault) => {
    const journal = await startWarm(20_000)
    const stops = countStops(journal)
    await base.query("UPDATE writer SET epoch = epoch + 1")
    fault()
    assert.strictEqual((await submit(journal, full(journal, 2, null)))._tag, "Committed")
    assert.isTrue(await Effect.runPromise(journal.owns))
    assert.strictEqual(stops(), 0)
    await assertWhole(base, 2)
  })

  it("the journal's backend is killed again and again during batches: nothing is lost, nothing is written twice", async () => {
    const journal = await base.start({ patienceMillis: 20_000 })
    await addPartner(journal)
    const progress = { kills: 0 }
    const lanes = Promise.all(
      Array.from({ length: 20 }, (_, index) => lane(journal, index + 1, () => progress.kills < 8, true))
    )
    while (progress.kills < 8) {
      const written = await batchNumber(base)
      await eventually(async () => (await batchNumber(base)) > written)
      progress.kills += Number((await base.query(terminate))[0]?.n)
    }
    const outcomes = await lanes
    assert.deepStrictEqual(new Set(tags(outcomes.flat())), new Set(["Committed"]))
    assert.deepStrictEqual(
      await tokensOf(base),
      Object.fromEntries(outcomes.map((told, index) => [`client:${index + 1}`, told.length]))
    )
    await assertWhole(base, outcomes.flat().length)
  })
})

describe("a clean stop whose return of unused ids fails", () => {
  let base: Base
  let proxy: CuttingProxy
  let pool: Scope.Closeable
  let journal: JournalShape
  beforeEach(async () => {
    const database = await makeTestDatabase()
    base = await openPg(database.url, database.drop)
    proxy = await openProxy(database.url)
    pool = await Effect.runPromise(Scope.make())
    const layer = PgClient.layer({ url: proxy.url, maxConnections: 1, applicationName: "pool" })
    const sql = Context.get(await Effect.runPromise(Layer.buildWithScope(layer, pool)), PgClient.PgClient)
    journal = await base.start({ sql })
  })
  afterEach(async () => {
    await base.close()
    await Effect.runPromise(Scope.close(pool, Exit.void))
    await proxy.close()
  })
  /** The first id of the next process. The process after that one, which also stops cleanly, continues behind it. */
  const continues = async (): Promise<number> => {
    const second = await base.another()
    if (proxy.delays()) proxy.deliver()
    const id = second.nextId("order")
    await base.stop(second)
    assert.strictEqual((await base.another()).nextId("order"), id + 1)
    return id
  }
  const jumped = 1 + idBlockSize("order")

  it.each([
    ["the answer is lost", () => proxy.cutNext("answer", "pool"), 2],
    ["the request is lost", () => proxy.cutNext("request", "pool"), jumped],
    ["the request arrives after the next process has begun", () => proxy.delayNext("setval"), jumped]
  ])("%s: the stop ends, and no id is used twice", async (_what, fault, next) => {
    assert.strictEqual(journal.nextId("order"), 1)
    fault()
    await base.stop(journal)
    assert.strictEqual(await continues(), next)
  })

  it("the request arrives late, and no other process has begun: the ids are returned", async () => {
    assert.strictEqual(journal.nextId("order"), 1)
    proxy.delayNext("setval")
    await base.stop(journal)
    proxy.deliver()
    await eventually(async () => Number((await base.query("SELECT last_value FROM id_order"))[0]?.last_value) === 2)
    assert.strictEqual(await continues(), 2)
  })

  it("another session holds the writer row: the stop ends, and no id is used twice", async () => {
    assert.strictEqual(journal.nextId("order"), 1)
    const holder = new Client({ connectionString: Redacted.value(base.url) })
    await holder.connect()
    await holder.query("BEGIN; SELECT FROM writer FOR UPDATE")
    await base.stop(journal)
    await holder.end()
    assert.include([2, jumped], await continues())
  })
})

describe("a server that can't write now", () => {
  let bench: PgBench
  beforeEach(async () => {
    bench = await openPgBench()
  })
  afterEach(() => bench.close())

  /** Makes the server fail this number of writes with an SQLSTATE; `tries` counts the writes. */
  const failing = async (times: number, state: string): Promise<void> => {
    await addPartner(bench.journal)
    await bench.query("CREATE SEQUENCE tries")
    await bench.query(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('tries') <= ${times} THEN RAISE EXCEPTION 'not now' USING ERRCODE = '${state}'; END IF; RETURN NULL; END $$`)
    await bench.query("CREATE TRIGGER fail AFTER INSERT ON events FOR EACH STATEMENT EXECUTE FUNCTION fail()")
  }
  const tries = async (): Promise<number> => Number((await bench.query("SELECT last_value FROM tries"))[0]?.last_value)
  const refused: Outcome = { _tag: "Unavailable", unknown: false }

  it("disk full: three attempts, then all commits are refused without an attempt; once there is space the next commit is written", async () => {
    await failing(4, "53100")
    const first = await submitAll(bench.journal, [full(bench.journal, 1, null), full(bench.journal, 1, 1)])
    assert.deepStrictEqual(first, [refused, refused])
    assert.isFalse(bench.journal.accepting())
    // No outcome is unknown, so memory can be read.
    assert.isTrue(bench.journal.certain())
    assert.strictEqual((await Effect.runPromise(bench.journal.load(["client:1"]))).get("client:1")?.token, null)
    assert.deepStrictEqual(await submit(bench.journal, full(bench.journal, 3, null)), refused)
    await Effect.runPromise(bench.journal.drain)
    await eventually(() => bench.journal.accepting())
    // Three attempts of the first batch, one refused poll, one answered; neither poll left a row.
    assert.strictEqual(await tries(), 5)
    assert.deepStrictEqual(await submit(bench.journal, full(bench.journal, 2, null)), { _tag: "Committed" })
    assert.deepStrictEqual(await tokensOf(bench), { "client:2": 1 })
    await assertWhole(bench, 1)
  })

  it("a lock is not obtained in time: that commit is refused, and is written when the lock is free", async () => {
    await failing(2, "55P03")
    assert.deepStrictEqual(await submit(bench.journal, full(bench.journal, 1, null)), refused)
    assert.isTrue(bench.journal.accepting())
    assert.deepStrictEqual(await submit(bench.journal, full(bench.journal, 2, null)), { _tag: "Committed" })
    await eventually(() => bench.journal.held().rows === 0)
    assert.deepStrictEqual(await submit(bench.journal, full(bench.journal, 1, null)), { _tag: "Committed" })
    assert.deepStrictEqual(await tokensOf(bench), { "client:1": 1, "client:2": 1 })
    await assertWhole(bench, 2)
  })

  it("the connection is lost while the journal checks for space: nothing is in doubt, and the journal recovers", async () => {
    await failing(5, "53100")
    assert.deepStrictEqual(await submit(bench.journal, full(bench.journal, 1, null)), refused)
    await eventually(async () => Number((await bench.query(terminate))[0]?.n) > 0)
    await eventually(() => bench.journal.accepting())
    const lane2 = await lane(
      bench.journal,
      2,
      (() => {
        let left = 3
        return () => left-- > 0
      })(),
      true
    )
    assert.include(tags(lane2), "Committed")
    await assertWhole(bench, lane2.length)
  })
})

describe("two processes", () => {
  let bench: PgBench
  beforeEach(async () => {
    bench = await openPgBench()
  })
  afterEach(() => bench.close())

  it("a second process starts while the first writes: Committed means written, Unavailable means not written", async () => {
    let stopped = false
    bench.journal.onUsurped(() => (stopped = true))
    await addPartner(bench.journal)
    const first = Array.from({ length: 10 }, (_, index) => lane(bench.journal, index + 1, () => true, false))
    await eventually(async () => (await batchNumber(bench)) > 5)
    const second = await bench.another()
    const outcomes = await Promise.all(first)
    assert.isTrue(stopped)
    const expected: Record<string, number> = {}
    for (const [index, told] of outcomes.entries()) {
      const committed = told.filter((outcome) => outcome._tag === "Committed").length
      if (committed > 0) expected[`client:${index + 1}`] = committed
      assert.deepStrictEqual(told.at(-1), { _tag: "Unavailable", unknown: false })
    }
    assert.deepStrictEqual(await tokensOf(bench), expected)
    assert.strictEqual((await submit(second, full(second, 99, null)))._tag, "Committed")
    const total = Object.values(expected).reduce((sum, count) => sum + count, 1)
    await assertWhole(bench, total)
  })

  it("an idle process notices by itself that it was replaced", async () => {
    let stopped = false
    bench.journal.onUsurped(() => (stopped = true))
    await bench.another()
    await eventually(() => stopped)
    assert.isFalse(bench.journal.accepting())
  })

  it("a journal that is closed during its work leaves no connection open", async () => {
    const outcomes: Array<Outcome> = []
    const other = await openPgBench()
    for (let id = 1; id <= 2_000; id++)
      other.journal.submit(full(other.journal, id, null), (told) => outcomes.push(told))
    await eventually(() => outcomes.length > 0)
    const name = new URL(
      String((await other.query("SELECT 'x://x/' || current_database() AS url"))[0]?.url)
    ).pathname.slice(1)
    await other.close()
    await eventually(async () => {
      const left = await bench.query(`SELECT count(*) AS n FROM pg_stat_activity WHERE datname = '${name}'`)
      return Number(left[0]?.n) === 0
    })
    assert.isTrue(outcomes.every((outcome) => outcome._tag === "Committed"))
  })
})

describe("a stopped server", () => {
  it("commits and reads are Unavailable while it is down; the journal recovers by itself when it is back", async () => {
    const folder = mkdtempSync(join(tmpdir(), "brokerage-journal-"))
    const started = async () => {
      const scope = await Effect.runPromise(Scope.make())
      const server = await Effect.runPromise(
        EmbeddedPostgres.start({ dataDirectory: folder }).pipe(Scope.provide(scope))
      )
      return { url: server.url, stop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
    }
    let server = await started()
    await Effect.runPromise(
      migrate.pipe(Effect.provide(PgClient.layer({ url: server.url, maxConnections: 1 }), { local: true }))
    )
    const base = await openPg(server.url, () => Promise.resolve())
    try {
      const journal = await base.start({ patienceMillis: 100 })
      assert.strictEqual((await submit(journal, full(journal, 1, null)))._tag, "Committed")
      await server.stop()
      assert.deepStrictEqual(await submit(journal, full(journal, 2, null)), { _tag: "Unavailable", unknown: true })
      assert.isFalse(journal.accepting())
      assert.deepStrictEqual(await submit(journal, full(journal, 3, null)), { _tag: "Unavailable", unknown: false })
      assert.strictEqual((await Effect.runPromise(Effect.flip(journal.load(["client:1"]))))._tag, "JournalUnavailable")
      server = await started()
      await eventually(() => journal.accepting())
      assert.strictEqual((await submit(journal, full(journal, 1, 1)))._tag, "Committed")
      await assertWhole(base, 2)
    } finally {
      await base.close()
      await server.stop()
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    }
  })
})
