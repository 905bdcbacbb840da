/**
 * A row or table that another session has locked (psql, a tool, an idle transaction): commits that need it are refused,
 * all others are written, nothing is lost or doubled, and after the release everything continues by itself (decision
 * 11). Waits poll facts, never a fixed time.
 */
import { PgConnection } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import type { Commit } from "../../../src/runtime/engine/journal/Commit.ts"
import { batchLimit, type Outcome } from "../../../src/runtime/engine/journal/Journal.ts"
import { totalsDayMillis } from "../../../src/runtime/engine/journal/PostingTotals.ts"
import { storedChainBreak } from "./chain.ts"
import {
  auditRow,
  clientCommit,
  commitOf,
  eventRow,
  noon,
  sampleRows,
  submit,
  submitAll,
  tags,
  transaction
} from "./fixtures.ts"
import { openPgBench } from "./pgBench.ts"
import { eventually } from "./eventually.ts"

const refused: Outcome = { _tag: "Unavailable", unknown: false }

/** Clients that no other session locks. */
const others = Array.from({ length: 60 }, (_, index) => index + 100)
const assertAll = (tag: Outcome["_tag"], outcomes: ReadonlyArray<Outcome>) =>
  assert.deepStrictEqual(new Set(tags(outcomes)), new Set([tag]))

/** A journal on a separate database, and another session of that database. */
const start = async () => {
  const bench = await openPgBench()
  const { journal } = bench
  const scope = await Effect.runPromise(Scope.make())
  const other = await Effect.runPromise(PgConnection.make({ url: bench.url }).pipe(Scope.provide(scope)))
  const run = (text: string) => Effect.runPromise(other.query(text))
  /** A commit of client `id` with an event and an audit row, so that every counter is tested. */
  const plain = (id: number, token: number | null, parts: Parameters<typeof clientCommit>[2] = {}): Commit =>
    clientCommit(id, token, {
      ...parts,
      rows: { events: [eventRow(1, id)], audit: [auditRow(journal.nextId("audit"), "act")], ...parts.rows }
    })
  /** One more commit of each of the others. */
  const round = (token: number | null) =>
    submitAll(
      journal,
      others.map((id) => plain(id, token))
    )
  return {
    bench,
    journal,
    run,
    plain,
    round,
    stop: async (): Promise<void> => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await bench.close()
    },
    /** The other session runs these statements in a transaction and stays idle in it. */
    hold: async (...statements: ReadonlyArray<string>): Promise<void> => {
      for (const text of ["BEGIN", ...statements]) await run(text)
    },
    letGo: () => run("ROLLBACK"),
    /** Partner 1 and the others; each of these has one commit. */
    open: async (): Promise<void> => {
      await submit(journal, commitOf({ rows: { partners: [sampleRows(1).partners] } }))
      assertAll("Committed", await round(null))
    },
    /** The outcome of a commit that is decided while it is submitted; null: it is decided later. */
    answeredAtOnce: (commit: Commit): Outcome | null => {
      let answered: Outcome | null = null
      journal.submit(commit, (outcome) => (answered = outcome))
      return answered
    },
    assertWhole: async (commits: number): Promise<void> => {
      const seqs = (await bench.rows("events")).map((event) => event.seq).sort((a, b) => a - b)
      assert.deepStrictEqual(
        seqs,
        Array.from({ length: commits }, (_, index) => index + 1)
      )
      assert.lengthOf(await bench.rows("audit"), commits)
      assert.isNull(await storedChainBreak((table) => bench.rows(table)))
    }
  }
}
type World = Awaited<ReturnType<typeof start>>

/** A test with a separate database; such tests wait for their locks concurrently. */
const onItsOwn = (work: (world: World) => Promise<void>) => async (): Promise<void> => {
  const world = await start()
  try {
    await work(world)
  } finally {
    await world.stop()
  }
}

const timer = (id: number) => ({ subject: `client:${id}`, name: "expiry", dueAt: noon })
const money = transaction(1, 5n)
const day = Math.floor(noon / totalsDayMillis)

interface Case {
  readonly what: string
  readonly lock: (id: number) => string
  /** The client's earlier rows, and the commit of the client that needs the lock. */
  readonly has?: (id: number) => Parameters<typeof clientCommit>[2]
  readonly wants: (id: number) => Parameters<typeof clientCommit>[2]
}

