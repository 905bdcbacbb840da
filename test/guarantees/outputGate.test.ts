/**
 * No result is visible before it is durable: while PostgreSQL delays a commit, no answer is sent, and no read, list,
 * event or live view shows its writes; a failed commit leaves no trace (architecture, output gate; both or neither, doc
 * 3: "in the same transaction").
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { collateral, get, onboard, partners, person, query, rowCounts, rowsOf } from "../support/Builders.ts"
import { type Answer, operator } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, key, client, report } = await openScenario()
const [clientId, other] = [await client(), await client()]
for (const id of [clientId, other]) await report(id, { amount: "100" })

describe("output gate", () => {
  /** Delays every write to a table while `during` runs; `waiting` completes once the journal waits for the lock. */
  const holding = async <A>(table: string, during: (waiting: () => Promise<void>) => Promise<A>): Promise<A> => {
    const opened = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const lock = service.run(
      Effect.flatMap(PgClient.PgClient, (sql) =>
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql.unsafe(`LOCK TABLE ${table} IN EXCLUSIVE MODE`)
            opened.resolve()
            yield* Effect.promise(() => release.promise)
          })
        )
      )
    )
    await opened.promise
    try {
      return await during(() =>
        vi.waitFor(
          async () =>
            assert.isNotEmpty(
              await query(service, "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = $1::regclass", [table])
            ),
          { timeout: 15_000, interval: 5 }
        )
      )
    } finally {
      release.resolve()
      await lock
    }
  }
  /** A promise, with a flag that shows whether it has settled. */
  const watched = <A>(promise: Promise<A>) => {
    const state = { ended: false, promise }
    void promise.then(() => (state.ended = true))
    return state
  }
  const seen = async () => {
    const paths = ["balances", "ledger", "collateral", "verification", ""].map((tail) => `/clients/${clientId}/${tail}`)
    const answers = await Promise.all(
      [...paths.map((path) => path.replace(/\/$/, "")), "/clients", "/collateral"].map((path) =>
        get(service, key, path)
      )
    )
    return answers.map(({ status, text }) => [status, text])
  }

  it("a report is neither answered nor visible until its commit is durable, then at once", async () => {
    const [shown, rows] = [await seen(), await rowCounts(service)]
    const answer = await holding("postings", async (waiting) => {
      const first = watched(
        collateral(service, key, clientId, { partnerRef: "held", direction: "DEPOSIT", amount: "5" })
      )
      await waiting()
      assert.deepStrictEqual(await seen(), shown)
      assert.deepStrictEqual(await rowCounts(service), rows)
      assert.isFalse(first.ended)
      return first
    })
    assert.strictEqual((await answer.promise).status, 201)
    assert.strictEqual((await get(service, key, `/clients/${clientId}`)).json.data.cashUsdc, "105.000000")
  })

  it("the next turn of a client waits for its previous one; no money is spent twice", async () => {
    const withdraw = (n: number) =>
      collateral(service, key, other, { partnerRef: `spend-${n}`, direction: "WITHDRAWAL", amount: "100" })
    const answers = await holding("postings", async (waiting) => {
      const both = [watched(withdraw(1)), watched(withdraw(2))]
      await waiting()
      await seen()
      assert.deepStrictEqual(
        both.map(({ ended }) => ended),
        [false, false]
      )
      return both
    })
    const statuses = (await Promise.all(answers.map(({ promise }) => promise))).map(({ status }) => status)
    assert.deepStrictEqual(statuses.sort(), [201, 409])
  })

  it("a client is not visible before its commit, not even for a retry with its key", async () => {
    const body = person(1, "gate")
    const send = () => onboard(service, key, body, { "idempotency-key": "gate-1" })
    const answers = await holding("claims", async (waiting) => {
      const both = [watched(send()), watched(send())]
      await waiting()
      assert.strictEqual((await get(service, key, "/clients/by-ref/gate-1")).status, 404)
      assert.strictEqual((await get(service, key, "/clients?q=gate-1")).json.data.clients.length, 0)
      assert.deepStrictEqual(
        both.map(({ ended }) => ended),
        [false, false]
      )
      return both
    })
    const [first, second] = await Promise.all(answers.map(({ promise }) => promise))
    assert.deepStrictEqual([first?.status, second?.status, second?.text], [201, 201, first?.text])
    assert.strictEqual((await get(service, key, "/clients/by-ref/gate-1")).status, 200)
  })

  it("a suspension applies from its commit on, not before", async () => {
    const own = await service.partner()
    await holding("partners", async (waiting) => {
      const suspending = watched(
        partners(service, (commands) => commands.status(operator, own.code, "SUSPENDED", "test"))
      )
      await waiting()
      assert.strictEqual((await get(service, own.key, "/me")).status, 200)
      assert.isFalse(suspending.ended)
      return suspending
    }).then(({ promise }) => promise)
    assert.strictEqual((await get(service, own.key, "/me")).status, 403)
  })

  describe("a commit the database refuses", () => {
    const told = (answers: ReadonlyArray<Answer>) => answers.map(({ status }) => status)

    it("is a defect for its caller alone, leaves no row, and releases its key and reference", async () => {
      await query(
        service,
        "ALTER TABLE collateral_reports ADD CONSTRAINT poison CHECK (context ->> 'partnerRef' <> 'poison') NOT VALID"
      )
      const send = (partnerRef: string) =>
        collateral(
          service,
          key,
          clientId,
          { partnerRef, direction: "DEPOSIT", amount: "1" },
          { "idempotency-key": partnerRef }
        )
      const before = (await get(service, key, `/clients/${clientId}`)).json.data.cashUsdc
      const logged = vi.spyOn(console, "log").mockImplementation(() => undefined)
      const refs = Array.from({ length: 20 }, (_, n) => (n === 10 ? "poison" : `beside-${n}`))
      const answers = await Promise.all(refs.map(send))
      logged.mockRestore()
      assert.deepStrictEqual(
        told(answers),
        refs.map((ref) => (ref === "poison" ? 500 : 201))
      )
      const { json } = answers[10] as Answer
      assert.deepStrictEqual([json.code, Object.keys(json.data)], [5000, ["id"]])
      const after = (await get(service, key, `/clients/${clientId}`)).json.data.cashUsdc
      assert.strictEqual(Number(after) - Number(before), 19)
      assert.lengthOf(await rowsOf(service, "answers", "key = 'poison'"), 0)
      await query(service, "ALTER TABLE collateral_reports DROP CONSTRAINT poison")
      const again = await send("poison")
      assert.deepStrictEqual([again.status, again.headers["idempotency-replayed"]], [201, undefined])
    })
  })
})
