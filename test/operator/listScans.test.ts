/**
 * The cost of each filter of each list. Either a filter reads a range of an index about as long as the page, or its page counts
 * as a whole share of the lane (Limits: pageBudget).
 */
import { PgClient } from "@effect/sql-pg"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, SchemaAST } from "effect"
import { HttpApi, HttpApiEndpoint } from "effect/http-api"
import { OperatorApi } from "../../src/http/api/OperatorApi.ts"
import { operatorCommands } from "../../src/http/api/operator/commands.ts"
import { fieldsOf } from "../../src/http/api/Parameters.ts"
import { partnerFeatures } from "../../src/http/features.ts"
import { rowsOf, RouteTable } from "../../src/http/middleware/routes.ts"
import { pageBudget } from "../../src/machines/shared/Limits.ts"
import { onboard, person, query } from "../support/Builders.ts"
import { broker } from "../support/Scenario.ts"
import { openOperatorScenario, operatorCalls } from "./operatorScenario.ts"

const { service, partner, key } = await openOperatorScenario({
  partner: { code: "FULL" },
  // The tables get rows that belong to no books.
  damaged: true
})
const operatorCall = operatorCalls(service)
const empty = await service.partner({ code: "EMPTY", ...broker })
const born = async (n: number, of: string): Promise<number> => {
  const { json, text } = await onboard(service, of, person(n, `scan${n}`))
  if (json.data?.clientId === undefined) throw new Error(text)
  return json.data.clientId
}
/** Clients of the first partner with many rows and without, and one of a partner without rows. */
const full = await born(1, key)
const bare = await born(2, key)
const stranger = await born(3, empty.key)

/** The number of rows of a client with many rows; other clients together have as many. */
const many = 2_000
/** The rows that a read may touch beyond those of the page. */
const few = 60
const limit = 10

const tables =
  `approvals attachments audit barrier_contracts cases clients close_outs collateral_reports deposit_notices fills
  interfirm_records ledger_transactions orders postings recon_breaks rfqs screening_runs settlement_items statements swaps
  venue_quarantine webhook_deliveries withdrawal_requests`.split(/\s+/)

interface Column {
  readonly name: string
  readonly type: string
}

/** The SQL of a value for a column that must have one; `n` is the number of the row. */
const filler: Readonly<Record<string, string>> = {
  bigint: "n",
  integer: "1",
  smallint: "1",
  text: "'x' || n",
  json: "'{}'",
  jsonb: "'{}'",
  boolean: "false",
  bytea: "''",
  ARRAY: "'{}'"
}

/** Fills a table with rows of one client whose state, kind and type no filter names. */
const fill = async (
  table: string,
  columns: ReadonlyArray<Column>,
  first: number,
  partnerId: number,
  clientId: number
) => {
  const special: Readonly<Record<string, string>> = {
    partner_id: String(partnerId),
    client_id: table === "clients" ? "n" : String(clientId),
    state: "'NONE'",
    kind: table === "postings" ? "'cash'" : "'NONE'",
    type: "'NONE'",
    currency: "'EUR'",
    scope: "'CLIENT'",
    // Each transaction must balance.
    amount: table === "postings" ? "0" : "n",
    closed_at: "n",
    decided_at: "n",
    dropped_at: "n",
    ended_at: "n"
  }
  const values = columns.map(({ name, type }) => special[name] ?? filler[type] ?? "NULL")
  const names = columns.map(({ name }) => `"${name}"`)
  await query(
    service,
    // Without triggers and foreign keys.
    `DO $$ BEGIN SET LOCAL session_replication_role = replica; INSERT INTO ${table} (${names.join(", ")})
       SELECT ${values.join(", ")} FROM generate_series(${first}, ${first + many - 1}) n; END $$`
  )
}

interface PlanNode {
  readonly "Relation Name"?: string
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Filter"?: number
  readonly Plans?: ReadonlyArray<PlanNode>
}

/** The rows that a plan has read, those that it threw away included. */
const readBy = (node: PlanNode): number => {
  const own = node["Relation Name"] === undefined ? 0 : node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)
  return (node.Plans ?? []).reduce((sum, below) => sum + readBy(below), own * node["Actual Loops"])
}