const cases: ReadonlyArray<Case> = [
  {
    what: "a subject's row",
    lock: (id) => `SELECT FROM subjects WHERE subject = 'client:${id}' FOR UPDATE`,
    wants: () => ({})
  },
  {
    what: "a balance, changed and not committed",
    lock: (id) => `UPDATE balances SET cash = cash + 1 WHERE client_id = ${id}`,
    wants: () => ({})
  },
  {
    what: "a partner's row",
    lock: () => "SELECT FROM partners WHERE id = 1 FOR NO KEY UPDATE",
    wants: () => ({ rows: { partners: [sampleRows(1).partners] } })
  },
  {
    what: "a timer that is set again",
    lock: (id) => `SELECT FROM timers WHERE subject = 'client:${id}' FOR UPDATE`,
    has: (id) => ({ rows: { timers: [timer(id)] } }),
    wants: (id) => ({ rows: { timers: [{ ...timer(id), dueAt: noon + 1 }] } })
  },
  {
    what: "a timer that is cleared",
    lock: (id) => `DELETE FROM timers WHERE subject = 'client:${id}'`,
    has: (id) => ({ rows: { timers: [timer(id)] } }),
    wants: (id) => ({ clearedTimers: [timer(id)] })
  },
  {
    what: "a venue call that ends",
    lock: (id) => `DELETE FROM venue_calls WHERE ref = 'P-${id}'`,
    has: (id) => ({ rows: { venueCalls: [sampleRows(id).venueCalls] } }),
    wants: (id) => ({ endedCalls: [`P-${id}`] })
  },
  {
    what: "a fact that somebody has claimed and not committed",
    lock: (id) => `INSERT INTO claims (name, owner) VALUES ('email:${id}', 9)`,
    wants: (id) => ({ claims: [{ name: `email:${id}`, owner: id }] })
  },
  {
    what: "a fact that is given back",
    lock: (id) => `SELECT FROM claims WHERE name = 'email:${id}' FOR SHARE`,
    has: (id) => ({ claims: [{ name: `email:${id}`, owner: id }] }),
    wants: (id) => ({ releases: [`email:${id}`] })
  },
  {
    what: "an answer that somebody has stored and not committed",
    lock: (id) => `INSERT INTO answers VALUES ('partner:1', 'key-${id}', 'f', 200, '\\x00', 1)`,
    wants: (id) => ({ rows: { answers: [sampleRows(id).answers] } })
  },
  {
    what: "a row with the same unique key, not committed",
    lock: (id) => `INSERT INTO clients SELECT 77, 1, 3, 'ACTIVE', '1', '{}', 'CL-${id}', 'r', 'e', 'd', 'NONE',
      'RETAIL', 'DE', 'P', 'k', 1`,
    wants: (id) => ({ rows: { clients: [sampleRows(id).clients] } })
  },
  {
    what: "the day's sum of a partner's postings",
    lock: () => `INSERT INTO posting_totals VALUES (1, 'USDC', 'MANUAL', ${day}, 0)`,
    wants: () => ({ rows: money })
  },
  {
    what: "the day's sum of a partner's items, which a trigger writes",
    lock: () => "UPDATE settlement_totals SET items = items + 1",
    has: (id) => ({ rows: { settlementItems: [sampleRows(id).settlementItems] } }),
    wants: (id) => ({ rows: { settlementItems: [sampleRows(id + 50).settlementItems] } })
  }
]

