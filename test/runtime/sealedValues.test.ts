/**
 * Sealed values in Postgres: the walk in windows leaves out no row, and a replacement changes a value only if it equals
 * the read one, in an unlocked row, for the process that owns the database (architecture, At rest).
 */
import { PgClient } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { makeSealing } from "../../src/runtime/engine/sealing/Sealing.ts"
import {
  countByKey,
  replaceValues,
  type RowKey,
  type SealedColumn,
  sealedColumns,
  valuesOf,
  windowAfter
} from "../../src/runtime/store/SealedValues.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"

const keys = new Map([1, 2].map((number) => [number, randomBytes(32)] as const))
const older = makeSealing({ current: 1, keys })
const newer = makeSealing({ current: 2, keys })
const column = (place: string): SealedColumn => {
  const found = sealedColumns.find((each) => each.place === place)
  if (found === undefined) throw new Error(place)
  return found
}
const answers = column("answers.body")
const contents = column("document_contents.content")

let database: TestDatabase
const run = <A, E>(work: (sql: PgClient.PgClient) => Effect.Effect<A, E>): Promise<A> =>
  Effect.flatMap(PgClient.PgClient, work).pipe(
    Effect.provide(PgClient.layer({ url: database.url, maxConnections: 2 }), { local: true }),
    Effect.runPromise
  )
beforeAll(async () => {
  database = await makeTestDatabase()
  await run((sql) => sql`UPDATE writer SET owner = 'us' WHERE id = 1`)
})
afterAll(() => database.drop())

const put = (documentId: number, sealed: Uint8Array) =>
  run(
    (sql) => sql`INSERT INTO document_contents (document_id, partner_id, client_id, stored_at, content)
      VALUES (${BigInt(documentId)}, 1, 1, 1, ${sealed})
      ON CONFLICT (document_id) DO UPDATE SET content = EXCLUDED.content`
  )
const readContent = async (documentId: number): Promise<Uint8Array> => {
  const at = { key: [BigInt(documentId)], number: 0, size: 0 }
  const [value] = await run((sql) => valuesOf(sql, contents, [at]))
  if (value === undefined) throw new Error("there is no such content")
  return value.sealed
}
const replace = (documentId: number, was: Uint8Array, sealed: Uint8Array, owner = "us") =>
  run((sql) => replaceValues(sql, contents, [{ key: [BigInt(documentId)], was, sealed }], owner))

describe("sealed values", () => {
  it("a walk in windows reads every row once, in key order, whatever the number and type of its keys", async () => {
    const body = older.seal("an answer", answers.place)
    await run(
      (sql) => sql`INSERT INTO answers (principal, key, fingerprint, status, body, answered_at)
        SELECT 'partner:' || p, 'Key-' || k || chr(96 + (k % 26)::int), 'f', 200, ${body}, 1
          FROM generate_series(1, 7) p, generate_series(1, 53) k`
    )
    for (const limit of [1, 7, 53, 100, 1_000]) {
      const seen = await run((sql) =>
        Effect.gen(function* () {
          const rows: Array<string> = []
          let after: RowKey | null = null
          for (;;) {
            const window: ReadonlyArray<{ key: RowKey; number: number; size: number }> = yield* windowAfter(
              sql,
              answers,
              after,
              limit
            )
            for (const { key, number, size } of window) {
              assert.deepStrictEqual([number, size], [1, body.length])
              rows.push(key.join(" "))
            }
            after = window.at(-1)?.key ?? null
            if (after === null || window.length < limit) return rows
          }
        })
      )
      assert.strictEqual(seen.length, 7 * 53, `limit ${limit}`)
      assert.strictEqual(new Set(seen).size, seen.length, `limit ${limit}`)
    }
    assert.deepStrictEqual([...(await run((sql) => countByKey(sql, answers)))], [[1, 371]])
  })

  it("rows of several keys are replaced together, each with its own value", async () => {
    const window = await run((sql) => windowAfter(sql, answers, null, 100))
    const moved = await run((sql) =>
      Effect.flatMap(valuesOf(sql, answers, window), (values) =>
        replaceValues(
          sql,
          answers,
          values.map(({ key, sealed }) => ({ key, was: sealed, sealed: newer.seal(key.join(" "), answers.place) })),
          "us"
        )
      )
    )
    assert.strictEqual(moved, 100)
    for (const { key, sealed } of await run((sql) => valuesOf(sql, answers, window)))
      assert.strictEqual(newer.open(sealed, answers.place), key.join(" "))
    assert.sameDeepMembers(
      [...(await run((sql) => countByKey(sql, answers)))],
      [
        [1, 271],
        [2, 100]
      ]
    )
  })

  it("a value that changed since it was read stays, even if its text is the same", async () => {
    const read = older.seal("content", contents.place)
    const changed = older.seal("content", contents.place)
    await put(1, changed)
    assert.strictEqual(await replace(1, read, newer.reseal(read, contents.place)), 0)
    assert.deepStrictEqual(Buffer.from(await readContent(1)), Buffer.from(changed))
    assert.strictEqual(await replace(1, changed, newer.reseal(changed, contents.place)), 1)
    assert.strictEqual(newer.open(await readContent(1), contents.place), "content")
  })

  it("a row that a command has locked is skipped, not waited for", async () => {
    const read = older.seal("held", contents.place)
    await put(2, read)
    const moved = await run((sql) =>
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SELECT 1 FROM document_contents WHERE document_id = 2 FOR UPDATE`
          return yield* Effect.promise(() => replace(2, read, newer.reseal(read, contents.place)))
        })
      )
    )
    assert.strictEqual(moved, 0)
    assert.strictEqual(await replace(2, read, newer.reseal(read, contents.place)), 1)
  })

  it("a process that has lost the database replaces nothing; a deleted row is left out", async () => {
    const read = older.seal("ours", contents.place)
    await put(3, read)
    assert.strictEqual(await replace(3, read, newer.reseal(read, contents.place), "them"), 0)
    assert.strictEqual(await replace(4, read, newer.reseal(read, contents.place)), 0)
    assert.strictEqual(older.open(await readContent(3), contents.place), "ours")
  })

  it("a value without bytes is no sealed value", async () => {
    await put(5, new Uint8Array())
    const rows = await run((sql) => windowAfter(sql, contents, [4n], 10))
    assert.deepStrictEqual(rows, [{ key: [5n], number: 0, size: 0 }])
  })
})
