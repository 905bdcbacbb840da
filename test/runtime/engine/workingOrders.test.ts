/** The database's view of working orders (decision 18): the orders that work, and steps of them that touch no index. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { orderMachine } from "../../../src/machines/order/orderMachine.ts"
import { catalogue } from "../../../src/runtime/tables/Catalogue.ts"
import { makeTestDatabase } from "../../support/TestDatabase.ts"
import { openPg } from "./pgBench.ts"

let bench: Awaited<ReturnType<typeof openPg>>
beforeAll(async () => {
  const database = await makeTestDatabase()
  bench = await openPg(database.url, database.drop)
})
afterAll(() => bench.close())

const insert = (ids: string, state: string) =>
  `INSERT INTO orders (id, partner_id, client_id, state, version, context, symbol, currency, amount, created_at)
   SELECT id, 1, 1, ${state}, '1', json_build_object('filledQty', '0', 'note', repeat('n', 600)), 'BTC-USDC-PERP', 'USDC', 0, 1
     FROM ${ids} AS given (id)`

describe("working orders in the database", () => {
  it("are the orders that a mailbox counts as working", async () => {
    const states = Object.keys(orderMachine.config.states ?? {})
    await bench.query(insert(`generate_series(1, ${states.length})`, `('{${states.join(",")}}'::text[])[given.id]`))
    const found = await bench.query("SELECT state FROM orders WHERE works")
    const held = states.filter((state) => catalogue.orders.residence?.only?.test({ state } as never))
    assert.sameMembers(
      found.map(({ state }) => state),
      held
    )
    await bench.query("DELETE FROM orders")
  })

  it("their steps change no index; their end does", async () => {
    await bench.query(insert("generate_series(1, 1)", "'SENT'"))
    const step = (state: string, hot: number) => `
      UPDATE orders SET state = '${state}', context = json_build_object('filledQty', '1', 'note', repeat('n', 600));
      ASSERT pg_stat_get_xact_tuples_hot_updated('orders'::regclass) = ${hot}, '${state}';`
    const steps = ["ACKED", "PARTIAL", "PENDING_CANCEL", "ACKED"].map((state, at) => step(state, at + 1))
    // One transaction, to which the read figures belong.
    await bench.query(`DO $$ BEGIN ${steps.join("")} ${step("FILLED", 4)} END $$`)
  })
})