describe("rows that another session has locked, each needed by one client", () => {
  const idOf = (which: Case) => cases.indexOf(which) + 1
  const wants = (which: Case, token = 1) => world.plain(idOf(which), token, which.wants(idOf(which)))
  let rounds = 1
  let world: World

  beforeAll(async () => {
    world = await start()
    await world.open()
    const born = cases.map((each) => world.plain(idOf(each), null, each.has?.(idOf(each)) ?? {}))
    assertAll("Committed", await submitAll(world.journal, born))
    await world.hold(...cases.map((each) => each.lock(idOf(each))))
  })
  afterAll(() => world.stop())

  for (const each of cases) {
    it(`${each.what}: that client is refused, first after a wait, then at once; the others are written`, async () => {
      const [told, beside] = await Promise.all([submit(world.journal, wants(each)), world.round(rounds++)])
      assert.deepStrictEqual(told, refused)
      assertAll("Committed", beside)
      assert.deepStrictEqual(world.answeredAtOnce(wants(each)), refused)
      assertAll("Committed", await world.round(rounds++))
      assert.isTrue(world.journal.accepting())
      assert.strictEqual(world.journal.held().tables, 0)
    })
  }

  it("still locked, all are still refused after another attempt", async () => {
    const before = world.journal.held().rows
    assert.isAtLeast(before, cases.length)
    const looks = `SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'brokerage-journal'
      AND datname = current_database() AND query = 'ROLLBACK'`
    await eventually(async () => Number((await world.bench.query(looks))[0]?.n) > 0)
    for (const each of cases) assert.deepStrictEqual(world.answeredAtOnce(wants(each)), refused, each.what)
  })

  it("unlocked again, each is written once, and nothing is lost or written twice", async () => {
    await world.letGo()
    await eventually(() => world.journal.held().rows === 0)
    for (const token of [1, 2]) {
      const some = cases.map((each) => (token === 1 ? wants(each) : world.plain(idOf(each), token)))
      assertAll("Committed", await submitAll(world.journal, some))
    }
    await world.assertWhole(others.length * rounds + cases.length * 3)
  })
})

describe("many rows that another session has locked", () => {
  it(
    "a whole batch of which most rows are locked: one search finds them, not one search for each",
    onItsOwn(async ({ assertWhole, hold, journal, letGo, open, plain }) => {
      await open()
      const ids = Array.from({ length: batchLimit }, (_, index) => index + 1_000)
      await submitAll(
        journal,
        ids.map((id) => plain(id, null))
      )
      await hold("SELECT FROM balances WHERE client_id >= 1010 FOR UPDATE")
      const outcomes: Array<Promise<Outcome>> = []
      let told = 0
      // One search finds all held rows: the event loop does not turn between the first refusal and the last.
      const toldWithTheFirst = new Promise<number>((resolve) => {
        const count = ({ _tag }: Outcome) => {
          if (_tag === "Unavailable" && ++told === 1) setImmediate(() => resolve(told))
        }
        for (const id of ids) {
          const outcome = submit(journal, plain(id, 1))
          outcomes.push(outcome)
          void outcome.then(count)
        }
      })
      assert.strictEqual(await toldWithTheFirst, batchLimit - 10)
      assert.deepStrictEqual(tags(await Promise.all(outcomes)), [
        ...Array.from({ length: 10 }, () => "Committed"),
        ...Array.from({ length: batchLimit - 10 }, () => "Unavailable")
      ])
      await letGo()
      await eventually(() => journal.held().rows === 0)
      await assertWhole(others.length + batchLimit + 10)
    })
  )
})

describe.concurrent("many facts claimed by another session", () => {
  it(
    "facts claimed and not committed: all are found, and an unconcerned commit of the batch is written",
    onItsOwn(async ({ assertWhole, hold, journal, letGo, open, plain }) => {
      await open()
      const claimed = others.slice(1, 41)
      await hold(...claimed.map((id) => `INSERT INTO claims (name, owner) VALUES ('email:${id}', 9)`))
      const claiming = (id: number) => plain(id, 1, { claims: [{ name: `email:${id}`, owner: id }] })
      const blameless = others[0] as number
      const ids = [...claimed.slice(20), blameless, ...claimed.slice(0, 20)]
      const outcomes = await submitAll(journal, ids.map(claiming))
      assert.deepStrictEqual(
        tags(outcomes),
        ids.map((id) => (id === blameless ? "Committed" : "Unavailable"))
      )
      await letGo()
      await eventually(() => journal.held().rows === 0)
      assertAll("Committed", await submitAll(journal, claimed.map(claiming)))
      await assertWhole(others.length + 41)
    })
  )
})

const tables: ReadonlyArray<readonly [string, string, boolean]> = [
  ["postings, for everybody", "LOCK TABLE postings IN ACCESS EXCLUSIVE MODE", false],
  ["postings, for writers", "LOCK TABLE postings IN SHARE MODE", false],
  ["subjects", "LOCK TABLE subjects IN EXCLUSIVE MODE", true],
  ["the writer's row", "SELECT FROM writer FOR UPDATE", true]
]

