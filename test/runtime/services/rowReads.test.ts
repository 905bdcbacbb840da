/**
 * RowReads over Postgres and over the memory store: the same rows, pages and holders for the same commits, so that the
 * simulation's proofs about the services hold for the database too (architecture, Proof).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import type { Commit } from "../../../src/runtime/engine/journal/Commit.ts"
import { makeJournalMemory } from "../../../src/runtime/engine/journal/JournalMemory.ts"
import { MemoryStore } from "../../../src/runtime/engine/journal/MemoryStore.ts"
import { SealingService } from "../../../src/runtime/engine/sealing/SealingService.ts"
import type { Condition } from "../../../src/runtime/store/paging.ts"
import { RowReads } from "../../../src/runtime/ports/RowReads.ts"
import { RowReadsMemory } from "../../../src/runtime/ports/RowReadsMemory.ts"
import { clientCommit, commitOf, noon, sampleRows, submit, testSealing } from "../engine/fixtures.ts"
import { eventually } from "../engine/eventually.ts"
import { openPgBench, type PgBench } from "../engine/pgBench.ts"

const ids = [1, 2, 3, 4, 5]

/** Reports and settlement items of five clients of one partner, an item an hour, and a few claims. */
const commits: ReadonlyArray<Commit> = [
  commitOf({ rows: { partners: [sampleRows(1).partners] } }),
  ...ids.map((id) => {
    const rows = sampleRows(id)
    return clientCommit(id, null, {
      claims: [{ name: `ref:1:client-${id}`, owner: id }],
      rows: {
        clients: [rows.clients],
        collateralReports: [{ ...rows.collateralReports, state: id % 2 === 0 ? "BOOKED" : "REFUSED" }],
        settlementItems: [{ ...rows.settlementItems, state: "PENDING", occurredAt: noon + id * 3_600_000 }]
      }
    })
  })
]

