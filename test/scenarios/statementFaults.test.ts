/**
 * A build during a fault of the database, and one with postings into its period while it reads (STS-19, STS-22): no
 * row, no part of the model left, and the retry makes exactly one statement; a booking after the cut is in the next
 * statement only.
 */
import { PgClient } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { StatementModels } from "../../src/runtime/ports/StatementModels.ts"
import { collateral, get } from "../support/Builders.ts"
import { isDeep, played } from "../support/every.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, key, client, now, call } = await openScenario()

const query = (text: string) =>
  service.run(Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe(text)) as never) as Promise<
    ReadonlyArray<{ readonly count: number }>
  >
const money = async (clientId: number, partnerRef: string, amount: string) =>
  assert.strictEqual(
    (await collateral(service, key, clientId, { partnerRef, direction: "DEPOSIT", amount })).status,
    201
  )
const countOf = async (text: string): Promise<number> => Number((await query(text))[0]?.count)

/** SQLSTATE of the fault, its name, and the piece that it meets. */
const faults = [
  ["53100", "a full disk", 1],
  ["57014", "a statement that is cancelled", 2]
] as const

describe("a fault of the database in the middle of a build", () => {
  it.each(played({ usual: faults.slice(0, 1), deep: faults }))(
    "%s, %s: nothing is left, and the retry makes one row",
    async (code, _, number) => {
      const clientId = await client()
      const from = await now()
      await money(clientId, `fault-${code}`, "5")
      const body = { kind: "ACCOUNT", from: from - 1000, to: (await now()) + 1 }
      await query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.number = ${number} THEN RAISE EXCEPTION 'refused' USING ERRCODE = '${code}'; END IF; RETURN NEW; END $$`)
      await query("CREATE TRIGGER refuse BEFORE INSERT ON statement_pieces FOR EACH ROW EXECUTE FUNCTION refuse()")
      const failed = await call("POST", clientId, "/statements", body)
      await query("DROP TRIGGER refuse ON statement_pieces")
      await query("DROP FUNCTION refuse()")
      assert.deepStrictEqual([failed.status, failed.json.code, failed.headers["retry-after"]], [503, 5030, "1"])
      const stored = `SELECT count(*)::int AS count FROM statement_pieces WHERE client_id = ${clientId}`
      assert.strictEqual(await countOf(stored), 0, "what was written of it is dropped")
      const again = await call("POST", clientId, "/statements", body)
      assert.strictEqual(again.status, 200, again.text)
      const list = await get(service, key, `/clients/${clientId}/statements`)
      assert.deepStrictEqual(list.json.statements, [again.json])
      assert.strictEqual(
        await countOf(
          `SELECT count(DISTINCT model_id)::int AS count FROM statement_pieces WHERE client_id = ${clientId}`
        ),
        1
      )
    },
    90_000
  )
})

/** A client whose pieces are written this slowly: all pieces, or the one with this number. */
const slow = async (clientId: number, seconds: number, number = -1): Promise<void> =>
  void (await query(`INSERT INTO slow_pieces VALUES (${clientId}, ${number}, ${seconds})`))
const quick = async (clientId: number): Promise<void> =>
  void (await query(`DELETE FROM slow_pieces WHERE client_id = ${clientId}`))
const piecesOf = (clientId: number): Promise<number> =>
  countOf(`SELECT count(*)::int AS count FROM statement_pieces WHERE client_id = ${clientId}`)

describe.concurrent("a database that is slow in the middle of a build", () => {
  beforeAll(async () => {
    await query("CREATE TABLE slow_pieces (client_id bigint, number bigint, seconds float)")
    await query(`CREATE FUNCTION be_slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM pg_advisory_xact_lock_shared(NEW.client_id);
      PERFORM pg_sleep(seconds) FROM slow_pieces s WHERE s.client_id = NEW.client_id AND s.number IN (-1, NEW.number);
      RETURN NEW; END $$`)
    await query("CREATE TRIGGER be_slow BEFORE INSERT ON statement_pieces FOR EACH ROW EXECUTE FUNCTION be_slow()")
  })
  afterAll(async () => void (await query("DROP FUNCTION be_slow CASCADE")))

  it.runIf(isDeep)(
    "STS-21: a build of more than 20 s is not ended: its caller retries, also under the same key, and receives it",
    async () => {
      const clientId = await client()
      const from = await now()
      await money(clientId, "slow", "5")
      const body = { kind: "ACCOUNT", from, to: from + 86_400_000 }
      await slow(clientId, 7.5)
      const headers = { "idempotency-key": "a-slow-statement" }
      const first = await call("POST", clientId, "/statements", body, headers)
      assert.deepStrictEqual([first.status, first.json.code, first.headers["retry-after"]], [503, 5030, "1"])
      const again = await call("POST", clientId, "/statements", body, headers)
      assert.strictEqual(again.status, 200, again.text)
      await quick(clientId)
      assert.deepStrictEqual((await call("POST", clientId, "/statements", body, headers)).json, again.json)
      const list = await get(service, key, `/clients/${clientId}/statements`)
      assert.deepStrictEqual(list.json.statements, [again.json])
    },
    90_000
  )

  it("a piece that is given up and arrives after its model's end leaves nothing", async () => {
    const clientId = await client()
    const from = await now()
    await money(clientId, "late-piece", "5")
    await slow(clientId, 10, 2)
    const body = { kind: "ACCOUNT", from, to: from + 86_400_000 }
    const failed = await call("POST", clientId, "/statements", body)
    assert.deepStrictEqual([failed.status, failed.headers["retry-after"]], [503, "1"])
    await quick(clientId)
    await query(`SELECT pg_advisory_xact_lock(${clientId})`)
    await vi.waitFor(async () => assert.strictEqual(await piecesOf(clientId), 0), { timeout: 5_000, interval: 100 })
    assert.strictEqual((await call("POST", clientId, "/statements", body)).status, 200)
  }, 60_000)
})

describe("a posting that is booked while its period is read", () => {
  it("STS-19: is in the statement or behind its cut-off; the same period gives the same afterwards", async () => {
    const clientId = await client()
    const from = await now()
    for (let n = 0; n < 5; n++) await money(clientId, `before-${n}`, "1")
    const asked = call("POST", clientId, "/statements", { kind: "ACCOUNT", from, to: from + 86_400_000 })
    await Promise.all(Array.from({ length: 10 }, (_, n) => money(clientId, `while-${n}`, "1")))
    const row = (await asked).json
    const { model } = (await get(service, key, `/clients/${clientId}/statements/${row.statementId}`)).json
    const [section] = model.sections
    assert.isAtLeast(section.rows.length, 5)
    assert.strictEqual(section.closing.cash, `${section.rows.length}.000000`)
    assert.isTrue(section.rows.every(({ ts }: { readonly ts: number }) => ts < row.periodTo))
    const same = await call("POST", clientId, "/statements", { kind: "ACCOUNT", from, to: row.periodTo })
    assert.deepStrictEqual(same.json, row)
    const rest = await call("POST", clientId, "/statements", {
      kind: "ACCOUNT",
      from: row.periodTo,
      to: from + 86_400_000
    })
    const behind = (await get(service, key, `/clients/${clientId}/statements/${rest.json.statementId}`)).json.model
      .sections[0]
    assert.strictEqual(behind.opening.cash, section.closing.cash)
    assert.strictEqual(behind.closing.cash, "15.000000")
  })
})

describe("a sweep of pieces that no statement names", () => {
  it("deletes any number in steps, with leftovers, and leaves the rest", async () => {
    const clientId = await client()
    const from = await now()
    await money(clientId, "swept", "5")
    const body = { kind: "ACCOUNT", from: from - 1000, to: (await now()) + 1 }
    const made = await call("POST", clientId, "/statements", body)
    // Rows of one moment, as an end-of-day run stores them, for more than one page.
    await query(
      `INSERT INTO statement_models SELECT 9000000 + n, 1, ${clientId}, 'none ' || n, 1, 1, '{}', 5 FROM generate_series(1, 2500) n`
    )
    await query(
      `INSERT INTO statement_pieces SELECT 9000000 + n, 0, 1, ${clientId}, -1, '', 5 FROM generate_series(1, 3500) n`
    )
    await query("UPDATE statement_models SET stored_at = 5")
    await query("UPDATE statement_pieces SET stored_at = 5")
    const sweep = () => service.run(Effect.flatMap(StatementModels, (models) => models.sweep(6)))
    assert.strictEqual(await sweep(), 3_500)
    assert.strictEqual(
      await piecesOf(clientId),
      await countOf(
        `SELECT count(*)::int AS count FROM statement_pieces p JOIN statements s USING (model_id) WHERE s.id = ${made.json.statementId}`
      )
    )
    const read = await get(service, key, `/clients/${clientId}/statements/${made.json.statementId}`)
    assert.strictEqual(read.status, 200, read.text)
    assert.strictEqual(await sweep(), 0)
  })
})
