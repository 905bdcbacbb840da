/** The catalogue and the memory journal's rules equal the migrated schema: names, types, nullable columns, keys. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { executionTypes } from "../../../src/machines/postingRules.ts"
import { idBlockSize, idKinds, idSequenceOf } from "../../../src/runtime/engine/journal/IdBlocks.ts"
import { maxBatchLength } from "../../../src/runtime/services/venue/batches.ts"
import { catalogue, tableNames } from "../../../src/runtime/tables/Catalogue.ts"
import { type ColumnType, snake } from "../../../src/runtime/tables/Table.ts"
import { makeTestDatabase } from "../../support/TestDatabase.ts"
import { commitOf, sampleRows, submit } from "./fixtures.ts"
import { openPg } from "./pgBench.ts"

// Without a journal, because a journal does not start on a database that lacks a table.
let bench: Awaited<ReturnType<typeof openPg>>
beforeAll(async () => {
  const database = await makeTestDatabase()
  bench = await openPg(database.url, database.drop)
})
afterAll(() => bench.close())

const sqlType: { readonly [T in ColumnType]: string } = {
  id: "bigint",
  money: "bigint",
  text: "text",
  bool: "boolean",
  json: "json",
  sealed: "bytea",
  sealedText: "bytea"
}

/** Tables that are not part of any commit, with the reason. */
const besides = [
  "schema_migrations",
  "service_stamp",
  "writer",
  "subjects",
  "claims",
  "key_usage",
  "settlement_totals",
  "posting_totals"
]

describe("catalogue", () => {
  it("every table with its columns, types and empty columns is the one in the database", async () => {
    const found = await bench.query(
      `SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
        WHERE table_schema = 'public' AND is_generated = 'NEVER'`
    )
    const actual = found
      .filter((row) => !besides.includes(row.table_name as string))
      .map((row) => [row.table_name, row.column_name, row.data_type, row.is_nullable].join(" "))
    const expected = tableNames.flatMap((table) =>
      catalogue[table].columns.map((column) => {
        const empty = column.nullable ? "YES" : "NO"
        return [catalogue[table].sqlName, column.sqlName, sqlType[column.type], empty].join(" ")
      })
    )
    assert.sameMembers(actual, expected)
  })

  it("primary and unique keys equal those of the database", async () => {
    const found = await bench.query(
      `SELECT c.relname AS table, k.contype AS type,
              (SELECT string_agg(a.attname, ',' ORDER BY n.ord) FROM unnest(k.conkey) WITH ORDINALITY AS n(att, ord)
                 JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = n.att) AS columns
         FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
        WHERE c.relnamespace = 'public'::regnamespace AND k.contype IN ('p', 'u')`
    )
    const actual = found
      .filter((row) => !besides.includes(row.table as string))
      .map((row) => [row.table, row.type, row.columns].join(" "))
    const name = (columns: ReadonlyArray<string>) => columns.map(snake).join(",")
    const expected = tableNames.flatMap((table) => [
      `${catalogue[table].sqlName} p ${name(catalogue[table].key)}`,
      ...catalogue[table].unique.map((columns) => `${catalogue[table].sqlName} u ${name(columns)}`)
    ])
    assert.sameMembers(actual, expected)
  })

  it("unique indexes without a constraint don't exist; the tables with checks are those that the memory journal checks", async () => {
    const loose = await bench.query(
      `SELECT indexrelid::regclass::text AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
        WHERE c.relnamespace = 'public'::regnamespace AND i.indisunique
          AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid)`
    )
    assert.deepStrictEqual(loose, [])
    const checked = await bench.query(
      `SELECT DISTINCT c.relname AS table FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
        WHERE c.relnamespace = 'public'::regnamespace AND k.contype = 'c'`
    )
    assert.sameMembers(
      checked.map((row) => row.table as string).filter((table) => !besides.includes(table)),
      tableNames.filter((table) => catalogue[table].check !== null).map(snake)
    )
  })

  it("the index of executions has every type that the TRANSACTIONS statement lists", async () => {
    const [index] = await bench.query(
      "SELECT indexdef FROM pg_indexes WHERE indexname = 'ledger_transactions_executions'"
    )
    const types = [...String(index?.["indexdef"]).matchAll(/'([A-Z_]+)'::text/g)].map(([, type]) => type)
    assert.sameMembers(types, executionTypes)
  })

  it("every kind of id has its sequence with its block size", async () => {
    const found = await bench.query("SELECT sequencename, increment_by FROM pg_sequences WHERE schemaname = 'public'")
    assert.sameDeepMembers(
      found.map((row) => [row.sequencename, Number(row.increment_by)]),
      idKinds.map((kind) => [idSequenceOf(kind), idBlockSize(kind)])
    )
  })

  it("only kinds of objects that commands create one by one have blocks smaller than the most that one turn creates", () => {
    assert.sameMembers(
      idKinds.filter((kind) => idBlockSize(kind) < maxBatchLength),
      ["approval", "interfirm", "key", "operatorKey", "partner", "screeningPass", "tradingHalt", "watchImport"]
    )
  })

  it("sealed columns are not readable in the database: a planted marker is in no stored byte", async () => {
    const marker = "PLANTED-MARKER-7f3a"
    const rows = sampleRows(1)
    const outcome = await submit(
      await bench.start(),
      commitOf({
        rows: {
          blockPayloads: [{ ...rows.blockPayloads, data: { street: marker } }],
          assessmentAttempts: [{ ...rows.assessmentAttempts, answers: { q: marker } }],
          kycRevisions: [{ ...rows.kycRevisions, payload: { name: marker }, attestation: marker }],
          identitySessions: [{ ...rows.identitySessions, data: [marker] }],
          reportingRecords: [
            { ...rows.reportingRecords, record: { ...rows.reportingRecords.record, firstNames: marker } }
          ],
          webhookEndpoints: [{ ...rows.webhookEndpoints, secret: marker }],
          answers: [{ ...rows.answers, body: marker }],
          withdrawalRequests: [{ ...rows.withdrawalRequests, destination: marker }],
          documents: [{ ...rows.documents, filename: marker }],
          documentContents: [{ ...rows.documentContents, content: marker }],
          statementPieces: [{ ...rows.statementPieces, content: marker }],
          // Checks the scan itself on a plain column.
          notifications: [{ ...rows.notifications, ref: marker }]
        }
      })
    )
    assert.strictEqual(outcome._tag, "Committed")
    const shown: Array<string> = []
    let sealed = 0
    for (const table of tableNames) {
      const { sqlName, columns } = catalogue[table]
      sealed += columns.filter((column) => column.type === "sealed" || column.type === "sealedText").length
      for (const { sqlName: column, type } of columns) {
        const bytes = sqlType[type] === "bytea" ? `"${column}"` : `convert_to("${column}"::text, 'UTF8')`
        const found = await bench.query(
          `SELECT count(*) AS n FROM ${sqlName} WHERE position(convert_to('${marker}', 'UTF8') IN ${bytes}) > 0`
        )
        if (Number(found[0]?.n) > 0) shown.push(`${sqlName}.${column}`)
      }
    }
    assert.deepStrictEqual(shown, ["notifications.ref"])
    assert.strictEqual(sealed, 12, "a new sealed column needs its marker here")
    assert.strictEqual((await bench.rows("answers"))[0]?.body, marker)
  })
})