interface Statement {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

/** The statements of pages that the service sent to its pool. They find nothing, because no machine could read the rows. */
const sent: Array<Statement> = []

beforeAll(async () => {
  const columns = await query<Column & { readonly table: string }>(
    service,
    `SELECT table_name AS table, column_name AS name, data_type AS type FROM information_schema.columns
      WHERE table_schema = 'public' AND is_generated = 'NEVER'
        AND (is_nullable = 'NO' OR column_name IN ('partner_id', 'client_id', 'closed_at', 'decided_at', 'dropped_at', 'ended_at'))`
  )
  for (const table of tables) {
    const own = columns.filter((column) => column.table === table)
    await fill(table, own, 10_000_000, partner.partnerId, full)
    await fill(table, own, 20_000_000, empty.partnerId + 1_000, stranger + 1_000)
  }
  await query(service, "ANALYZE")
  const sql = await service.run(PgClient.PgClient)
  const unsafe = sql.unsafe
  Object.assign(sql, {
    unsafe: (text: string, values: ReadonlyArray<unknown> = []) => {
      if (text.startsWith("EXPLAIN") || !text.includes(" LIMIT $")) return unsafe(text, values)
      sent.push({ text, values })
      return Effect.succeed([])
    }
  })
}, 60_000)

const rowsRead = async ({ text, values }: Statement): Promise<number> => {
  const [row] = await query<{ readonly "QUERY PLAN": readonly [{ readonly Plan: PlanNode }] }>(
    service,
    `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
    values as ReadonlyArray<bigint>
  )
  return readBy((row as NonNullable<typeof row>)["QUERY PLAN"][0].Plan)
}

/** The most rows that one statement of the request read. */
const readOf = async (request: () => Promise<unknown>): Promise<number> => {
  sent.length = 0
  await request()
  const reads = sent.splice(0).filter(({ text }) => /^\s*(SELECT|WITH)/.test(text))
  const counts: Array<number> = []
  for (const statement of reads) counts.push(await rowsRead(statement))
  return Math.max(0, ...counts)
}

/** Texts of a parameter: each token that it takes, or some of its kind. */
const textsOf = (name: string, ast: SchemaAST.AST): ReadonlyArray<string> => {
  const tokens = (SchemaAST.isUnion(ast) ? ast.types : [ast]).flatMap((type) =>
    SchemaAST.isLiteral(type) ? [String(type.literal)] : []
  )
  if (tokens.length > 0) return tokens
  const named: Readonly<Record<string, ReadonlyArray<string>>> = {
    client: [String(bare), String(full)],
    clientId: [String(bare), String(full)],
    partner: ["EMPTY", "FULL"],
    since: ["0", "9000000000000"],
    object: ["client:1"],
    q: ["zzzz"],
    currency: ["USDC"],
    type: ["COMMISSION"]
  }
  return named[name] ?? []
}

const ofPaging = ["limit", "before", "after"]

describe("lists of partners", () => {
  const features = partnerFeatures.map(({ api }) => api)
  const { routes } = new RouteTable("/partner/v1", features)
  const queries = new Map<string, ReadonlyMap<string, SchemaAST.AST>>()
  for (const group of features)
    for (const endpoint of Object.values(group.endpoints).filter(HttpApiEndpoint.isHttpApiEndpoint))
      queries.set(`${group.identifier}.${endpoint.identifier}`, fieldsOf(endpoint.query))
  const lists = routes.filter(({ scanning }) => scanning !== null)

  it.each(lists.map((route) => [route.operation, route] as const))("%s", async (operation, route) => {
    const read = (of: string, client: number, search: string) =>
      readOf(() =>
        service.call("GET", `${route.path.replace(":clientId", String(client))}?limit=${limit}${search}`, { key: of })
      )
    assert.isBelow(await read(empty.key, stranger, ""), few, "of an owner without rows")
    assert.isBelow(await read(key, full, ""), few, "of an owner whose rows are older than all others")
    for (const [name, ast] of queries.get(operation) ?? []) {
      if (ofPaging.includes(name)) continue
      const texts = textsOf(name, ast)
      assert.isNotEmpty(texts, name)
      for (const text of texts) {
        const rows = await read(key, full, `&${name}=${text}`)
        const cost = rowsOf(route, { limit, [name]: text })
        if (cost !== pageBudget.share) assert.isBelow(rows, few, `${name}=${text}`)
      }
    }
  })
})

describe("lists of operators", () => {
  const lists: Array<readonly [string, string, ReadonlyMap<string, SchemaAST.AST>]> = []
  HttpApi.reflect(OperatorApi, {
    onGroup: () => undefined,
    onEndpoint: ({ group, endpoint: { identifier, method, path, query: asked } }) => {
      const fields = fieldsOf(asked)
      if (method === "GET" && fields.has("limit")) lists.push([`${group.identifier} ${identifier}`, path, fields])
    }
  })

  it.each(lists)("%s", async (command, path, fields) => {
    const read = (client: number, of: string, search: string) =>
      readOf(() =>
        operatorCall(
          "GET",
          `${path.slice("/operator/v1".length).replace(":client", String(client)).replace(":partner", of)}?limit=${limit}${search}`
        )
      )
    const rules = operatorCommands.get(command)
    if (rules?.heavy !== true) {
      assert.isBelow(await read(bare, "EMPTY", ""), few, "of an owner without rows")
      assert.isBelow(await read(full, "FULL", ""), few, "of an owner whose rows are older than all others")
    }
    for (const [name, ast] of fields) {
      if (ofPaging.includes(name)) continue
      const texts = textsOf(name, ast)
      assert.isNotEmpty(texts, name)
      for (const text of texts) {
        const rows = await read(full, "FULL", `&${name}=${text}`)
        if (rules?.heavy !== true && rules?.scanning.includes(name) !== true)
          assert.isBelow(rows, few, `${name}=${text}`)
      }
    }
  })
})