describe("RowReads", () => {
  let bench: PgBench
  let scope: Scope.Closeable
  let reads: ReadonlyArray<readonly [name: string, reads: RowReads["Service"]]>

  beforeAll(async () => {
    bench = await openPgBench()
    scope = await Effect.runPromise(Scope.make())
    const store = new MemoryStore()
    const memory = makeJournalMemory({ store })
    for (const commit of commits) {
      assert.strictEqual((await submit(bench.journal, commit))._tag, "Committed")
      assert.strictEqual((await submit(memory, commit))._tag, "Committed")
    }
    const build = <E>(layer: Layer.Layer<RowReads, E>) =>
      Effect.runPromise(Effect.map(Layer.buildWithScope(layer, scope), (context) => Context.get(context, RowReads)))
    const database = Layer.mergeAll(
      PgClient.layer({ url: bench.url, maxConnections: 2 }),
      SealingService.layer(testSealing)
    )
    reads = [
      ["Postgres", await build(RowReads.layer.pipe(Layer.provide(database)))],
      ["memory", await build(RowReadsMemory.layer({ store }))]
    ]
  })
  afterAll(async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await bench.close()
  })

  /** Checks that both implementations give the answer `expected`. */
  const bothAnswer = async <A>(ask: (reads: RowReads["Service"]) => Effect.Effect<A, unknown>, expected: A) => {
    for (const [name, implementation] of reads) {
      assert.deepStrictEqual(await Effect.runPromise(ask(implementation)), expected, name)
    }
  }

  const pages: ReadonlyArray<{
    readonly title: string
    readonly conditions: ReadonlyArray<Condition>
    readonly limit: number
    readonly before?: number
    readonly found: ReadonlyArray<number>
  }> = [
    { title: "no condition, the newest first", conditions: [], limit: 3, found: [5, 4, 3] },
    { title: "below an id", conditions: [], limit: 9, before: 4, found: [3, 2, 1] },
    { title: "a text column", conditions: [{ column: "state", value: "BOOKED" }], limit: 9, found: [4, 2] },
    { title: "a number column", conditions: [{ column: "client_id", value: 3 }], limit: 9, found: [3] },
    {
      title: "a bigint, two conditions",
      conditions: [
        { column: "id", value: 2n },
        { column: "partner_id", value: 1 }
      ],
      limit: 9,
      found: [2]
    },
    {
      title: "two conditions that no row meets",
      conditions: [
        { column: "id", value: 2 },
        { column: "state", value: "REFUSED" }
      ],
      limit: 9,
      found: []
    },
    {
      title: "from a value on",
      conditions: [{ column: "created_at", value: noon, comparison: ">=" }],
      limit: 1,
      found: [5]
    },
    {
      title: "from a value on that no row reaches",
      conditions: [{ column: "created_at", value: noon + 1, comparison: ">=" }],
      limit: 9,
      found: []
    }
  ]
  for (const { title, conditions, limit, before, found } of pages) {
    it(`page: ${title}`, () =>
      bothAnswer(
        (stored) =>
          Effect.map(
            stored.page("collateralReports", conditions, { limit, ...(before === undefined ? {} : { before }) }),
            (rows) => rows.map((row) => row.id)
          ),
        found
      ))
  }

  it("page: whole rows, as they were written", () =>
    bothAnswer(
      (stored) => stored.page("settlementItems", [{ column: "id", value: 4 }], { limit: 1 }),
      [{ ...sampleRows(4).settlementItems, state: "PENDING", occurredAt: noon + 4 * 3_600_000 }]
    ))

  it("among: the rows of given ids, complete; unknown ids are left out", async () => {
    await bothAnswer(
      (stored) =>
        Effect.map(stored.among("settlementItems", [5, 77, 2]), (rows) => rows.map(({ id }) => id).toSorted()),
      [2, 5]
    )
    await bothAnswer(
      (stored) => stored.among("settlementItems", [4]),
      [{ ...sampleRows(4).settlementItems, state: "PENDING", occurredAt: noon + 4 * 3_600_000 }]
    )
    await bothAnswer((stored) => stored.among("settlementItems", []), [])
  })

  it("all: every row of a table", () =>
    bothAnswer(
      (stored) => Effect.map(stored.all("collateralReports"), (rows) => rows.map((row) => row.id).toSorted()),
      ids
    ))

  it("clientIds: of our accounts, others left out", async () => {
    const uids = ids.map((id) => sampleRows(id).clients.uid)
    await bothAnswer(
      (stored) => stored.clientIds(["CL-none", uids[3] as string, uids[0] as string]),
      new Map([
        [uids[0] as string, 1],
        [uids[3] as string, 4]
      ])
    )
    await bothAnswer((stored) => stored.clientIds([]), new Map())
  })

  it("holders: of claimed facts, none for free ones", () =>
    bothAnswer(
      (stored) =>
        Effect.map(stored.holders(["ref:1:client-2", "ref:1:free", "ref:1:client-5"]), (claims) =>
          claims.toSorted((a, b) => a.owner - b.owner)
        ),
      [
        { name: "ref:1:client-2", owner: 2 },
        { name: "ref:1:client-5", owner: 5 }
      ]
    ))

  it("together: the rows of a client in several tables", () =>
    bothAnswer(
      (stored) =>
        Effect.map(
          stored.together(["settlementItems", "collateralReports"], 3, 10),
          ({ settlementItems, collateralReports }) => [
            settlementItems.map(({ id }) => id),
            collateralReports.map(({ id }) => id)
          ]
        ),
      [[3], [3]]
    ))

  it("together: a commit between the reads of two tables is visible in neither", async () => {
    const [, stored] = reads[0] as (typeof reads)[number]
    const other = await Effect.runPromise(PgConnection.make({ url: bench.url }).pipe(Scope.provide(scope)))
    const run = (text: string) => Effect.runPromise(other.query(text))
    await run("BEGIN")
    await run("LOCK TABLE settlement_items IN ACCESS EXCLUSIVE MODE")
    await run("UPDATE settlement_items SET state = 'SETTLED' WHERE id = 4")
    const found = Effect.runPromise(stored.together(["collateralReports", "settlementItems"], 4, 10))
    const waits = `SELECT 1 FROM pg_locks WHERE relation = 'settlement_items'::regclass AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
    await eventually(async () => (await bench.query(waits)).length > 0)
    await run("COMMIT")
    assert.deepStrictEqual((await found).settlementItems[0]?.state, "PENDING")
    const [item] = await Effect.runPromise(stored.among("settlementItems", [4]))
    assert.strictEqual(item?.state, "SETTLED")
  })
})