describe.concurrent("a table that another session has locked", () => {
  for (const [what, lock, everybody] of tables) {
    it(
      `${what}: commits that need it are refused at once, ${everybody ? "which are all commits" : "others are written"}; the journal recovers by itself`,
      onItsOwn(async ({ answeredAtOnce, assertWhole, hold, journal, letGo, open, plain }) => {
        await open()
        await hold(lock)
        const needy = () => plain(100, 1, { rows: money })
        assert.deepStrictEqual(await submit(journal, needy()), refused)
        assert.deepStrictEqual(answeredAtOnce(needy()), refused)
        assert.strictEqual(journal.held().tables, 1)
        assert.strictEqual(journal.accepting(), !everybody)
        // No outcome is unknown, so memory can be read.
        assert.isTrue(journal.certain())
        const blameless = await submit(journal, plain(101, 1))
        assert.deepStrictEqual(blameless._tag, everybody ? "Unavailable" : "Committed")
        await letGo()
        // No commit needs the table in the meantime: the journal detects its release by itself.
        await eventually(() => journal.held().tables === 0)
        assert.strictEqual((await submit(journal, needy()))._tag, "Committed")
        await assertWhole(others.length + (everybody ? 1 : 2))
      })
    )
  }

  it(
    "a partner's table that can't even be read: commits decided under a partner are refused, others written",
    onItsOwn(async ({ answeredAtOnce, hold, journal, letGo, open, plain }) => {
      await open()
      await hold("LOCK TABLE partners IN ACCESS EXCLUSIVE MODE")
      const under = () => plain(100, 1, { partner: { partnerId: 1, epoch: 0 } })
      const outcomes = await submitAll(journal, [under(), plain(101, 1)])
      assert.deepStrictEqual(outcomes, [refused, { _tag: "Committed" }])
      assert.deepStrictEqual(answeredAtOnce(under()), refused)
      await letGo()
      await eventually(() => journal.held().tables === 0)
      assert.strictEqual((await submit(journal, under()))._tag, "Committed")
    })
  )

  it(
    "an advisory lock that a trigger waits for in every commit: commits are refused at once, and the journal recovers by itself",
    onItsOwn(async ({ answeredAtOnce, assertWhole, bench, hold, journal, letGo, open, plain }) => {
      await open()
      await bench.query(`CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM pg_advisory_xact_lock(7); RETURN NEW; END $$`)
      await bench.query("CREATE TRIGGER wait BEFORE UPDATE ON subjects FOR EACH ROW EXECUTE FUNCTION wait()")
      await hold("SELECT pg_advisory_xact_lock(7)")
      const ids = others.slice(0, 5)
      const outcomes = await submitAll(
        journal,
        ids.map((id) => plain(id, 1))
      )
      assert.deepStrictEqual(
        outcomes,
        ids.map(() => refused)
      )
      assert.isFalse(journal.accepting())
      assert.deepStrictEqual(answeredAtOnce(plain(109, 1)), refused)
      await letGo()
      await eventually(() => journal.accepting())
      assert.strictEqual((await submit(journal, plain(100, 1)))._tag, "Committed")
      await assertWhole(others.length + 1)
    })
  )
})

describe.concurrent("while another session holds a lock", () => {
  it(
    "the journal loses its connection: it reconnects, and commits that need the row are refused again",
    onItsOwn(async ({ assertWhole, bench, hold, journal, letGo, open, plain }) => {
      await open()
      await hold("SELECT FROM subjects WHERE subject = 'client:100' FOR UPDATE")
      assert.deepStrictEqual(await submit(journal, plain(100, 1)), refused)
      await bench.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'brokerage-journal' AND datname = current_database()`)
      assert.strictEqual((await submit(journal, plain(101, 1)))._tag, "Committed")
      assert.deepStrictEqual(await submit(journal, plain(100, 1)), refused)
      await letGo()
      await eventually(() => journal.held().rows === 0)
      assert.strictEqual((await submit(journal, plain(100, 1)))._tag, "Committed")
      await assertWhole(others.length + 2)
    })
  )

  it(
    "the session commits a change of its own: the row has that change, and the commit that waited is fenced",
    onItsOwn(async ({ hold, journal, open, plain, run }) => {
      await open()
      await hold("UPDATE subjects SET token = 9 WHERE subject = 'client:100'")
      assert.deepStrictEqual(await submit(journal, plain(100, 1)), refused)
      await run("COMMIT")
      await eventually(() => journal.held().rows === 0)
      assert.strictEqual((await submit(journal, plain(100, 1)))._tag, "Fenced")
      assert.strictEqual((await submit(journal, plain(100, 9)))._tag, "Committed")
    })
  )
})
