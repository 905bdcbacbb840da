/** One statement per kind reads subjects, however many tables and subjects there are. */
import { PgClient } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { makeSubjectLoader } from "../../../src/runtime/engine/journal/SubjectLoader.ts"
import { catalogue, tableNames } from "../../../src/runtime/tables/Catalogue.ts"
import { clientCommit, commitOf, sampleRows, submitAll, tags, testSealing } from "./fixtures.ts"
import { openPgBench, type PgBench } from "./pgBench.ts"

const statementsOf = (sql: PgClient.PgClient) => {
  const texts: Array<string> = []
  const unsafe: PgClient.PgClient["unsafe"] = (text, parameters) => {
    texts.push(text)
    return sql.unsafe(text, parameters)
  }
  const counting: PgClient.PgClient = Object.assign(Object.create(sql), { unsafe })
  return { texts, load: makeSubjectLoader(counting, testSealing) }
}

describe("the loader of subjects", () => {
  let bench: PgBench
  let scope: Scope.Closeable
  let sql: PgClient.PgClient

  beforeAll(async () => {
    bench = await openPgBench()
    scope = await Effect.runPromise(Scope.make())
    const pool = PgClient.layer({ url: bench.url, maxConnections: 2 })
    sql = Context.get(await Effect.runPromise(Layer.buildWithScope(pool, scope)), PgClient.PgClient)
    const held = tableNames.filter((table) => catalogue[table].residence?.subject === "client")
    const commits = [1, 2, 3].map((id) => {
      const rows = sampleRows(id)
      return clientCommit(id, null, { rows: Object.fromEntries(held.map((table) => [table, [rows[table]]])) })
    })
    const partner = sampleRows(1)
    const others = [
      commitOf({
        fence: { subject: "partner:1", expected: null },
        rows: { partners: [partner.partners], webhookEndpoints: [partner.webhookEndpoints] }
      }),
      commitOf({ fence: { subject: "system", expected: null }, rows: { questionnaires: [partner.questionnaires] } }),
      // Plain SQL may have left rows whose subject does not exist.
      commitOf({ rows: { balances: [{ ...partner.balances, clientId: 9 }] } })
    ]
    assert.deepStrictEqual(
      new Set(tags(await submitAll(bench.journal, [...commits, ...others]))),
      new Set(["Committed"])
    )
  })
  afterAll(async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await bench.close()
  })

  it("reads many clients with all their tables in one statement, each with its own rows", async () => {
    const { texts, load } = statementsOf(sql)
    const images = await Effect.runPromise(load(["client:3", "client:1", "client:9", "client:2", "client:1"]))
    assert.lengthOf(texts, 1)
    assert.deepStrictEqual([...images.keys()], ["client:3", "client:1", "client:9", "client:2"])
    for (const id of [1, 2, 3]) {
      const image = images.get(`client:${id}`)
      assert.strictEqual(image?.token, 1)
      const rows = sampleRows(id)
      for (const { table, row } of image?.rows ?? []) assert.deepStrictEqual<unknown>(row, rows[table])
      assert.isAbove(image?.rows.length ?? 0, 8)
    }
    assert.deepStrictEqual(images.get("client:9"), { token: null, rows: [] })
  })

  it("reads several kinds of subjects, with one statement for each kind", async () => {
    const { texts, load } = statementsOf(sql)
    const images = await Effect.runPromise(load(["system", "client:1", "partner:1", "partner:2"]))
    assert.lengthOf(texts, 3)
    assert.sameMembers(
      (images.get("partner:1")?.rows ?? []).map(({ table }) => table),
      ["partners", "webhookEndpoints"]
    )
    assert.deepStrictEqual(images.get("system")?.rows, [{ table: "questionnaires", row: sampleRows(1).questionnaires }])
    assert.deepStrictEqual(images.get("partner:2"), { token: null, rows: [] })
  })
})
